// Statements of an answer or of a report, each with its verdict in words and its sources.

import { badge, button, count, h } from "./dom.js";
import { isTable, verdict } from "./verdicts.js";

export const citeButton = (number, open) => h("button", {
  type: "button", class: "cite", "aria-label": `Source ${number}`, onclick: () => open(Number(number)),
}, String(number));

const sameBadge = (a, b) => a && a.verdict === b.verdict && a.reason === b.reason;

// `show` is called with the citations of a statement, `body` returns its text with numbers.
export const renderStatements = (statements, show, body) =>
  h("div", { class: "statements" }, statements.map((statement, at) => {
    const cited = statement.citations;
    const proof = verdict(statement.verdict, cited.length > 0 && cited.every(isTable));
    const why = statement.reason || proof.why;
    const sign = cited.length
      ? button([h("span", { "aria-hidden": "true" }, proof.icon), proof.word], () => show(cited), { class: `badge verdict ${proof.tone}`, title: why, "aria-label": `${proof.word}: show the evidence` })
      : badge({ ...proof, why });
    const repeated = sameBadge(statements[at - 1], statement) && !cited.length;
    return h("p", { class: `statement ${proof.tone}` }, !repeated && sign, h("span", { class: "verbatim" }, body(statement)), proof.tone === "bad" && h("span", { class: "small dim" }, ` ${why}`));
  }));

export const renderRemoved = (removed) => h("details", { class: "removed small" },
  h("summary", {}, `○ ${count(removed.length, "statement")} left out: not proven`),
  h("ul", { class: "stack" }, removed.map((one) => h("li", {}, h("del", { class: "verbatim" }, one.text), h("p", { class: "dim" }, one.reason)))));

export const renderNotes = (degradations) => h("details", { class: "small" },
  h("summary", {}, `Limited: ${count(degradations.length, "note")}`), h("ul", {}, degradations.map((one) => h("li", {}, one.detail))));

// Goes to the next or previous button that shows evidence, and presses it.
export const stepEvidence = (host, by) => {
  const all = [...host.querySelectorAll("button.verdict, button.cite")];
  if (!all.length) return;
  const at = all.indexOf(document.activeElement);
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))];
  next.focus();
  next.click();
};
