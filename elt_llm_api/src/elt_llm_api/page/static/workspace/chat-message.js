// One answer as a reader checks it: each statement with its verdict in words.

import { button, h, unwrap } from "./dom.js";
import { citeButton, renderNotes, renderRemoved, renderStatements } from "./statements.js";
import { asNearest } from "./verdicts.js";

const LABEL = /\[(\d+(?:\s*,\s*\d+)*)\]/g;
const REFUSALS = new Set(["insufficient", "no_sources", "validation_failed"]);

// Numbers of sources become buttons; all else of the text stays text.
const withNumbers = (text, open) => {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(LABEL)) {
    parts.push(text.slice(from, match.index), match[1].split(",").map((number) => citeButton(number.trim(), open)));
    from = match.index + match[0].length;
  }
  return [...parts, text.slice(from)];
};

// `show` is called with evidence and where to begin in it.
export const renderAnswer = (message, sources, show) => {
  const byNumber = new Map(sources.map((source) => [source.number, source]));
  // A number belongs to a passage, which other answers may cite for other words of it.
  const openNumber = (number) => {
    const own = message.citations.filter((one) => one.label === String(number));
    const cited = own.length ? own : byNumber.get(number)?.citations;
    if (cited) show(cited);
  };
  const refused = REFUSALS.has(message.status) && !message.unclear && !message.courtesy;
  return [
    refused && h("p", { class: "note" }, h("strong", {}, "No sure answer. "), "The passages below are the nearest; none of them proves one."),
    statements(message, openNumber, show),
    message.conflicts.length > 0 && conflicts(message, show),
    message.nearest.length > 0 && nearest(message, show),
    message.removed.length > 0 && renderRemoved(message.removed),
    message.degradations.length > 0 && renderNotes(message.degradations),
  ];
};

const statements = (message, openNumber, show) => {
  if (!message.statements.length) return h("p", { class: "verbatim answer-text" }, withNumbers(message.text, openNumber));
  return renderStatements(message.statements, show, (statement) => withNumbers(statement.text, openNumber));
};

const quoteButton = (citation, show) => h("li", { class: "quote" }, h("q", { class: "verbatim" }, citation.reading || unwrap(citation.quote)),
  button(`${citation.document}${citation.page ? `, page ${citation.page}` : ""}`, () => show([citation]), { class: "plain small" }));

const nearest = (message, show) => h("section", { class: "nearest" }, h("h3", {}, "Nearest passages"), h("ul", { class: "stack" }, asNearest(message.nearest).map((one) => quoteButton(one, show))));

const conflicts = (message, show) => h("section", { class: "conflict" }, h("h3", {}, "Two passages say otherwise"), message.conflicts.map((one) =>
  h("div", { class: "stack" }, h("p", { class: "small" }, one.reason), h("ul", { class: "sides" }, one.quotes.map((quote) => quoteButton(quote, show))))));

// The answer as plain text with its sources, for the clipboard.
export const asText = (message, sources) => {
  const used = new Set([...message.text.matchAll(LABEL)].flatMap((match) => match[1].split(",").map(Number)));
  const lines = sources.filter((source) => used.has(source.number)).map((source) =>
    [`[${source.number}] ${source.document}`, source.page && `page ${source.page}`, source.section].filter(Boolean).join(", "));
  return [message.text, ...(lines.length ? ["", "Sources", ...lines] : [])].join("\n");
};
