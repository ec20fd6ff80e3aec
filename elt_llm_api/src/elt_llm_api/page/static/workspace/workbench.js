// The workbench of a product under review: facets, rows, the chosen row with its evidence.

import { address, kept } from "./address.js";
import { one, query, read } from "./api.js";
import { Decisions, askReviewer } from "./decisions.js";
import { announce, attempt, openDialog, say } from "./dialogs.js";
import { badge, button, count, fill, h, later } from "./dom.js";
import { Facets } from "./facets.js";
import { ItemView } from "./item-view.js";
import { onJobEnd } from "./jobs.js";
import { addKeys } from "./keys.js";
import { buildDialog, importSheet, openExports } from "./product-files.js";
import { findTwins } from "./twins.js";
import { COVERAGE, STATUSES, word } from "./verdicts.js";
import { VirtualList } from "./virtual-list.js";

const FIRST = 200; // rows of the first request: a few screens, so that the page is there at once
const REST = 10_000;
const PAUSE = 200; // milliseconds without a key, after which what may wait is drawn
const ROW_HEIGHT = 60;
const OPEN = new Set(["proposed", "reopened"]);
const MANY = 20; // rows, above which a decision on all marked ones is asked about
const SORTS = {
  attention: "Conflicts first", order: "As in the documents", label: "A to Z", status: "By status", recent: "Decided last",
};

export class Workbench {
  // `extra` is called with the workbench and returns what stands above the rows.
  constructor(host, { kind, title, extra }) {
    Object.assign(this, { host, kind, title, extra });
    this.rows = [];
    this.view = [];
    this.marked = new Set();
    this.items = new Map();
    this.facets = new Facets(() => this.refilter({ keep: false }));
    this.list = new VirtualList({
      label: title, height: ROW_HEIGHT, render: (row, isCurrent) => this.renderRow(row, isCurrent), onmove: (row) => this.choose(row),
    });
    this.item = new ItemView({ onsave: (change) => this.save(change), onsplit: (row) => this.split(row), onopen: (row) => this.open(row) });
    this.search = h("input", { type: "search", placeholder: "Search rows", "aria-label": "Search rows", "aria-keyshortcuts": "/", maxlength: "200",
      oninput: later(80, () => this.refilter({ keep: false })), onkeydown: (event) => { if (event.key === "Enter" || event.key === "Escape") this.list.element.focus(); } });
    this.sorts = h("select", { "aria-label": "Order", onchange: () => this.refilter() }, Object.entries(SORTS).map(([name, text]) => h("option", { value: name }, text)));
    this.products = h("select", { "aria-label": "Product", hidden: true, onchange: () => { address.set({ product: this.products.value, item: "" }, { push: true }); this.load(); } });
    this.tally = h("div", { class: "tally" });
    this.bulk = h("div", { class: "toolbar bulk", hidden: true });
    this.above = h("div");
    this.drawFacets = later(PAUSE, () => this.facets.draw(this.rows, (row) => this.searched(row)));
    this.keepAddress = later(PAUSE, () => this.writeAddress());
    this.fetchChosen = later(60, () => attempt(() => this.fetchItem()));
    this.lay();
    this.addKeys();
    onJobEnd((job) => { if (job.kind === kind && job.state !== "failed") { this.items.clear(); this.load(); } });
    address.onback(() => this.load());
  }

  lay() {
    const middle = h("section", { class: "pane middle", "aria-label": this.title },
      h("div", { class: "toolbar" }, this.products, h("div", { class: "grow" }, this.search), this.sorts,
        button("Build", () => this.build(), { key: "b" }), button("Import", () => importSheet(this), { key: "i" }), button("Export", () => openExports(this), { key: "o" })),
      this.tally, this.above, this.bulk, this.list.element,
      h("div", { class: "toolbar keys", role: "toolbar", "aria-label": "Decide" },
        button("Approve", () => this.decide("approved"), { key: "a", class: "main" }), button("Reject", () => this.decide("rejected"), { key: "r" }),
        button("Needs work", () => this.decide("needs_work"), { key: "w" }), button("Edit", () => this.item.edit(), { key: "e" }),
        button("Merge", () => this.merge(), { key: "m" }), button("Undo", () => this.undo(), { key: "u" }), button("Select", () => this.mark(), { key: "x" }),
        h("span", { class: "grow" }), this.who = button("", async () => { await askReviewer(true); this.drawWho(); }, { class: "plain", title: "Who reviews" })));
    this.drawWho();
    this.host.append(h("div", { class: "panes" }, this.facets.element, middle, this.item.element));
  }

