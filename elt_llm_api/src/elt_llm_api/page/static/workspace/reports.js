// Reports, topics with their numbered summaries, and reports of concepts: the list at the
// left, the chosen text, and what a statement of it rests on.

import { address } from "./address.js";
import { one, read, send } from "./api.js";
import { announce, attempt, openDialog, say } from "./dialogs.js";
import { badge, button, count, fill, h, local } from "./dom.js";
import { EvidencePane } from "./evidence.js";
import { onJobEnd } from "./jobs.js";
import { addKeys } from "./keys.js";
import { menu, split } from "./shell.js";
import { VirtualList } from "./virtual-list.js";
import { conceptForm, reportForm, started, summariesForm } from "./writing-forms.js";
import { citationsOf, renderWritten } from "./written-text.js";

const ROW_HEIGHT = 44;
const TABS = { reports: "Reports", topics: "Topics" };
const TAB_OF = { report: "reports", topic: "topics", concept: "topics" };
const JOBS = new Set(["report", "topics", "concept"]);
const FILES = { markdown: "Markdown", html: "HTML", json: "JSON", docx: "Word" };
const STALE = { icon: "↻", word: "Out of date", tone: "near", why: "Its documents changed since it was written." };

const pathOf = (kind, subject) => `/v1/${{ report: "reports", topic: "topics", concept: "concepts" }[kind]}/${one(subject)}${kind === "topic" ? "/summaries" : ""}`;

// Versions by their subject, the newest first.
const grouped = (kind, rows) => {
  const entries = new Map();
  for (const row of rows) {
    const entry = entries.get(row.subject) || { kind, subject: row.subject, versions: [] };
    entries.set(row.subject, { ...entry, title: row.title, versions: [row, ...entry.versions] });
  }
  return [...entries.values()];
};

