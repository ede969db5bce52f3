// Numbers and ids as people read them.

const counts = new Intl.NumberFormat("en-US");

/** A whole number with separators; a dash where absent. */
export function count(value) {
  return value === undefined || value === null ? "–" : counts.format(value);
}

/** Milliseconds of nanoseconds with as many decimals as the size makes sensible. */
export function ms(nanos, withUnit = true) {
  if (nanos === undefined || nanos === null) return "–";
  const size = Math.abs(nanos);
  const decimals = size >= 1e8 ? 0 : size >= 1e7 ? 1 : size >= 1e6 ? 2 : 3;
  return fixedMs(nanos, decimals) + (withUnit ? " ms" : "");
}

/** Milliseconds with fixed decimals and no unit. */
export function fixedMs(nanos, decimals) {
  return (nanos / 1e6).toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** Exact nanoseconds. */
export function ns(nanos) {
  return nanos === undefined || nanos === null ? "" : counts.format(nanos) + " ns";
}

/** An epoch stamp, given as a string of nanoseconds, in UTC to the millisecond. */
export function stamp(epochNanos) {
  if (epochNanos === undefined) return "undated";
  const text = new Date(Number(BigInt(epochNanos) / 1000000n)).toISOString();
  return text.replace("T", " ");
}

/** An id with every character spelled out that would be invisible or reorder the text around it. */
export function visible(text) {
  return String(text).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
    "\\u" + character.codePointAt(0).toString(16).padStart(4, "0"));
}

/** A visible id that keeps its two ends. */
export function shortId(id, length = 34) {
  const text = visible(id);
  if (text.length <= length) return text;
  const tail = Math.floor((length - 1) / 3);
  return text.slice(0, length - 1 - tail) + "…" + text.slice(-tail);
}

/** A sequence as people name it: the id, and what else is needed to tell it apart. */
export function sequenceName(sequence, id = visible(sequence.requestId)) {
  return id + (sequence.lifetime > 0 ? " · life " + sequence.lifetime : "")
    + (sequence.sequenceIndex > 0 ? " · seq " + sequence.sequenceIndex : "");
}
