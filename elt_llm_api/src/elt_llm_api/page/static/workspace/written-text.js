// A report, a summary or a concept report as a reader checks it.

import { count, h } from "./dom.js";
import { citeButton, renderNotes, renderRemoved, renderStatements } from "./statements.js";

const NO_DATA = "[INSUFFICIENT DATA]";
const STATES = {
  partial: "Some of what it asks for is missing.",
  insufficient: "The documents say nothing of it.",
  failed: "It could not be written; write it again.",
};

// `show` is called with a citation of the text.
export const renderWritten = (text, show) => [
  text.description && h("p", { class: "verbatim" }, text.description),
  text.gaps.length > 0 && gaps(text.gaps),
  text.sections.map((section) => renderSection(section, text.sections.length === 1 && section.heading === text.title, show)),
  text.sources.length > 0 && sources(text.sources, show),
];

// Every citation once, in the order of the text: what the pager of the evidence goes through.
export const citationsOf = (text) => text.sections.flatMap((section) => section.statements.flatMap((statement) => statement.citations));

const gaps = (all) => h("section", { class: "note", "aria-label": "What is missing" },
  h("strong", {}, `What is missing: ${count(all.length, "question")}`), h("ul", { class: "dots" }, all.map((gap) => h("li", { class: "verbatim" }, gap))));

const renderSection = (section, isWhole, show) => {
  const open = section.gaps.filter((gap) => !gap.closed);
  const body = (statement) => [statement.text, " ", statement.sources.map((number) => citeButton(number, () => show(numbered(statement, number))))];
  return h("section", { class: "stack" },
    !isWhole && h(`h${Math.min(6, section.level + 2)}`, {}, section.heading),
    section.statements.length > 0 ? renderStatements(section.statements, (cited) => show(cited[0]), body) : h("p", { class: "dim" }, NO_DATA),
    STATES[section.state] && h("div", { class: section.state === "failed" ? "note bad small" : "note small" }, STATES[section.state],
      open.length > 0 && h("ul", { class: "dots" }, open.map((gap) => h("li", { class: "verbatim" }, gap.uncertain ? `${gap.text} (no sure answer; the nearest sentences are above)` : gap.text)))),
    section.removed.length > 0 && renderRemoved(section.removed),
    section.degradations.length > 0 && renderNotes(section.degradations));
};

const numbered = (statement, number) => statement.citations.find((one) => one.label === String(number)) || statement.citations[0];

const sources = (all, show) => h("section", { class: "stack" }, h("h3", {}, "Sources"), h("ol", { class: "sources stack" }, all.map((source) => h("li", {},
  citeButton(source.number, () => show(source.citations[0])), h("span", { class: "verbatim" }, [source.document, source.page && `page ${source.page}`, source.section].filter(Boolean).join(", "))))));
