// Asks the server. Every answer is bounded by it.

export async function ask(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  const text = query.toString();
  const response = await fetch("/api/" + path + (text ? "?" + text : ""));
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? "the server answered " + response.status);
  return answer;
}

export function keyOf(sequence) {
  return { request: sequence.requestId, lifetime: sequence.lifetime, sequence: sequence.sequenceIndex };
}
