// One answer as a reader checks it: each statement with its verdict in words.

import { badge, button, count, h } from "./dom.js";
import { verdict } from "./verdicts.js";

const LABEL = /\[(\d+(?:\s*,\s*\d+)*)\]/g;
const REFUSALS = new Set(["insufficient", "no_sources", "validation_failed"]);

// Numbers of sources become buttons; all else of the text stays text.
const withNumbers = (text, open) => {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(LABEL)) {
    parts.push(text.slice(from, match.index), match[1].split(",").map((number) => h("button", {
      type: "button", class: "cite", "aria-label": `Source ${number.trim()}`, onclick: () => open(Number(number)),
    }, number.trim())));
    from = match.index + match[0].length;
  }
  return [...parts, text.slice(from)];
};

const sameBadge = (a, b) => a && a.verdict === b.verdict && a.reason === b.reason;

// `show` is called with evidence and where to begin in it.
export const renderAnswer = (message, sources, show) => {
  const byNumber = new Map(sources.map((source) => [source.number, source]));
  const openNumber = (number) => {
    const source = byNumber.get(number);
    if (source) show(source.citations);
  };
  const refused = REFUSALS.has(message.status) && !message.unclear;
  return [
    refused && h("p", { class: "note" }, h("strong", {}, "No sure answer. "), "The passages below are the nearest; none of them proves one."),
    statements(message, openNumber, show),
    message.conflicts.length > 0 && conflicts(message, show),
    message.nearest.length > 0 && nearest(message, show),
    message.removed.length > 0 && removed(message),
    message.degradations.length > 0 && h("details", { class: "small" }, h("summary", {}, `Limited: ${count(message.degradations.length, "note")}`), h("ul", {}, message.degradations.map((one) => h("li", {}, one.detail)))),
  ];
};

const statements = (message, openNumber, show) => {
  if (!message.statements.length) return h("p", { class: "verbatim answer-text" }, withNumbers(message.text, openNumber));
  return h("div", { class: "statements" }, message.statements.map((statement, at) => {
    const proof = verdict(statement.verdict);
    const why = statement.reason || proof.why;
    const cited = statement.citations;
    const isTable = cited.length > 0 && cited.every((one) => one.kind === "table");
    const told = verdict(statement.verdict, isTable);
    const sign = cited.length ? button([h("span", { "aria-hidden": "true" }, told.icon), told.word], () => show(cited), { class: `badge verdict ${told.tone}`, title: why, "aria-label": `${told.word}: show the evidence` }) : badge({ ...told, why });
    const repeated = sameBadge(message.statements[at - 1], statement) && !cited.length;
    return h("p", { class: `statement ${told.tone}` }, !repeated && sign, h("span", { class: "verbatim" }, withNumbers(statement.text, openNumber)), told.tone === "bad" && h("span", { class: "small dim" }, ` ${why}`));
  }));
};

const quoteButton = (citation, show) => h("li", { class: "quote" }, h("q", { class: "verbatim" }, citation.quote),
  button(`${citation.document}${citation.page ? `, page ${citation.page}` : ""}`, () => show([citation]), { class: "plain small" }));

const nearest = (message, show) => h("section", { class: "nearest" }, h("h3", {}, "Nearest passages"), h("ul", { class: "stack" }, message.nearest.map((one) => quoteButton(one, show))));

const conflicts = (message, show) => h("section", { class: "conflict" }, h("h3", {}, "Two passages say otherwise"), message.conflicts.map((one) =>
  h("div", { class: "stack" }, h("p", { class: "small" }, one.reason), h("ul", { class: "sides" }, one.quotes.map((quote) => quoteButton(quote, show))))));

const removed = (message) => h("details", { class: "removed small" },
  h("summary", {}, `○ ${count(message.removed.length, "statement")} left out: not proven`),
  h("ul", { class: "stack" }, message.removed.map((one) => h("li", {}, h("del", { class: "verbatim" }, one.text), h("p", { class: "dim" }, one.reason)))));

// The answer as plain text with its sources, for the clipboard.
export const asText = (message, sources) => {
  const used = new Set([...message.text.matchAll(LABEL)].flatMap((match) => match[1].split(",").map(Number)));
  const lines = sources.filter((source) => used.has(source.number)).map((source) =>
    [`[${source.number}] ${source.document}`, source.page && `page ${source.page}`, source.section].filter(Boolean).join(", "));
  return [message.text, ...(lines.length ? ["", "Sources", ...lines] : [])].join("\n");
};