  drawWho() { this.who.textContent = kept.get("reviewer") ? `Reviewer: ${kept.get("reviewer")}` : "Reviewer: who?"; }

  addKeys() {
    addKeys({
      j: ["Next row", () => this.list.move(this.list.at + 1)], k: ["Previous row", () => this.list.move(this.list.at - 1)],
      a: ["Approve", () => this.decide("approved")], r: ["Reject", () => this.decide("rejected")], w: ["Needs work", () => this.decide("needs_work")],
      e: ["Edit", () => this.item.edit()], m: ["Merge into another row", () => this.merge()], s: ["Split off what was merged", () => this.split(this.current)],
      u: ["Take the last decision back", () => this.undo()], x: ["Select the row", () => this.mark()], "*": ["Select all rows shown", () => this.markAll()],
      Enter: ["Its evidence; again: the document there", () => this.item.pane.enter()],
      "[": ["Previous evidence", () => this.item.pane.step(-1)], "]": ["Next evidence", () => this.item.pane.step(1)],
      b: ["Build it, or build it again", () => this.build()], i: ["Import a reviewed sheet", () => importSheet(this)], o: ["Export", () => openExports(this)],
      "1": ["Take the first of two texts", () => this.item.take(0)], "2": ["Take the second of two texts", () => this.item.take(1)], "3": ["", () => this.item.take(2)], "4": ["", () => this.item.take(3)],
      "/": ["Search", () => this.search.focus()], Escape: ["", () => { this.marked.clear(); this.refilter(); this.list.element.focus(); }],
    });
  }

  build() { return buildDialog(this.kind, this.title); }

  get current() { return this.view[this.list.at]; }

  async load() {
    if (!this.rows.length) fill(this.tally, h("p", { class: "dim" }, "Loading …"));
    const wanted = address.get("product") || kept.get(`product.${this.kind}`);
    const started = wanted.startsWith(`${this.kind}:`) && this.readFirst(wanted).catch(() => null);
    const early = started && await started;
    if (early) this.begin(wanted, early);
    const { data } = await read("/v1/products");
    const mine = data.filter((one) => one.product.startsWith(`${this.kind}:`));
    if (!mine.length) { this.showEmpty(); return; }
    const isThere = mine.some((one) => one.product === wanted);
    this.product = isThere ? wanted : mine[0].product;
    kept.set(`product.${this.kind}`, this.product);
    fill(this.products, mine.map((one) => h("option", { value: one.product, selected: one.product === this.product }, one.product.split(":")[1].replaceAll("+", " + "))));
    this.products.hidden = mine.length < 2;
    if (!isThere || !early) this.begin(this.product, await this.readFirst(this.product));
    await this.readRest();
  }

  begin(product, first) {
    this.product = product;
    this.first = first;
    this.decisions = new Decisions(product, (row, item) => this.onrow(row, item));
    this.readAddress();
    this.wantedItem = address.get("item");
    this.take(first.data, this.wantedItem);
  }

  async readRest() {
    const { data, next_cursor: cursor } = this.first;
    if (!cursor) return;
    const rest = await read(`/v1/products/${one(this.product)}/items${query({ limit: REST, cursor })}`);
    this.take([...data, ...rest.data], this.list.at > 0 ? this.current?.item_id : this.wantedItem);
  }

  readFirst(product) { return read(`/v1/products/${one(product)}/items${query({ limit: FIRST })}`); }

  showEmpty() {
    this.rows = [];
    this.refilter();
    fill(this.tally, h("div", { class: "empty" }, h("h2", {}, `No ${this.title.toLowerCase()} yet`),
      h("p", {}, "It is built from the documents of a collection."), button("Build", () => this.build(), { class: "main" })));
  }

