// Wires the page: lists at the side, one sequence with its strip, one token in full. The address says where the reader is.

import { ask, keyOf } from "./api.js";
import { byId, fact, make } from "./dom.js";
import { count, ms, sequenceName, stamp, visible } from "./format.js";
import { address, here } from "./place.js";
import { FindingList, RequestList, markCurrent } from "./requests.js";
import { Strip } from "./strip.js";
import { showToken } from "./token.js";

const FEWEST_TOKENS = 12;
const MOST_PLACES = 8000;

const requests = new RequestList();
const findings = new FindingList();
const strip = new Strip(byId("strip"), { onPick: (index) => go({ token: index }), onHover: hover });

let sequence;
let place = {};
let turn = 0;
let detailTimer;

async function start() {
  bindKeys();
  bindTabs();
  try {
    showArchive(await ask("archive"));
    const [first] = await requests.fill();
    findings.add();
    if (here().request === undefined && first) {
      history.replaceState(null, "", address({
        request: first.requestId,
        lifetime: first.lifetime,
        sequence: first.sequenceIndex,
        token: first.worstTokenIndex,
      }));
    }
    if (here().request === undefined) say("This archive has no request.");
    else await arrive();
  } catch (failure) {
    say("Cannot show the archive: " + failure.message);
  }
  document.documentElement.dataset.ready = "true";
}

function showArchive(archive) {
  document.title = archive.name + " – Tokenstair";
  byId("archive-name").textContent = visible(archive.name);
  const facts = [
    fact("requests", count(archive.requests)),
    fact("tokens", count(archive.tokens)),
    fact("slow", count(archive.slowTokens)),
  ];
  if (archive.critical > 0) facts.push(fact("critical", count(archive.critical), "critical"));
  if (archive.warning > 0) facts.push(fact("warnings", count(archive.warning), "warning"));
  if (archive.missingLayers.length > 0) {
    facts.push(fact("missing", visible([...new Set(archive.missingLayers.map((report) => report.layer))].join(", "))));
  }
  byId("archive-facts").replaceChildren(...facts);
}

/** Goes to another place of the present sequence, and keeps the address in step. */
function go(change) {
  if (!sequence) return;
  const token = Math.max(0, Math.min(sequence.tokenCount - 1, change.token ?? place.token ?? 0));
  let from = change.from ?? place.from ?? 0;
  let to = change.to ?? place.to ?? sequence.tokenCount;
  if (token < from || token >= to) {
    // The window follows the token.
    const span = to - from;
    from = Math.max(0, Math.min(sequence.tokenCount - span, token - Math.floor(span / 2)));
    to = from + span;
  }
  const all = from === 0 && to >= sequence.tokenCount;
  history.replaceState(null, "", address({
    ...keyOf(sequence),
    token,
    from: all ? undefined : from,
    to: all ? undefined : to,
  }));
  return arrive();
}

/** Shows what the address names. */
async function arrive() {
  const mine = ++turn;
  const wanted = here();
  if (wanted.request === undefined) return;
  const same = sequence && wanted.request === sequence.requestId
    && (wanted.sequence ?? sequence.sequenceIndex) === sequence.sequenceIndex
    && (wanted.lifetime ?? sequence.lifetime) === sequence.lifetime;
  if (!same) {
    let found;
    try {
      found = await ask("sequence", { request: wanted.request, sequence: wanted.sequence, lifetime: wanted.lifetime });
    } catch (failure) {
      if (mine === turn) leave(failure.message);
      return;
    }
    if (mine !== turn) return;
    // A sequence whose tokens nobody counted has no strip to show.
    sequence = { ...found, tokenCount: found.tokenCount ?? 0, counted: found.tokenCount != null };
    strip.setPlaces(await ask("strip", { ...keyOf(sequence), places: MOST_PLACES }));
    if (mine !== turn) return;
    strip.whole = strip.places;
    showSequence();
  }
  const last = Math.max(0, sequence.tokenCount - 1);
  const from = Math.min(wanted.from ?? 0, last);
  place = {
    token: Math.min(wanted.token ?? worstToken(), last),
    from,
    to: Math.max(from + 1, Math.min(wanted.to ?? sequence.tokenCount, sequence.tokenCount)),
  };
  if (sequence.tokenCount > MOST_PLACES) await refine(mine);
  if (mine !== turn) return;
  showPlace();
  await showDetail(mine, same);
}

