// Where the reader is, kept in the address: #request=..&seq=..&token=.. can be sent to a colleague.

/** The place the address names; fields that it leaves out are absent. */
export function here() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const whole = (name) => (/^\d{1,9}$/.test(fields.get(name) ?? "") ? Number(fields.get(name)) : undefined);
  return {
    request: fields.get("request") ?? undefined,
    lifetime: whole("life"),
    sequence: whole("seq"),
    token: whole("token"),
    from: whole("from"),
    to: whole("to"),
  };
}

/** The address of a place. */
export function address(place) {
  const fields = new URLSearchParams();
  fields.set("request", place.request);
  if (place.lifetime) fields.set("life", place.lifetime);
  fields.set("seq", place.sequence ?? 0);
  if (place.token !== undefined) fields.set("token", place.token);
  if (place.from !== undefined && place.to !== undefined) {
    fields.set("from", place.from);
    fields.set("to", place.to);
  }
  return "#" + fields;
}

/** The address of a sequence, and of a token of it. */
export function addressOf(sequence, token) {
  return address({ request: sequence.requestId, lifetime: sequence.lifetime, sequence: sequence.sequenceIndex, token });
}