  readAddress() {
    this.search.value = address.get("q");
    this.sorts.value = SORTS[address.get("sort")] ? address.get("sort") : "attention";
    this.facets.chosen.clear();
    for (const [key, value] of new URLSearchParams(location.search)) {
      if (key.startsWith("f.")) this.facets.take(key.slice(2), [...(this.facets.chosen.get(key.slice(2)) || []), value]);
    }
  }

  writeAddress() {
    const old = [...new URLSearchParams(location.search).keys()].filter((key) => key.startsWith("f."));
    const facets = Object.fromEntries(Object.entries(this.facets.state()).map(([name, set]) => [`f.${name}`, set]));
    address.set({ ...Object.fromEntries(old.map((key) => [key, ""])), ...facets, product: this.product, q: this.search.value,
      sort: this.sorts.value === "attention" ? "" : this.sorts.value, item: this.current?.item_id });
  }

  take(rows, itemId) {
    this.rows = rows;
    this.byId = new Map(rows.map((row, order) => { row.order = order; return [row.item_id, row]; }));
    if (this.kind === "glossary") findTwins(rows);
    this.refilter({ itemId });
  }

  searched(row) {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return true;
    if (row.textOf !== row.revision) {
      row.textOf = row.revision;
      row.text = `${row.label} ${Object.values(row.fields).join(" ")} ${row.notes} ${row.section}`.toLowerCase();
    }
    return words.every((one) => row.text.includes(one));
  }

  refilter({ itemId = this.current?.item_id, keep = true } = {}) {
    const before = this.list.at;
    this.view = this.rows.filter((row) => this.searched(row) && this.facets.matches(row)).sort(this.order());
    let at = this.view.findIndex((row) => row.item_id === itemId);
    if (at < 0) at = keep ? Math.max(0, Math.min(before, this.view.length - 1)) : 0;
    this.list.show(this.view, at);
    this.drawFacets();
    this.drawTally();
    this.drawBulk();
    if (this.extra) fill(this.above, this.extra(this));
    if (this.current !== this.shown) this.choose(this.current);
    else this.keepAddress();
  }

  order() {
    const need = (row) => (row.conflicts.length ? 0 : row.status === "reopened" || row.changed.length ? 1 : row.twins && OPEN.has(row.status) ? 2 : 3);
    const status = Object.keys(STATUSES);
    const ways = {
      attention: (a, b) => need(a) - need(b) || a.order - b.order,
      order: (a, b) => a.order - b.order,
      label: (a, b) => a.label.localeCompare(b.label) || a.order - b.order,
      status: (a, b) => status.indexOf(a.status) - status.indexOf(b.status) || a.order - b.order,
      recent: (a, b) => b.at.localeCompare(a.at) || a.order - b.order,
    };
    return ways[this.sorts.value] || ways.attention;
  }

  drawTally() {
    const present = this.rows.filter((row) => !row.gone);
    const done = present.filter((row) => !OPEN.has(row.status)).length;
    fill(this.tally, h("progress", { max: Math.max(1, present.length), value: done, "aria-label": "Rows decided" }),
      h("span", { class: "small" }, `${done.toLocaleString("en")} of ${count(present.length, "row")} decided`),
      this.view.length < this.rows.length && h("span", { class: "small dim" }, `${this.view.length.toLocaleString("en")} shown`));
  }

  drawBulk() {
    const shown = this.facets.chosen.size || this.search.value || this.marked.size;
    this.bulk.hidden = !shown || !this.view.length;
    if (this.bulk.hidden) return;
    fill(this.bulk, h("span", { class: "small" }, this.marked.size ? `${count(this.marked.size, "row")} selected` : ""),
      button(`Select all ${this.view.length.toLocaleString("en")} shown`, () => this.markAll(), { key: "*" }),
      this.marked.size > 0 && button("Approve them", () => this.decide("approved")), this.marked.size > 0 && button("Reject them", () => this.decide("rejected")),
      this.marked.size > 0 && button("Clear", () => { this.marked.clear(); this.refilter(); }));
  }