export class ReportsPage {
  constructor(host) {
    this.entries = { reports: [], topics: [] };
    this.search = h("input", { type: "search", placeholder: "Search titles", "aria-label": "Search titles", maxlength: "200", oninput: () => this.filter(), onkeydown: (event) => { if (event.key === "Enter" || event.key === "Escape") this.list.element.focus(); } });
    this.list = new VirtualList({ label: "Texts", height: ROW_HEIGHT, render: (entry) => this.renderRow(entry), onmove: (entry) => this.choose(entry) });
    this.tabs = Object.entries(TABS).map(([name, title]) => h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "texts", onclick: () => this.turn(name), onkeydown: (event) => this.pressTab(event) }, title));
    this.start = h("div", { class: "row" });
    this.head = h("div", { class: "toolbar head" });
    this.body = h("article", { class: "sheet-scroll written stack-l", tabindex: "0", "aria-label": "Text" });
    this.pane = new EvidencePane({ empty: "Choose a statement or a number to see what it rests on.", onstep: (citation) => this.mark(citation) });
    const wide = matchMedia("(min-width: 901px)").matches;
    const panel = h("div", { class: "stack", role: "tabpanel", id: "texts" }, this.start, this.search, this.list.element);
    const fold = h("details", { class: "facet-fold", open: wide }, h("summary", {}, "Reports and topics"), h("div", { class: "stack" }, h("div", { class: "tabs", role: "tablist", "aria-label": "What was written" }, this.tabs), panel));
    this.panel = panel;
    host.append(split(h("aside", { class: "pane side list-side", "aria-label": "Reports and topics" }, fold),
      h("section", { class: "pane middle", "aria-label": "Chosen text" }, this.head, this.body), h("aside", { class: "pane right", "aria-label": "What it rests on" }, this.pane.element)));
    addKeys({
      j: ["Next text", () => this.list.move(this.list.at + 1)], k: ["Previous text", () => this.list.move(this.list.at - 1)],
      "]": ["Next evidence", () => this.pane.step(1)], "[": ["Previous evidence", () => this.pane.step(-1)],
      Enter: ["Its evidence; again: the document there", () => this.pane.enter()],
      t: ["Reports or topics", () => this.turn(this.tab === "topics" ? "reports" : "topics")],
      n: ["Write a report, or summaries", () => this.write()], c: ["Report of a concept", () => conceptForm()], w: ["Write the chosen text again", () => this.writeAgain()],
      "/": ["Search", () => this.search.focus()],
    });
    onJobEnd((job) => { if (JOBS.has(job.kind)) attempt(() => this.takeNew(job)); });
    address.onback(() => attempt(() => this.show()));
  }

  async load() {
    await this.readEntries();
    await this.show();
  }

  async readEntries() {
    const [reports, concepts, topics] = await Promise.all([read("/v1/reports"), read("/v1/concepts"), this.readTopics()]);
    this.entries.reports = grouped("report", reports.data);
    this.topics = topics;
    this.entries.topics = [...grouped("concept", concepts.data), ...topics.map((topic) => (
      { kind: "topic", subject: topic.id, title: topic.name, topic, versions: topic.summaries.toReversed() }))];
  }

  // Without documents there are no topics.
  async readTopics() {
    try {
      return (await read("/v1/topics")).data;
    } catch (error) {
      if (error.status !== 404 && error.status !== 422) throw error;
      return [];
    }
  }

  // What this page had written is opened; what others write only enters the list.
  async takeNew(job) {
    const known = this.urls();
    await this.readEntries();
    const fresh = [...this.urls()].filter(([url]) => !known.has(url)).map(([, place]) => place);
    const isOwn = started.has(job.id);
    if (isOwn && fresh.length) this.open(fresh[0]);
    else if (this.text) { this.entry = this.chosen(); this.filter(); } else await this.show();
    if (isOwn && !fresh.length && job.state === "succeeded") say("Nothing changed: the newest text is still true to its documents.");
  }

  urls() {
    const all = [...this.entries.reports, ...this.entries.topics];
    return new Map(all.flatMap(({ kind, subject, versions }) => versions.map(({ number }) => [`${pathOf(kind, subject)}/${number}`, { kind, subject, number: String(number) }])));
  }

  get tab() { return TAB_OF[address.get("kind")] || "reports"; }

  async show() {
    const { tab } = this;
    this.tabs.forEach((element, at) => {
      const isOpen = Object.keys(TABS)[at] === tab;
      element.setAttribute("aria-selected", String(isOpen));
      element.tabIndex = isOpen ? 0 : -1;
      if (isOpen) this.panel.setAttribute("aria-labelledby", element.id);
    });
    fill(this.start, tab === "reports" ? button("New report", () => reportForm(), { key: "n", class: "main" })
      : [button("Summaries", () => this.write(), { key: "n", class: "main" }), button("Concept", () => conceptForm(), { key: "c" })]);
    this.entry = this.chosen();
    this.filter();
    await this.draw();
  }

  chosen() {
    const entries = this.entries[this.tab];
    const subject = address.get("subject");
    const kind = address.get("kind") || "report";
    return subject ? entries.find((entry) => entry.kind === kind && entry.subject === subject) : entries[0];
  }

  turn(tab) {
    if (tab === this.tab) return;
    address.set({ kind: tab === "topics" ? "topic" : "", subject: "", number: "" }, { push: true });
    attempt(() => this.show());
  }

  pressTab(event) {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    this.turn(this.tab === "topics" ? "reports" : "topics");
    this.tabs[Object.keys(TABS).indexOf(this.tab)].focus();
  }

  filter() {
    const words = this.search.value.toLowerCase();
    this.view = this.entries[this.tab].filter((entry) => entry.title.toLowerCase().includes(words));
    this.list.show(this.view, this.view.indexOf(this.entry));
  }

  renderRow({ kind, title, topic, versions: [newest] }) {
    const sort = kind === "concept" ? "Concept" : topic?.category;
    const state = newest ? `${newest.number} · ${newest.created.slice(0, 10)}` : "no summary";
    return h("div", { class: "element", "aria-selected": "false" }, h("span", { class: "name" }, title),
      h("span", { class: "dim small" }, newest?.stale && h("strong", {}, `${STALE.icon} ${STALE.word} · `), [state, sort].filter(Boolean).join(" · ")));
  }

  choose(entry) { this.open({ kind: entry.kind, subject: entry.subject, number: "" }, { push: false }); }

  open({ kind, subject, number }, { push = true } = {}) {
    address.set({ kind: kind === "report" ? "" : kind, subject, number }, { push });
    attempt(() => this.show());
  }

  async draw() {
    const { entry } = this;
    this.text = null;
    this.pane.show([]);
    if (!entry) { this.drawNone(); return; }
    const wanted = Number(address.get("number"));
    const version = entry.versions.find((one_) => one_.number === wanted) || entry.versions[0];
    if (!version) { this.drawUnwritten(); return; }
    const written = await read(`${pathOf(entry.kind, entry.subject)}/${version.number}`);
    if (entry !== this.entry) return;
    this.text = written.text;
    this.drawHead(written);
    fill(this.body, renderWritten(written.text, (citation) => this.present(citation)));
    this.body.scrollTop = 0;
    this.citations = citationsOf(written.text);
    if (this.citations.length) { this.pane.show(this.citations); this.mark(this.citations[0], false); }
    announce(`${written.text.title}, ${written.number}`);
  }

  drawNone() {
    const isLost = Boolean(address.get("subject"));
    fill(this.head);
    fill(this.body, h("div", { class: "empty" }, h("h2", {}, isLost ? "That text is no longer here" : `No ${TABS[this.tab].toLowerCase()} yet`),
      h("p", {}, this.tab === "reports" ? "A report follows a template, section by section, from the documents of a collection." : "Topics are the main sections of documents. Add files on the page Documents.")));
  }

  drawUnwritten() {
    const { entry } = this;
    fill(this.head, h("h2", {}, entry.title));
    fill(this.body, h("div", { class: "empty" }, h("h2", {}, "No summary yet"), h("p", { class: "verbatim" }, entry.topic.description || [entry.topic.category, entry.topic.section].filter(Boolean).join(", ")),
      button("Write a summary", () => this.writeAgain(), { class: "main", key: "w" })));
  }

  drawHead({ number, created, stale, text, files }) {
    const { entry } = this;
    const numbers = h("select", { "aria-label": "Number", onchange: () => this.open({ ...entry, number: numbers.value }) }, entry.versions.map((version) => h("option", { value: version.number, selected: version.number === number }, `${version.number} · ${version.created.slice(0, 10)}`)));
    const writer = text.writer === "extracts" ? "Sentences of your documents" : `Written by ${text.writer}`;
    fill(this.head, h("h2", {}, text.title), stale && badge(STALE), numbers, button("Write again", () => this.writeAgain(), { key: "w" }),
      menu("Save as", Object.entries(FILES).map(([form, title]) => h("a", { href: local(files[form]), download: "" }, title))), button("Delete", () => this.remove(number), { class: "plain bad" }),
      h("p", { class: "small dim facts" }, [writer, text.collections.join(", "), count(text.sections.length, "section"), count(text.sources.length, "source"), created.slice(0, 16).replace("T", " ")].join(" · ")));
  }

  // A citation of the list of sources is that of a statement, too.
  present(citation) {
    const at = this.citations.findIndex((one_) => one_ === citation || (one_.label === citation.label && one_.quote === citation.quote));
    if (at >= 0) this.pane.present(this.citations, at);
    else this.pane.present([citation]);
    this.mark(this.pane.items[this.pane.at], false);
  }

  // Which statement the evidence is of.
  mark(citation, moves = true) {
    const statements = this.text.sections.flatMap((section) => section.statements);
    const marked = statements.findIndex((statement) => statement.citations.includes(citation));
    this.body.querySelectorAll(".statement").forEach((element, at) => {
      element.classList.toggle("current", at === marked);
      if (moves && at === marked) element.scrollIntoView({ block: "nearest" });
    });
  }

  write() { return this.tab === "reports" ? reportForm() : summariesForm(this.topics); }

  writeAgain() {
    const { entry, text } = this;
    if (!entry) return this.write();
    const collections = [...(text?.collections || [])];
    if (entry.kind === "report") return reportForm(entry.subject, collections);
    if (entry.kind === "concept") return conceptForm(entry.title, collections);
    return summariesForm(this.topics, [entry.subject], collections);
  }

  async remove(number) {
    const { kind, subject, title } = this.entry;
    const agreed = await openDialog(`Delete number ${number} of “${title}”?`, h("p", {}, "Its number is not given again. This cannot be undone."), {
      label: "Delete", agree: () => send(`${pathOf(kind, subject)}/${number}`, { method: "DELETE" }),
    });
    if (!agreed) return;
    address.set({ subject: kind === "topic" ? subject : "", number: "" });
    attempt(() => this.load());
  }
}
