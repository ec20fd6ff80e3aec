// One item beside the list: its texts, what is in conflict, its evidence and history.

import { badge, button, fill, h } from "./dom.js";
import { EvidencePane } from "./evidence.js";
import { COVERAGE, STATUSES, word } from "./verdicts.js";

const REASONS = ["mapping_rationale", "inference_reasoning", "searches", "searched", "reasons"];

export class ItemView {
  constructor({ onsave, onsplit, onopen }) {
    Object.assign(this, { onsave, onsplit, onopen });
    this.pane = new EvidencePane();
    this.head = h("div", { class: "stack item-head" });
    this.more = h("div", { class: "stack" });
    this.choices = [];
    this.element = h("aside", { class: "pane right stack-l", "aria-label": "Chosen row" }, this.head, this.pane.element, this.more);
  }

  // A row is shown at once; its evidence follows when the server has sent it.
  showRow(row) {
    Object.assign(this, { row, item: null, editing: false, toEdit: false, choices: [] });
    this.element.scrollTop = 0;
    if (!row) {
      fill(this.head);
      fill(this.more);
      this.pane.show([]);
      return;
    }
    this.drawHead();
  }

  showItem(item, twins) {
    const same = this.item?.item_id === item.item_id;
    this.item = item;
    this.twins = twins;
    if (!this.editing) this.drawHead();
    this.pane.show(item.evidence, same ? this.pane.at : 0);
    if (!item.evidence.length) fill(this.pane.element, h("p", { class: "dim" }, "No passage stands behind this row."));
    this.drawMore();
    if (this.toEdit) this.edit();
  }

  drawHead() {
    const { row } = this;
    const by = row.reviewer ? `${row.reviewer}, ${row.at.replace("T", " ").replace("Z", " UTC")}` : "";
    const merged = /^Merged into “/.test(row.notes);
    fill(this.head,
      h("div", { class: "row" }, h("h2", {}, row.label), badge(STATUSES[row.status]), row.unclear && badge({ icon: "?", word: "Needs clarification", tone: "near" }), row.gone && badge({ icon: "∅", word: "No longer found", tone: "near" })),
      by && h("p", { class: "dim small" }, by),
      h("dl", { class: "fields" }, Object.entries(row.fields).filter(([name, text]) => text && (text !== row.label || name !== "term")).map(([name, text]) => this.field(name, text))),
      row.notes && h("p", { class: "small verbatim" }, h("span", { class: "dim" }, "Note: "), row.notes),
      merged && h("p", {}, button("Split off again", () => this.onsplit(row), { key: "s" })),
      this.item && this.conflicts());
  }

  field(name, text) {
    const edited = this.row.edited.includes(name);
    const told = name === "verdict" && COVERAGE[text] ? badge(COVERAGE[text]) : text;
    return h("div", {}, h("dt", {}, word(name), edited && h("span", { class: "badge near" }, "edited")), h("dd", { class: "verbatim" }, told));
  }

  // The texts of conflicts are numbered through, as keys choose them.
  conflicts() {
    const { item } = this;
    const fields = [...new Set([...item.conflicts, ...item.changed])];
    this.choices = [];
    return fields.map((name) => {
      const texts = [
        ["Holds now", item.fields[name]], ["Generated now", item.generated[name]],
        ["Generated before", item.base[name]], ["Offered by a sheet", item.offered[name]],
      ].filter(([, text], at, all) => text !== undefined && (at === 0 || !all.slice(0, at).some((one) => one[1] === text)));
      if (texts.length < 2) return null;
      return h("section", { class: "conflict" }, h("h3", {}, `Two texts: ${word(name)}`), h("div", { class: "sides" }, texts.map(([title, text]) => {
        const number = this.choices.push(() => this.onsave({ edited: { [name]: text === item.generated[name] ? null : text }, status: "approved" }));
        return h("div", { class: "card stack" }, h("h3", {}, title), h("p", { class: "verbatim" }, text || "(empty)"), button("Take this", () => this.take(number - 1), { key: String(number) }));
      })));
    });
  }

  take(at) { if (!this.editing) this.choices[at]?.(); }

  drawMore() {
    const { item } = this;
    const reasons = REASONS.map((name) => [name, item.row[name]]).filter(([, value]) => value?.length)
      .map(([name, value]) => h("li", {}, h("span", { class: "dim" }, `${word(name)}: `), Array.isArray(value) ? value.join("; ") : value));
    const relations = (item.row.relationships || []).map((one) => h("tr", {}, [one.target_entity, one.relationship_type, one.cardinality].map((text) => h("td", {}, text || ""))));
    const time = (at) => at.replace("T", " ").replace("Z", "");
    const history = item.history.toReversed().map((one) => h("li", { class: "small" },
      `${time(one.recorded_at || one.at)} · ${one.recorded_by || (one.recorded_at ? "" : one.reviewer) || "a run"} · ${STATUSES[one.status].word} (${word(one.action).toLowerCase()})`
      + (one.recorded_at && one.reviewer ? `, decided by ${one.reviewer} ${time(one.at)}` : "")));
    fill(this.more,
      this.twins.length ? this.section("Other definitions", h("div", { class: "sides" }, this.twins.map((row) => h("div", { class: "card stack" },
        h("h3", {}, `${row.document} ${row.page && `page ${row.page}`}`), h("p", { class: "verbatim" }, row.fields.definition || ""), badge(STATUSES[row.status]), button("Go there", () => this.onopen(row)))))) : "",
      relations.length ? this.section("Relations", h("div", { class: "scroll" }, h("table", {}, relations))) : "",
      reasons.length ? this.section("Why", h("ul", { class: "small stack" }, reasons)) : "",
      history.length ? this.section("History", h("ol", {}, history)) : "");
  }

  section(title, content) {
    return h("details", { open: true }, h("summary", {}, title), content);
  }

  edit() {
    const { row, item } = this;
    this.toEdit = Boolean(row && !item); // as soon as the server has sent it
    if (!item) return;
    this.editing = true;
    const areas = Object.entries(row.fields).map(([name, text]) => {
      const area = h("textarea", { rows: String(Math.min(8, 1 + Math.ceil(text.length / 60))) });
      area.value = text;
      area.dataset.name = name;
      return h("label", { class: "field" }, h("span", {}, word(name)), area);
    });
    const notes = h("textarea", { rows: "2" });
    notes.value = row.notes;
    const save = (status) => {
      const edited = {};
      for (const area of form.querySelectorAll("textarea[data-name]")) {
        const { name } = area.dataset;
        if (area.value !== row.fields[name]) edited[name] = area.value === item.generated[name] ? null : area.value;
      }
      this.editing = false;
      this.onsave({ edited, ...(notes.value !== row.notes && { notes: notes.value }), ...(status && { status }) });
    };
    const stop = () => { this.editing = false; this.drawHead(); };
    const form = h("form", { class: "stack", onsubmit: (event) => { event.preventDefault(); save("approved"); }, onkeydown: (event) => {
      if (event.key === "Escape") { event.stopPropagation(); stop(); }
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); save("approved"); }
    } }, areas, h("label", { class: "field" }, h("span", {}, "Note"), notes),
    h("div", { class: "row" }, h("button", { type: "submit", class: "main" }, "Save and approve", h("kbd", { "aria-hidden": "true" }, "Ctrl ⏎")), button("Save", () => save("")), button("Cancel", stop)));
    fill(this.head, h("h2", {}, row.label), form);
    form.querySelector("textarea").focus();
  }
}