  renderRow(row) {
    const isMarked = this.marked.has(row.item_id);
    const text = Object.entries(row.fields).filter(([name, value]) => value && name !== "term" && name !== "verdict" && value !== row.label).map(([, value]) => value)[0] || row.section;
    return h("div", { class: "item", "aria-selected": String(isMarked) },
      h("span", { class: `mark ${STATUSES[row.status].tone}`, title: STATUSES[row.status].word, role: "img", "aria-label": STATUSES[row.status].word }, isMarked ? "☑" : STATUSES[row.status].icon),
      h("span", { class: "name" }, row.label),
      h("span", { class: "signs" },
        row.fields.verdict && COVERAGE[row.fields.verdict] && badge(COVERAGE[row.fields.verdict]),
        row.unclear && badge({ icon: "?", word: "needs clarification", tone: "near" }),
        row.conflicts.length > 0 && badge({ icon: "⚠", word: "two texts", tone: "bad" }),
        row.changed.length > 0 && badge({ icon: "↻", word: "changed", tone: "near" }),
        row.twins && badge({ icon: "⇄", word: `${row.twins.length} definitions`, tone: "near" }),
        row.edited.length > 0 && badge({ icon: "✎", word: "edited" }),
        row.page && h("span", { class: "dim small" }, `p. ${row.page}`)),
      h("span", { class: "text dim" }, text.replace(/\s+/g, " ")));
  }

  choose(row) {
    this.shown = row;
    this.item.showRow(row);
    this.keepAddress();
    if (!row) return;
    const item = this.items.get(row.item_id);
    if (item && item.revision === row.revision) this.item.showItem(item, this.others(row));
    else this.fetchChosen();
  }

  others(row) { return (row.twins || []).filter((one) => one !== row); }

  async fetchItem() {
    const row = this.current;
    if (!row) return;
    const item = await read(`/v1/products/${one(this.product)}/items/${one(row.item_id)}`);
    this.items.set(item.item_id, item);
    if (this.current === row && !this.item.editing) this.item.showItem(item, this.others(row));
  }

  onrow(row, item) {
    if (item) this.items.set(item.item_id, item);
    this.list.draw();
    this.drawTally();
    this.drawFacets();
    if (this.current !== row || this.item.editing) return;
    if (item) { this.item.row = row; this.item.showItem(item, this.others(row)); } else this.item.drawHead();
  }

  open(row) {
    if (!this.view.includes(row)) { this.facets.chosen.clear(); this.search.value = ""; }
    this.refilter({ itemId: row.item_id });
    this.list.element.focus();
  }

  async decide(status) {
    if (!this.current || !(await askReviewer())) return;
    this.drawWho();
    if (this.marked.size) return this.decideMarked(status);
    const row = this.current;
    const after = this.list.at;
    this.decisions.decide(row, { status });
    announce(`${row.label}: ${STATUSES[status].word}`);
    const rest = [...this.view.slice(after + 1), ...this.view.slice(0, after)];
    const next = rest.find((one) => OPEN.has(one.status)) || rest[0];
    if (this.facets.chosen.has("status") || this.sorts.value === "status") this.refilter({ itemId: next?.item_id });
    else if (next) this.list.move(this.view.indexOf(next));
  }

  async decideMarked(status) {
    const rows = this.rows.filter((row) => this.marked.has(row.item_id));
    const told = `${count(rows.length, "row")}: ${STATUSES[status].word.toLowerCase()}`;
    const work = () => this.decisions.decideMany(rows.map((row) => [row, { status }]), told);
    if (rows.length > MANY) {
      const agreed = await openDialog(`${STATUSES[status].word}: ${count(rows.length, "row")}?`, h("p", {}, "One undo takes all of it back."), { agree: work, label: STATUSES[status].word });
      if (!agreed) return;
    } else await attempt(work);
    this.marked.clear();
    this.refilter();
    this.list.element.focus();
  }

  async save(change) {
    const row = this.current;
    if (!row || !(await askReviewer())) return;
    this.drawWho();
    await this.decisions.decide(row, change);
    this.list.element.focus();
  }

