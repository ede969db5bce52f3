// The token strip: every token of a sequence by index. Height is the gap, colour and shape the state, the line over it the
// expected time. Where there are more tokens than columns, the worst state of a column's tokens wins.

const RANK = { normal: 0, unknown: 1, stalled: 2, "kv-miss": 3, recompute: 4 };
const LEFT = 52;
const RIGHT = 8;
const TOP = 16;
const BOTTOM = 36;
const WIDEST_BAR = 26;
const WIDEST_STEP = 60;
const NARROWEST_BAR = 2;
const CAP = 4;

export class Strip {
  constructor(canvas, { onPick, onHover }) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.places = [];
    this.from = 0;
    this.to = 0;
    this.selected = undefined;
    this.logarithmic = true;
    this.bars = [];
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    canvas.addEventListener("click", (event) => {
      const bar = this.barAt(event);
      if (bar) onPick(bar.index);
    });
    canvas.addEventListener("mousemove", (event) => onHover(this.barAt(event)));
    canvas.addEventListener("mouseleave", () => onHover(undefined));
  }

  /** Takes the columns of the server's answer. */
  setPlaces(answer) {
    this.places = answer.index.map((index, at) => ({
      index,
      tokens: answer.tokens[at],
      gapNanos: answer.gapNanos[at],
      expectedNanos: answer.expectedNanos[at],
      referenceNanos: answer.referenceNanos[at],
      state: answer.state[at],
      cause: answer.cause[at],
      confidence: answer.confidence[at],
      layerMissing: answer.layerMissing[at] === 1,
      deliveredLate: answer.deliveredLate[at] === 1,
    }));
  }

  setWindow(from, to) {
    this.from = from;
    this.to = to;
  }

  /** Columns the plot has room for. */
  room() {
    return Math.max(1, Math.floor((this.canvas.clientWidth - LEFT - RIGHT) / NARROWEST_BAR));
  }

  placeOf(index) {
    return this.places.find((place) => place.index === index);
  }

  /** The nearest place with a cause beyond an index, in a direction. */
  slowBeyond(index, direction) {
    const slow = this.places.filter((place) => place.cause && (place.index - index) * direction > 0);
    return direction > 0 ? slow[0] : slow[slow.length - 1];
  }

  barAt(event) {
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    let nearest;
    for (const bar of this.bars) {
      if (x >= bar.x - bar.space / 2 && x < bar.x + bar.width + bar.space / 2) nearest = bar;
    }
    return nearest;
  }

  draw() {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    if (width === 0 || height === 0) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const pen = this.pen;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.colours = readColours();
    this.base = height - BOTTOM;
    this.right = width - RIGHT;
    this.bars = this.layOut();
    this.scale = this.heightScale();
    this.drawGrid();
    this.drawSelection();
    for (const bar of this.bars) this.drawBar(bar);
    this.drawLine("referenceNanos", this.colours.reference, 1.2, [3, 3]);
    this.drawLine("expectedNanos", this.colours.expected, 1.6, []);
    for (const bar of this.bars) this.drawCap(bar);
    this.drawIndexes();
  }

  /** One bar per token, or one per column of neighbours. */
  layOut() {
    const tokens = Math.max(1, this.to - this.from);
    const room = this.right - LEFT;
    const perBar = Math.max(1, Math.ceil((tokens * NARROWEST_BAR) / room));
    const step = Math.min(WIDEST_STEP, room / Math.ceil(tokens / perBar));
    const width = Math.min(WIDEST_BAR, step - (step >= 12 ? 4 : step >= 6 ? 2 : step >= 3.5 ? 1 : 0));
    const space = step - width;
    this.step = step;
    this.perBar = perBar;
    const bars = [];
    for (const place of this.places) {
      if (place.index < this.from || place.index >= this.to) continue;
      const column = Math.floor((place.index - this.from) / perBar);
      const last = bars[bars.length - 1];
      if (last && last.column === column) {
        const worse = RANK[place.state] > RANK[last.state]
          || (place.state === last.state && (place.gapNanos ?? -1) > (last.gapNanos ?? -1));
        const gapNanos = Math.max(place.gapNanos ?? -1, last.gapNanos ?? -1);
        const merged = {
          gapNanos: gapNanos < 0 ? null : gapNanos,
          layerMissing: last.layerMissing || place.layerMissing,
          deliveredLate: last.deliveredLate || place.deliveredLate,
          tokens: last.tokens + place.tokens,
        };
        Object.assign(last, worse ? place : {}, merged);
      } else {
        bars.push({ ...place, column, x: LEFT + column * step + space / 2, width, space });
      }
    }
    return bars;
  }

  heightScale() {
    const values = [];
    for (const bar of this.bars) {
      for (const value of [bar.gapNanos, bar.expectedNanos, bar.referenceNanos]) {
        if (value > 0) values.push(value);
      }
    }
    const largest = values.length ? Math.max(...values) : 1e6;
    const smallest = values.length ? Math.min(...values) : 1e5;
    const room = this.base - TOP;
    if (!this.logarithmic) {
      const top = largest * 1.08;
      return { y: (value) => this.base - (Math.max(0, value) / top) * room, ticks: linearTicks(top) };
    }
    // At least a decade and a half, so that noise around one level stays small.
    const low = Math.log10(Math.min(smallest * 0.3, largest / 30));
    const high = Math.log10(largest * 1.6);
    return {
      y: (value) => this.base - (Math.max(0, Math.log10(Math.max(value, 1)) - low) / (high - low)) * room,
      ticks: decadeTicks(10 ** low, 10 ** high),
    };
  }

  drawGrid() {
    const pen = this.pen;
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    pen.lineWidth = 1;
    for (const tick of this.scale.ticks) {
      const y = Math.round(this.scale.y(tick)) + 0.5;
      pen.strokeStyle = this.colours.rule;
      line(pen, LEFT, y, this.right, y);
      pen.fillStyle = this.colours.faint;
      pen.fillText(tickText(tick), LEFT - 8, y);
    }
    pen.fillText("ms", LEFT - 8, 7);
    pen.strokeStyle = this.colours.faint;
    line(pen, LEFT, this.base + 0.5, this.right, this.base + 0.5);
  }

  drawSelection() {
    const bar = this.barOf(this.selected);
    if (!bar) return;
    const pen = this.pen;
    const middle = bar.x + bar.width / 2;
    const half = Math.max(bar.width / 2 + 2, 5);
    pen.fillStyle = this.colours.chosen;
    pen.fillRect(middle - half, TOP - 8, half * 2, this.base - TOP + 8);
    pen.fillStyle = this.colours.ink;
    pen.beginPath();
    pen.moveTo(middle, this.base + 10);
    pen.lineTo(middle - 5, this.base + 17);
    pen.lineTo(middle + 5, this.base + 17);
    pen.fill();
  }

  barOf(index) {
    if (index === undefined) return undefined;
    return this.bars.find((bar) => bar.column === Math.floor((index - this.from) / this.perBar));
  }

  drawBar(bar) {
    const pen = this.pen;
    const colour = this.colours[bar.state] ?? this.colours.unknown;
    if (bar.gapNanos === null || bar.gapNanos === undefined) {
      pen.strokeStyle = this.colours.unknown;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.arc(bar.x + bar.width / 2, this.base - 4, Math.min(2.5, Math.max(1, bar.width / 2)), 0, 2 * Math.PI);
      pen.stroke();
      return;
    }
    const top = Math.min(this.scale.y(bar.gapNanos), this.base - 1.5);
    const tall = this.base - top;
    const hollow = bar.layerMissing || bar.state === "unknown";
    const unsure = bar.cause && bar.confidence && bar.confidence !== "established";
    if (hollow && bar.width >= 3) {
      pen.strokeStyle = colour;
      pen.lineWidth = 1.2;
      pen.strokeRect(bar.x + 0.6, top + 0.6, bar.width - 1.2, tall - 0.6);
    } else if (unsure && bar.width >= 3) {
      pen.strokeStyle = colour;
      pen.lineWidth = 1;
      pen.strokeRect(bar.x + 0.5, top + 0.5, bar.width - 1, tall - 0.5);
      this.hatch(bar.x, top, bar.width, tall, colour);
    } else {
      pen.fillStyle = colour;
      pen.globalAlpha = hollow || unsure ? 0.5 : bar.state === "normal" ? 0.82 : 1;
      pen.fillRect(bar.x, top, Math.max(1, bar.width), tall);
      pen.globalAlpha = 1;
    }
  }

  hatch(x, y, width, height, colour) {
    const pen = this.pen;
    pen.save();
    pen.beginPath();
    pen.rect(x, y, width, height);
    pen.clip();
    pen.strokeStyle = colour;
    pen.lineWidth = 1.2;
    for (let start = y; start < y + height + width; start += 4) line(pen, x, start, x + width, start - width);
    pen.restore();
  }

  /** The shape of the state on top of its bar, and the mark of a late delivery under it. */
  drawCap(bar) {
    const pen = this.pen;
    const middle = bar.x + bar.width / 2;
    if (bar.deliveredLate) {
      pen.fillStyle = this.colours.late;
      const half = Math.min(3.5, Math.max(1, bar.width / 2));
      polygon(pen, [[middle - half, this.base + 3], [middle + half, this.base + 3], [middle, this.base + 8]]);
      pen.fill();
    }
    if (bar.state === "normal" || bar.state === "unknown" || bar.gapNanos === null) return;
    const y = Math.min(this.scale.y(bar.gapNanos), this.base - 1.5) - CAP - 2;
    const shape = {
      recompute: [[0, -1.3], [1.2, 1], [-1.2, 1]],
      "kv-miss": [[0, -1.3], [1.2, 0], [0, 1.3], [-1.2, 0]],
      stalled: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
    }[bar.state];
    polygon(pen, shape.map(([dx, dy]) => [middle + dx * CAP, y + dy * CAP]));
    pen.fillStyle = bar.confidence === "established" ? this.colours[bar.state] : this.colours.surface;
    pen.strokeStyle = this.colours[bar.state];
    pen.lineWidth = 1.4;
    pen.fill();
    pen.stroke();
  }

  /** A level per token, thinly joined from one to the next; broken where the value is unknown. */
  drawLine(field, colour, width, dash) {
    const pen = this.pen;
    const levels = new Path2D();
    const joints = new Path2D();
    let before;
    for (const bar of this.bars) {
      const value = bar[field];
      if (value === null || value === undefined || value <= 0) {
        before = undefined;
        continue;
      }
      const y = this.scale.y(value);
      const left = bar.x - bar.space / 2;
      const right = bar.x + bar.width + bar.space / 2;
      if (before === y) {
        levels.lineTo(right, y);
      } else {
        levels.moveTo(left, y);
        levels.lineTo(right, y);
        if (before !== undefined) {
          joints.moveTo(left, before);
          joints.lineTo(left, y);
        }
      }
      before = y;
    }
    pen.save();
    if (dash.length === 0) {
      // A margin in the colour of the surface keeps the line legible over the bars.
      pen.strokeStyle = this.colours.surface;
      pen.lineWidth = width + 1.6;
      pen.stroke(levels);
      pen.strokeStyle = colour;
      pen.globalAlpha = 0.45;
      pen.lineWidth = 0.8;
      pen.stroke(joints);
      pen.globalAlpha = 1;
    }
    pen.setLineDash(dash);
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.stroke(levels);
    pen.restore();
  }

  drawIndexes() {
    const pen = this.pen;
    const tokens = this.to - this.from;
    const labels = Math.max(2, Math.floor(Math.min(this.right - LEFT, (tokens / this.perBar) * this.step) / 90));
    const every = Math.max(1, niceStep(tokens / labels));
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = this.colours.faint;
    pen.textBaseline = "alphabetic";
    pen.textAlign = "center";
    for (let index = Math.ceil(this.from / every) * every; index < this.to; index += every) {
      const x = LEFT + (Math.floor((index - this.from) / this.perBar) + 0.5) * this.step;
      pen.fillText(index.toLocaleString("en-US"), x, this.base + 30);
    }
  }
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const colours = {};
  for (const name of ["normal", "recompute", "kv-miss", "stalled", "unknown", "expected", "reference", "late", "rule",
    "faint", "ink", "surface", "chosen"]) {
    colours[name] = style.getPropertyValue("--" + name).trim();
  }
  return colours;
}

function line(pen, x1, y1, x2, y2) {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

function polygon(pen, points) {
  pen.beginPath();
  points.forEach(([x, y], at) => (at === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y)));
  pen.closePath();
}

function niceStep(raw) {
  const decade = 10 ** Math.floor(Math.log10(Math.max(raw, 1e-9)));
  const lead = raw / decade;
  return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * decade;
}

function linearTicks(top) {
  const step = niceStep(top / 4);
  const ticks = [];
  for (let tick = step; tick < top; tick += step) ticks.push(tick);
  return ticks;
}

function decadeTicks(low, high) {
  const leads = high / low > 30000 ? [1] : high / low > 200 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let decade = 10 ** Math.floor(Math.log10(low)); decade <= high; decade *= 10) {
    for (const lead of leads) {
      if (decade * lead >= low && decade * lead <= high) ticks.push(decade * lead);
    }
  }
  return ticks;
}

function tickText(nanos) {
  return (nanos / 1e6).toLocaleString("en-US", { maximumSignificantDigits: 3 });
}
