// The lists at the side: requests and findings.

import { ask } from "./api.js";
import { byId, make, stateShape } from "./dom.js";
import { count, ms, sequenceName, shortId, visible } from "./format.js";
import { addressOf, here } from "./place.js";

const PAGE = 100;
const SEARCH_DELAY_MILLIS = 150;

/** Fills the list of requests and keeps it in step with search and order. */
export class RequestList {
  constructor() {
    this.shown = 0;
    this.asked = 0;
    let timer;
    byId("search").addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.fill(), SEARCH_DELAY_MILLIS);
    });
    byId("sort").addEventListener("change", () => this.fill());
    byId("requests-more").addEventListener("click", () => this.add(this.asked));
  }

  /** Begins the list anew; gives the first sequences. */
  async fill() {
    this.asked += 1;
    this.shown = 0;
    return this.add(this.asked, true);
  }

  async add(turn, anew = false) {
    const page = await ask("requests", {
      q: byId("search").value,
      sort: byId("sort").value,
      limit: PAGE,
      offset: this.shown,
    });
    // A slower answer to an older question must not replace a newer one.
    if (turn !== this.asked) return page.sequences;
    const rows = page.sequences.map(row);
    if (anew) byId("requests").replaceChildren(...rows);
    else byId("requests").append(...rows);
    this.shown += page.sequences.length;
    byId("requests-more").hidden = this.shown >= page.total;
    byId("requests-count").textContent =
      page.total === 0 ? "no request carries that id" : count(page.total) + (page.total === 1 ? " sequence" : " sequences");
    markCurrent();
    return page.sequences;
  }
}

function row(sequence) {
  const id = shortId(sequence.requestId, 30);
  const lost = sequence.lostNanos > 0 ? ms(sequence.lostNanos) + " lost" : count(sequence.tokenCount) + " tokens";
  return make("li", {},
    make("a", {
      href: addressOf(sequence, sequence.worstTokenIndex),
      title: sequenceName(sequence),
      data: { request: sequence.requestId, lifetime: sequence.lifetime, sequence: sequence.sequenceIndex },
    },
      make("div", { class: "row" },
        stateShape(sequence.worstState),
        make("span", { class: "name", text: sequenceName(sequence, id) }),
        make("span", { class: "end", text: lost })),
      make("div", { class: "under" },
        make("span", { class: "cause", text: story(sequence) }),
        sequence.slowTokens > 0 && make("span", { text: count(sequence.slowTokens) + " slow" }))));
}

function story(sequence) {
  if (sequence.errorType) return "error: " + visible(sequence.errorType);
  if (sequence.warmup) return "warm-up, not analysed";
  if (sequence.worstCause) return visible(sequence.worstCause);
  if (sequence.requestCauses.length > 0) return visible(sequence.requestCauses.join(", "));
  if (sequence.lateTokens > 0) return count(sequence.lateTokens) + " delivered late";
  if (sequence.missingLayers.length > 0) return "missing " + visible(sequence.missingLayers.join(", "));
  return "on time";
}

/** Marks the entry of the sequence that is shown. */
export function markCurrent() {
  const place = here();
  for (const link of document.querySelectorAll("#requests a")) {
    const current = link.dataset.request === place.request
      && Number(link.dataset.sequence) === (place.sequence ?? 0)
      && Number(link.dataset.lifetime) === (place.lifetime ?? 0);
    if (current) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

/** Fills the list of findings. */
export class FindingList {
  constructor() {
    this.shown = 0;
    byId("findings-more").addEventListener("click", () => this.add());
  }

  async add() {
    const { findings } = await ask("findings", { limit: PAGE, offset: this.shown });
    this.shown += findings.length;
    byId("findings").append(...findings.map(findingRow));
    byId("findings-more").hidden = findings.length < PAGE;
    if (this.shown === 0) byId("findings").append(make("li", {}, make("p", { class: "plain quiet", text: "No finding." })));
  }
}

function findingRow(finding) {
  const key = finding.key;
  const subject = key.requestId !== undefined
    ? shortId(key.requestId, 22) + (key.sequenceIndex > 0 ? " · seq " + key.sequenceIndex : "")
    : key.engineId !== undefined ? shortId(key.engineId, 22) : "whole input";
  const content = [
    make("div", { class: "row" },
      make("span", { class: "severity " + finding.severity, text: finding.severity }),
      make("span", { class: "name", text: visible(finding.cause) })),
    make("div", { class: "row" },
      make("span", { class: "name quiet", text: subject }),
      make("span", { class: "end", text: tokens(finding) })),
    make("p", { class: "finding-text", text: visible(finding.narrative) }),
  ];
  return make("li", {}, key.requestId === undefined
    ? make("div", { class: "plain" }, ...content)
    : make("a", { href: addressOf(key, finding.firstTokenIndex) }, ...content));
}

function tokens(finding) {
  if (finding.firstTokenIndex === undefined) return "";
  return finding.lastTokenIndex === undefined || finding.lastTokenIndex === finding.firstTokenIndex
    ? "token " + finding.firstTokenIndex
    : "tokens " + finding.firstTokenIndex + "–" + finding.lastTokenIndex;
}