  mark() {
    if (!this.current) return;
    const { item_id: id } = this.current;
    if (!this.marked.delete(id)) this.marked.add(id);
    this.list.draw();
    this.drawBulk();
    announce(`${this.current.label} ${this.marked.has(id) ? "selected" : "not selected"}`);
  }

  markAll() {
    this.marked = new Set(this.view.map((row) => row.item_id));
    this.list.draw();
    this.drawBulk();
    announce(`${count(this.marked.size, "row")} selected`);
  }

  async undo() {
    if (!this.decisions) return;
    const row = await attempt(() => this.decisions.undo((id) => this.byId.get(id)));
    if (row) this.refilter({ itemId: row.item_id });
  }

  // The row goes into another: its name becomes a synonym there, it is rejected with a note.
  async merge() {
    const row = this.current;
    if (!row || this.kind === "coverage" || !(await askReviewer())) return;
    this.drawWho();
    const parts = this.marked.size ? this.rows.filter((one) => this.marked.has(one.item_id)) : [row];
    const words = new Set(row.label.toLowerCase().split(/\W+/).filter(Boolean));
    const near = (one) => one.label.toLowerCase().split(/\W+/).filter((part) => words.has(part)).length;
    const others = this.rows.filter((one) => !parts.includes(one) && !one.gone).sort((a, b) => near(b) - near(a) || a.label.localeCompare(b.label));
    const field = h("input", { type: "search", "aria-label": "Search the row to merge into", placeholder: "Search", oninput: () => draw() });
    const list = h("select", { size: "8", "aria-label": "Merge into" });
    const draw = () => fill(list, others.filter((one) => one.label.toLowerCase().includes(field.value.toLowerCase())).slice(0, 100)
      .map((one, at) => h("option", { value: one.item_id, selected: at === 0 }, `${one.label}${one.page ? ` (page ${one.page})` : ""}`)));
    draw();
    const names = parts.map((one) => `“${one.label}”`).join(", ");
    const agreed = await openDialog(`Merge ${names} into`, h("div", { class: "stack" }, field, list, h("p", { class: "dim small" }, "The names become synonyms there. Undo, or “Split off again”, takes it back.")), {
      label: "Merge",
      agree: () => {
        const target = this.byId.get(list.value);
        if (!target) throw new Error("choose a row to merge into");
        return this.decisions.decideMany(mergeChanges(target, parts), `${names} merged into “${target.label}”`);
      },
    });
    if (!agreed) return;
    this.marked.clear();
    this.items.clear();
    this.refilter({ itemId: list.value });
    this.list.element.focus();
  }

  async split(row) {
    const [, label] = /^Merged into “(.+)”/.exec(row?.notes || "") || [];
    if (!label) return say("This row was not merged into another.");
    const target = this.rows.find((one) => one.label === label && one !== row);
    const pairs = [[row, { status: "proposed", notes: "" }]];
    if (target && "synonyms" in target.fields) {
      const left = synonymsOf(target).filter((name) => name !== row.label);
      pairs.push([target, { edited: { synonyms: left.join("; ") } }]);
    }
    await attempt(() => this.decisions.decideMany(pairs, `“${row.label}” stands for itself again`));
    this.items.clear();
    this.refilter({ itemId: row.item_id });
    return undefined;
  }
}

const synonymsOf = (row) => (row.fields.synonyms || "").split(";").map((name) => name.trim()).filter(Boolean);

const mergeChanges = (target, parts) => {
  const edited = {};
  if ("synonyms" in target.fields) {
    const names = parts.flatMap((one) => [one.label, ...synonymsOf(one)]);
    edited.synonyms = [...new Set([...synonymsOf(target), ...names])].filter((name) => name !== target.label).join("; ");
  } else {
    for (const [name, text] of parts.flatMap((one) => Object.entries(one.fields))) if (text && !target.fields[name] && !edited[name]) edited[name] = text;
  }
  return [[target, { edited }], ...parts.map((one) => [one, { status: "rejected", notes: `Merged into “${target.label}”` }])];
};
