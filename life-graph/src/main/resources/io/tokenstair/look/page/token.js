// One token in full: its gap as a waterfall that adds up, why, its step and who shared it, its delivery.

import { make, stateShape } from "./dom.js";
import { count, fixedMs, ms, ns, shortId, stamp, visible } from "./format.js";
import { address, addressOf } from "./place.js";

const WAITING = new Set(["queue-wait", "preempted-wait", "skipped-wait", "transfer-wait", "recompute-own"]);
const LOAD = new Set(["batch", "context", "prefill", "recompute-other", "graph"]);

const MOST_NEIGHBOURS = 24;

/** Shows a token in the section. */
export function showToken(section, token, tokenCount) {
  section.replaceChildren(head(token, tokenCount), numbers(token),
    make("div", { class: "token-columns" },
      make("div", {}, gapCard(token), deliveryCard(token)),
      make("div", {}, chainCard(token), stepCard(token))));
}

function head(token, tokenCount) {
  const confidence = token.confidence
    ? token.confidence.level + (token.confidence.why ? ": " + token.confidence.why : "")
    : undefined;
  return make("header", {},
    make("div", { class: "token-head" },
      stateShape(token.state),
      make("h3", { text: "Token " + count(token.index) + " of " + count(tokenCount) }),
      make("span", { class: "quiet", text: visible(token.state) }),
      token.cause && make("span", { class: "cause " + token.state, text: visible(token.cause) }),
      token.deliveryCause && make("span", { class: "cause late-cause", text: "delivered late: " + visible(token.deliveryCause) }),
      token.culpritRequestId !== undefined && make("span", {},
        make("span", { class: "quiet", text: "culprit " }),
        make("a", { class: "mono", href: culpritAddress(token), text: shortId(token.culpritRequestId) }))),
    confidence && make("p", { class: "token-why", text: visible(confidence) }));
}

/** The culprit at the token it made in the same step, where it made one. */
function culpritAddress(token) {
  const shared = token.madeByTheSameStep.find((neighbour) => neighbour.requestId === token.culpritRequestId);
  return shared ? addressOf(shared, shared.index) : address({ request: token.culpritRequestId });
}

function numbers(token) {
  const number = (term, nanos, note) => make("div", {},
    make("dt", { text: term }),
    make("dd", { data: { nanos: nanos ?? "" }, class: "number-" + term.replace(" ", "-") }, ms(nanos),
      make("small", { text: nanos === undefined ? note : ns(nanos) })));
  return make("dl", { class: "numbers" },
    number(token.gapBasis === "delivered" ? "gap by arrival" : "gap", token.gapNanos, "a stamp is missing"),
    number("expected", token.expectedNanos, "not known"),
    number("reference", token.referenceNanos, "not known"),
    number("excess", token.excessNanos, "not known"),
    token.deliveryNanos !== undefined && number("delivery", token.deliveryNanos));
}

function gapCard(token) {
  if (token.parts === undefined) {
    return card("Where the gap went", make("p", {
      class: "quiet",
      text: token.gapNanos === undefined
        ? "The gap is unknown: a stamp is missing."
        : "No engine record: the gap cannot be divided.",
    }), missing(token));
  }
  return card("Where the gap went", waterfall(token.parts, "gap", "gap-parts", kind), missing(token));
}

function missing(token) {
  return token.missingLayers.length > 0 && make("p", {
    class: "note",
    text: "Did not report: " + visible(token.missingLayers.join(", ")) + ". No cause is drawn from that silence.",
  });
}

function deliveryCard(token) {
  if (token.deliveryParts === undefined) return undefined;
  return card("From made to delivered" + (token.deliveryCause ? ": " + visible(token.deliveryCause) : ""),
    waterfall(token.deliveryParts, "delivery", "delivery-parts", () => "delivery"));
}

function waterfall(parts, totalName, id, kindOf) {
  let position = 0;
  let low = 0;
  let high = 0;
  for (const part of parts) {
    position += part.nanos;
    low = Math.min(low, position);
    high = Math.max(high, position);
  }
  const total = position;
  const span = Math.max(1, high - low);
  const decimals = Math.max(high, -low) >= 1e9 ? 1 : Math.max(high, -low) >= 1e7 ? 2 : 3;
  position = 0;
  const rows = [];
  for (const part of parts) {
    const start = position;
    position += part.nanos;
    rows.push(make("tr", { data: { part: part.part, nanos: part.nanos }, title: (part.evidence ?? []).join(", ") },
      make("th", { scope: "row", text: visible(part.part) }),
      make("td", { class: "ms", text: fixedMs(part.nanos, decimals) }),
      make("td", { class: "ns", text: ns(part.nanos) }),
      make("td", { class: "bar" }, part.nanos === 0 ? "" : lane(start, position, low, span, kindOf(part)))));
  }
  return make("table", { class: "waterfall", id },
    make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "part" }),
      make("th", { scope: "col", class: "number", text: "ms" }), make("th", { scope: "col", class: "number", text: "exact" }),
      make("th", { scope: "col" }, make("span", { text: "" })))),
    make("tbody", {}, ...rows),
    make("tfoot", {}, make("tr", { data: { nanos: total } },
      make("th", { scope: "row", text: totalName }),
      make("td", { class: "ms", text: fixedMs(total, decimals) }),
      make("td", { class: "ns", text: ns(total) }),
      make("td", { class: "bar" }, lane(0, total, low, span, "total")))));
}

