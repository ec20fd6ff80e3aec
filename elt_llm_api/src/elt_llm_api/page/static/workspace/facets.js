// Facets: what rows have in common, with counts, to choose by. Each count is of the rows
// that all other facets let through, so that a choice never leads to nothing.

import { h, fill } from "./dom.js";
import { STATUSES, COVERAGE, word } from "./verdicts.js";

const MOST_VALUES = 8; // before "more"
const STATUS_ORDER = Object.keys(STATUSES);

const SPECIAL = {
  status: (row) => [row.status],
  attention: (row) => [
    row.unclear && "unclear", row.conflicts.length && "conflict", row.changed.length && "changed", row.edited.length && "edited",
    row.notes && "noted", row.twins && "defined twice", row.gone && "gone",
  ].filter(Boolean),
};
const TITLES = { status: "Status", attention: "Look at", document: "Document", verdict: "Coverage" };
const LABELS = {
  unclear: "Needs clarification", conflict: "Two texts", changed: "Generated otherwise now", edited: "Edited by a person", noted: "With a note",
  "defined twice": "Defined more than once", gone: "No longer found",
};

const values = (row, name) => {
  if (SPECIAL[name]) return SPECIAL[name](row);
  if (name === "document") return row.document ? [row.document] : [];
  if (name === "verdict") return row.fields.verdict ? [row.fields.verdict] : [];
  return row.facets[name] ? [row.facets[name]] : [];
};

const labelOf = (name, value) => {
  if (name === "status") return `${STATUSES[value].icon} ${STATUSES[value].word}`;
  if (name === "verdict" && COVERAGE[value]) return `${COVERAGE[value].icon} ${COVERAGE[value].word}`;
  return LABELS[value] || word(value);
};

export class Facets {
  constructor(onchange) {
    this.onchange = onchange;
    this.chosen = new Map();
    this.open = new Set();
    this.body = h("div", { class: "facets" });
    const wide = matchMedia("(min-width: 901px)");
    const fold = h("details", { class: "facet-fold", open: wide.matches }, h("summary", {}, "Filters"), this.body);
    wide.addEventListener("change", () => { fold.open = wide.matches; });
    this.element = h("aside", { class: "pane side", "aria-label": "Filters" }, fold);
  }

  // Facets worth showing: those that tell rows apart.
  static names(rows) {
    const found = new Map();
    for (const row of rows) {
      for (const name of [...Object.keys(row.facets), "document", "verdict"]) {
        const set = found.get(name) || found.set(name, new Set()).get(name);
        for (const value of values(row, name)) set.add(value);
      }
    }
    const useful = [...found].filter(([, set]) => set.size > 1 && set.size < Math.max(40, rows.length / 2)).map(([name]) => name);
    return ["status", "attention", ...useful];
  }

  take(name, values) { if (values.length) this.chosen.set(name, new Set(values)); else this.chosen.delete(name); }

  state() { return Object.fromEntries([...this.chosen].map(([name, set]) => [name, [...set]])); }

  matches(row, but = "") {
    for (const [name, set] of this.chosen) {
      if (name !== but && set.size && !values(row, name).some((value) => set.has(value))) return false;
    }
    return true;
  }

  draw(rows, searched) {
    const focused = document.activeElement?.dataset?.facet;
    if (this.of !== rows) Object.assign(this, { of: rows, names: Facets.names(rows) });
    const left = rows.filter(searched);
    fill(this.body, this.names.map((name) => this.group(name, this.chosen.size ? left.filter((row) => this.matches(row, name)) : left)));
    if (this.chosen.size) this.body.append(h("button", { type: "button", onclick: () => { this.chosen.clear(); this.onchange(); } }, "Clear filters"));
    if (focused) this.body.querySelector(`[data-facet="${CSS.escape(focused)}"]`)?.focus();
  }

  group(name, rows) {
    const counts = new Map();
    for (const row of rows) for (const value of values(row, name)) counts.set(value, (counts.get(value) || 0) + 1);
    for (const value of this.chosen.get(name) || []) if (!counts.has(value)) counts.set(value, 0);
    if (!counts.size) return null;
    const order = name === "status"
      ? [...counts].sort((a, b) => STATUS_ORDER.indexOf(a[0]) - STATUS_ORDER.indexOf(b[0]))
      : [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
    const shown = order.slice(0, MOST_VALUES).map((one) => this.choice(name, ...one));
    const more = order.slice(MOST_VALUES).map((one) => this.choice(name, ...one));
    const fold = more.length > 0 && h("details", { open: this.open.has(name), ontoggle: (event) => this.open[event.target.open ? "add" : "delete"](name) },
      h("summary", {}, `${more.length} more`), more);
    return h("fieldset", {}, h("legend", {}, TITLES[name] || word(name)), shown, fold);
  }

  choice(name, value, number) {
    const set = this.chosen.get(name);
    const box = h("input", { type: "checkbox", checked: Boolean(set?.has(value)), "data-facet": `${name} ${value}`, onchange: () => {
      const now = this.chosen.get(name) || new Set();
      if (box.checked) now.add(value); else now.delete(value);
      this.take(name, [...now]);
      this.onchange();
    } });
    return h("label", {}, box, h("span", {}, labelOf(name, value)), h("b", {}, number.toLocaleString("en")));
  }
}