/** A sequence longer than an answer holds: the window is asked for by itself. */
async function refine(mine) {
  const narrow = place.to - place.from < sequence.tokenCount;
  if (!narrow) {
    strip.places = strip.whole;
    return;
  }
  const answer = await ask("strip", { ...keyOf(sequence), from: place.from, to: place.to, places: MOST_PLACES });
  if (mine === turn) strip.setPlaces(answer);
}

function leave(reason) {
  sequence = undefined;
  byId("sequence").hidden = true;
  say(reason);
  markCurrent();
}

function say(text) {
  byId("message").textContent = visible(text);
  byId("message").hidden = false;
}

function worstToken() {
  let worst;
  for (const candidate of strip.places) {
    if (candidate.cause && (!worst || (candidate.gapNanos ?? 0) > (worst.gapNanos ?? 0))) worst = candidate;
  }
  return worst?.index ?? 0;
}

function showSequence() {
  byId("message").hidden = true;
  byId("sequence").hidden = false;
  byId("sequence-name").textContent = sequenceName(sequence);
  const origin = [];
  if (sequence.aliases.length > 0) origin.push("also " + visible(sequence.aliases.join(", ")));
  if (sequence.engines.length > 0) origin.push("on " + visible(sequence.engines.join(", ")));
  origin.push(stamp(sequence.fromEpochNanos));
  byId("sequence-origin").textContent = origin.join("  ·  ");
  const facts = [fact("ended", visible(sequence.endReason) + (sequence.state === "complete" ? "" : ", record: " + visible(sequence.state)))];
  if (sequence.errorType) facts.push(fact("error", visible(sequence.errorType)));
  facts.push(fact("tokens", sequence.counted ? count(sequence.tokenCount) : "not counted"));
  if (sequence.promptTokens !== undefined) {
    facts.push(fact("prompt", count(sequence.promptTokens)
      + (sequence.cachedTokens === undefined ? "" : ", " + count(sequence.cachedTokens) + " cached")));
  }
  facts.push(fact("TTFT", ms(sequence.ttftNanos)), fact("TPOT", ms(sequence.tpotNanos)));
  if (sequence.preemptions > 0) facts.push(fact("preemptions", count(sequence.preemptions)));
  if (sequence.requestCauses.length > 0) facts.push(fact("causes", visible(sequence.requestCauses.join(", "))));
  if (sequence.missingLayers.length > 0) facts.push(fact("missing", visible(sequence.missingLayers.join(", "))));
  byId("sequence-facts").replaceChildren(...facts);
  const slider = byId("strip-slider");
  slider.max = Math.max(0, sequence.tokenCount - 1);
  slider.disabled = sequence.tokenCount === 0;
  byId("strip").closest("figure").hidden = sequence.tokenCount === 0;
  byId("main").scrollTop = 0;
  markCurrent();
}

function showPlace() {
  strip.setWindow(place.from, place.to);
  strip.selected = place.token;
  strip.draw();
  const slow = strip.places.filter((candidate) => candidate.cause).length;
  byId("strip").setAttribute("aria-label", "Token strip: tokens " + place.from + " to " + (place.to - 1) + " of "
    + sequence.tokenCount + ", " + slow + " slow. The slider under it moves through the tokens.");
  const slider = byId("strip-slider");
  slider.value = place.token;
  slider.setAttribute("aria-valuetext", describe(strip.placeOf(place.token), place.token));
  byId("zoom-in").disabled = place.to - place.from <= FEWEST_TOKENS;
  byId("zoom-out").disabled = place.from === 0 && place.to === sequence.tokenCount;
  byId("zoom-all").disabled = byId("zoom-out").disabled;
  byId("slow-before").disabled = !strip.slowBeyond(place.token, -1);
  byId("slow-after").disabled = !strip.slowBeyond(place.token, 1);
  hover(undefined);
}

function describe(spot, index) {
  if (!spot) return "token " + index;
  return "token " + count(index) + ", gap " + ms(spot.gapNanos) + ", " + spot.state + (spot.cause ? ", " + spot.cause : "");
}

