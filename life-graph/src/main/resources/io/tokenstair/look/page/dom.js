// Builds elements. Text is only ever set as text, so that no id can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with properties, then children; a string child becomes text. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "text") element.textContent = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** A term and its description in a list of facts. */
export function fact(term, description, extraClass) {
  return make("div", {}, make("dt", { text: term }), make("dd", { text: description, class: extraClass }));
}

/** The shape that stands for a state, so that no state is told by colour alone. */
export function stateShape(state) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 14 16");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", state ?? "no token");
  const outline = {
    normal: "M4 2h6v12H4z",
    recompute: "M7 1l6.500 13h-13z",
    "kv-miss": "M7 1l6 7-6 7-6-7z",
    stalled: "M1.500 2.500h11v11h-11z",
    unknown: "M4 2.500h6v11H4z",
  }[state] ?? "M3 8h8";
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", outline);
  path.setAttribute("class", outline === "M3 8h8" ? "s-unknown" : "s-" + state);
  svg.append(path);
  return svg;
}

export function byId(id) {
  return document.getElementById(id);
}
