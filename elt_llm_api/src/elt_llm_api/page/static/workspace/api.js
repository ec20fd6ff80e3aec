// The HTTP API. A reply that is no success becomes a Problem with the server's own words.

export class Problem extends Error {
  constructor(body, status) {
    super([body.detail || body.title, body.hint].filter(Boolean).join("; "));
    this.body = body;
    this.status = status;
  }
}

const NO_SERVER = { detail: "the server does not answer", hint: "start it with elt-llm serve" };

export const send = async (path, { method = "GET", body, headers = {}, signal } = {}) => {
  const isForm = body instanceof FormData;
  const sent = body === undefined || isForm ? body : JSON.stringify(body);
  const kind = sent === undefined || isForm ? {} : { "content-type": "application/json" };
  let reply;
  try {
    reply = await fetch(path, { method, body: sent, signal, headers: { ...kind, ...headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(NO_SERVER, 0);
  }
  if (reply.ok) return reply;
  const text = await reply.text();
  let problem;
  try { problem = JSON.parse(text); } catch { problem = { detail: `the server answered ${reply.status}` }; }
  throw new Problem(problem, reply.status);
};

export const read = async (path, options) => {
  const reply = await send(path, options);
  return reply.status === 204 ? null : reply.json();
};

export const query = (values) => {
  const pairs = Object.entries(values).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).filter((one) => one !== undefined && one !== "").map((one) => [key, one]));
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
};

export const one = (text) => encodeURIComponent(text);

// Server-sent events of a POST, which EventSource cannot send. Yields {event, id, data}.
export async function* stream(path, options) {
  const reply = await send(path, options);
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value.replaceAll("\r\n", "\n");
    const parts = rest.split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const event = parse(part);
      if (event) yield event;
    }
  }
}

const parse = (part) => {
  const event = { event: "message", id: "", data: "" };
  const data = [];
  for (const line of part.split("\n")) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) || [];
    if (name === "data") data.push(value);
    else if (name === "event" || name === "id") event[name] = value;
  }
  if (!data.length) return null;
  try { event.data = JSON.parse(data.join("\n")); } catch { event.data = data.join("\n"); }
  return event;
};