function hover(bar) {
  const spot = bar ?? strip.placeOf(place.token);
  const readout = byId("readout");
  if (!spot) {
    readout.replaceChildren();
    return;
  }
  readout.replaceChildren(
    make("b", { text: "token " + count(spot.index) }),
    (bar && bar.tokens > 1 ? " (worst of " + count(bar.tokens) + ")" : "") + "  gap ",
    make("b", { text: ms(spot.gapNanos) }),
    "  expected " + ms(spot.expectedNanos) + (spot.cause ? "  " + visible(spot.cause) : ""));
}

async function showDetail(mine, same) {
  const section = byId("token");
  if (sequence.tokenCount === 0) {
    section.replaceChildren(make("p", {
      class: "quiet",
      text: sequence.warmup
        ? "A warm-up: it is not analysed."
        : sequence.counted ? "It ended without an output token." : "Nobody said how many tokens it had.",
    }));
    return;
  }
  // While the slider moves, only the token it rests on is asked for.
  clearTimeout(detailTimer);
  if (same) await new Promise((resolve) => { detailTimer = setTimeout(resolve, 40); });
  if (mine !== turn) return;
  try {
    const token = await ask("token", { ...keyOf(sequence), token: place.token });
    if (mine !== turn) return;
    showToken(section, token, sequence.tokenCount);
    section.dataset.token = token.index;
  } catch (failure) {
    if (mine === turn) section.replaceChildren(make("p", { class: "quiet", text: visible(failure.message) }));
  }
}

function zoom(factor) {
  if (!sequence) return;
  const span = Math.round((place.to - place.from) * factor);
  const tokens = Math.max(Math.min(FEWEST_TOKENS, sequence.tokenCount), Math.min(sequence.tokenCount, span));
  // The chosen token keeps its place on the screen.
  const share = (place.token - place.from) / Math.max(1, place.to - place.from);
  const from = Math.max(0, Math.min(sequence.tokenCount - tokens, Math.round(place.token - share * tokens)));
  go({ from, to: from + tokens });
}

function slow(direction) {
  const next = strip.slowBeyond(place.token ?? 0, direction);
  if (next) go({ token: next.index });
}

function toggleScale() {
  strip.logarithmic = !strip.logarithmic;
  byId("scale").setAttribute("aria-pressed", String(strip.logarithmic));
  strip.draw();
}

function bindKeys() {
  byId("strip-slider").addEventListener("input", (event) => go({ token: Number(event.target.value) }));
  byId("slow-before").addEventListener("click", () => slow(-1));
  byId("slow-after").addEventListener("click", () => slow(1));
  byId("zoom-in").addEventListener("click", () => zoom(0.5));
  byId("zoom-out").addEventListener("click", () => zoom(2));
  byId("zoom-all").addEventListener("click", () => go({ from: 0, to: sequence.tokenCount }));
  byId("scale").addEventListener("click", toggleScale);
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("strip-slider").focus();
  });
  byId("strip").addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8);
  }, { passive: false });
  const keys = {
    ArrowLeft: (event) => go({ token: place.token - (event.shiftKey ? 10 : 1) }),
    ArrowRight: (event) => go({ token: place.token + (event.shiftKey ? 10 : 1) }),
    Home: () => go({ token: 0 }),
    End: () => go({ token: sequence.tokenCount - 1 }),
    n: () => slow(1),
    p: () => slow(-1),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    0: () => go({ from: 0, to: sequence.tokenCount }),
    l: toggleScale,
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input[type=search], select, [role=tab]");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !sequence || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key](event);
  });
  window.addEventListener("hashchange", () => arrive().catch((failure) => say(failure.message)));
}

function bindTabs() {
  const tabs = [byId("tab-requests"), byId("tab-findings")];
  const choose = (chosen) => {
    for (const tab of tabs) {
      const on = tab === chosen;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      byId(tab.getAttribute("aria-controls")).hidden = !on;
    }
  };
  for (const tab of tabs) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const other = tabs[1 - tabs.indexOf(tab)];
      choose(other);
      other.focus();
    });
  }
}

start();
