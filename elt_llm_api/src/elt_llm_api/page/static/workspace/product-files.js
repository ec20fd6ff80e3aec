// What goes in and out of a product: building it, a reviewed sheet, exports.

import { one, read } from "./api.js";
import { attempt, openDialog, say } from "./dialogs.js";
import { count, h, local } from "./dom.js";
import { askReviewer } from "./decisions.js";
import { chosen, collectionBoxes, modelCollections } from "./job-forms.js";
import { startJob } from "./jobs.js";
import { word } from "./verdicts.js";
import { exportChoices } from "./exports.js";

const LIST_FIRST = 100; // rows of a difference; the counts tell of all

export const buildDialog = async (kind, title) => {
  const known = await attempt(() => read("/v1/collections"));
  if (!known) return;
  const hasModel = await modelCollections(known.data);
  const form = h("div", { class: "stack facets" }, collectionBoxes("Documents", "collection", known.data, (card) => !hasModel.has(card.name)), collectionBoxes("Model of entities (a glossary does without)", "model", known.data, (card) => hasModel.has(card.name)));
  await openDialog(`Build: ${title}`, form, {
    label: "Build",
    agree: async () => {
      if (!chosen(form, "collection").length) throw new Error("choose at least one collection with documents");
      await startJob({ kind, collection: chosen(form, "collection"), model: chosen(form, "model") });
      say("It is being built; the rows appear when it is done.");
    },
  });
};

export const openExports = async (bench) => {
  if (!bench.product) { say("There is nothing to export yet."); return; }
  const path = `/v1/products/${one(bench.product)}/sheet`;
  const sheets = h("ul", { class: "stack" }, [["xlsx", "Excel sheet for reviewers"], ["csv", "CSV sheet for reviewers"]].map(([ending, title]) =>
    h("li", {}, h("a", { href: local(`${path}.${ending}`), download: "" }, title), h("span", { class: "dim small" }, " comes back by Import"))));
  const others = await attempt(() => exportChoices(bench));
  await openDialog("Export", h("div", { class: "stack-l" }, sheets, others || ""));
};

export const importSheet = async (bench) => {
  if (!bench.product) return say("Build it first: a sheet is merged with what is there.");
  const picker = h("input", { type: "file", accept: ".csv,.xlsx" });
  picker.addEventListener("change", () => attempt(() => showDifference(bench, picker.files[0])));
  picker.click();
  return undefined;
};

export const showDifference = async (bench, file) => {
  const reviewer = await askReviewer();
  if (!file || !reviewer) return;
  const path = `/v1/products/${one(bench.product)}/sheet`;
  const form = (dry) => {
    const body = new FormData();
    body.append("reviewer", reviewer);
    body.append("dry_run", String(dry));
    body.append("file", file, file.name);
    return body;
  };
  const report = await read(path, { method: "POST", body: form(true) });
  const agreed = await openDialog(`What “${file.name}” changes`, difference(report), {
    wide: true, label: report.items_changed ? `Take ${count(report.items_changed, "change", "changes")}` : "Take it",
    agree: () => read(path, { method: "POST", body: form(false) }),
  });
  if (!agreed) return;
  say(`${count(report.items_changed, "row")} changed`);
  bench.items.clear();
  await bench.load();
};

const difference = (report) => {
  const table = (title, header, rows) => rows.length > 0 && h("section", {}, h("h3", {}, `${title}: ${rows.length}`),
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, header.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, rows.slice(0, LIST_FIRST).map((cells) => h("tr", {}, cells.map((text) => h("td", { class: "verbatim" }, text))))))));
  return h("div", { class: "stack-l" },
    h("p", {}, `${count(report.rows, "row")}, ${report.unchanged.toLocaleString("en")} unchanged.`),
    table("Changes", ["Row", "Item", "Column", "Now", "In the sheet"], report.edits.map((one) => [one.row, one.label, word(one.column), one.before, one.after])),
    table("Changed by both: what is recorded holds, the sheet's text is offered", ["Row", "Item", "Column", "Recorded", "In the sheet"], report.conflicts.map((one) => [one.row, one.label, word(one.column), one.current, one.offered])),
    table("Not taken", ["Row", "Why"], report.problems.map((one) => [one.row, one.reason])));
};