function kind(part) {
  if (part.nanos < 0) return "negative";
  if (part.part === "reference") return "usual";
  if (part.part === "unexplained") return "open";
  if (WAITING.has(part.part)) return "waiting";
  return LOAD.has(part.part) ? "load" : "other";
}

function lane(start, end, low, span, kindName) {
  const bar = make("i", { class: kindName });
  bar.style.left = ((Math.min(start, end) - low) / span) * 100 + "%";
  bar.style.width = (Math.abs(end - start) / span) * 100 + "%";
  return make("div", { class: "lane", "aria-hidden": "true" }, bar);
}

function chainCard(token) {
  if (token.chain.length === 0) return undefined;
  return card("Why", make("ol", { class: "chain" }, ...token.chain.map((sentence) => make("li", {},
    visible(sentence.text),
    sentence.evidence.length > 0 && make("span", { class: "ids", text: visible(sentence.evidence.join(", ")) })))));
}

function stepCard(token) {
  const pairs = [];
  const pair = (term, description) => {
    if (description !== undefined && description !== null) {
      pairs.push(make("dt", { text: term }), make("dd", { text: description }));
    }
  };
  if (token.stepId !== undefined) pair("step", token.stepId + (token.engineId ? " of " + visible(token.engineId) : ""));
  if (token.producedEpochNanos !== undefined) {
    pair("made", stamp(token.producedEpochNanos) + (token.boundNanos === undefined ? "" : " ± " + ms(token.boundNanos)));
  }
  if (token.deliveredEpochNanos !== undefined) pair("delivered", stamp(token.deliveredEpochNanos));
  if (token.contextTokens !== undefined) pair("context", count(token.contextTokens) + " tokens");
  if (token.batchSequences !== undefined) pair("batch", count(token.batchSequences) + (token.batchSequences === 1 ? " sequence" : " sequences"));
  for (const step of token.steps) {
    const rank = token.steps.length > 1 ? " (rank " + step.dpRank + ")" : "";
    pair("step time" + rank, ms(step.stepNanos) + (step.expectedNanos === undefined ? "" : ", expected " + ms(step.expectedNanos)));
    if (step.prefillTokens > 0) pair("prefill" + rank, count(step.prefillTokens) + " tokens");
    if (step.recomputeTokens > 0) pair("recomputed" + rank, count(step.recomputeTokens) + " tokens");
    pair("resident" + rank, count(step.residentTokens) + " tokens");
    if (step.kvTotalBlocksCount) {
      pair("KV blocks" + rank, count(step.kvUsedBlocksCount) + " of " + count(step.kvTotalBlocksCount)
        + " (" + Math.round((100 * step.kvUsedBlocksCount) / step.kvTotalBlocksCount) + " %)");
    }
    if (step.waitingCount !== undefined) pair("waiting" + rank, count(step.waitingCount));
  }
  if (pairs.length === 0) return undefined;
  const standing = (neighbour) => (neighbour.requestId === token.culpritRequestId ? 0 : neighbour.state === "normal" ? 2 : 1);
  const neighbours = [...token.madeByTheSameStep].sort((one, other) => standing(one) - standing(other));
  const more = neighbours.length - MOST_NEIGHBOURS;
  return card(token.stepId === undefined ? "When" : "Its step", make("dl", { class: "pairs" }, ...pairs),
    neighbours.length > 0 && make("p", { class: "quiet neighbours-lead", text: "The same step also made a token of" }),
    neighbours.length > 0 && make("div", { class: "neighbours" }, ...neighbours.slice(0, MOST_NEIGHBOURS).map((neighbour) => make("a", {
      href: addressOf(neighbour, neighbour.index),
      class: neighbour.requestId === token.culpritRequestId ? "culprit" : undefined,
      title: visible(neighbour.requestId) + ", token " + neighbour.index,
    }, stateShape(neighbour.state), shortId(neighbour.requestId, 24)
      + (neighbour.sequenceIndex > 0 ? " · seq " + neighbour.sequenceIndex : "")))),
    more > 0 && make("p", { class: "quiet", text: "and " + count(more) + " more" }));
}

function card(title, ...content) {
  return make("section", { class: "card" }, make("h4", { text: title }), ...content);
}
