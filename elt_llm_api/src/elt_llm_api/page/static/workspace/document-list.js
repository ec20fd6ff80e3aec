// Collections at the left, the documents of the chosen one, and files to add.

import { address } from "./address.js";
import { one, query, read, send } from "./api.js";
import { attempt, openDialog, say } from "./dialogs.js";
import { button, count, fill, h, local } from "./dom.js";
import { onJobEnd, onJobEvent, startJob } from "./jobs.js";
import { addKeys } from "./keys.js";
import { split } from "./shell.js";

const SCREENFUL = 200;
const KINDS = ".pdf,.docx,.pptx,.xlsx,.csv,.tsv,.html,.htm,.md,.txt,.epub,.xml,.json,.jsonl,.drawio,.archimate,.eml,.nxml";

export const go = (changes) => {
  address.set(changes, { push: true });
  document.dispatchEvent(new Event("elt:go"));
};

export class DocumentList {
  constructor() {
    this.side = h("aside", { class: "pane side", "aria-label": "Collections" });
    this.middle = h("section", { class: "pane page-pad stack", "aria-label": "Documents" });
    this.rows = h("div");
    this.sent = new Map();
    this.upload = h("section", { class: "pane right stack", "aria-label": "Add files" });
    this.element = split(this.side, this.middle, this.upload);
    this.drawUpload();
    onJobEnd((job) => { if (job.kind === "ingest") { this.endUpload(job); attempt(() => this.show()); } });
    onJobEvent((job, progress) => this.noteProgress(job, progress));
    addKeys({ "/": ["Search", () => document.querySelector("main input[type=search]")?.focus()] });
  }

  async show() {
    const { data } = await read("/v1/collections");
    this.cards = data;
    const wanted = address.get("collection");
    this.card = data.find((card) => card.name === wanted) || data[0];
    this.drawSide();
    this.place.value ||= this.card?.name || "";
    if (!this.card) {
      fill(this.middle, h("div", { class: "empty" }, h("h2", {}, "No documents yet"), h("p", {}, "Add files at the right, or run "), h("code", {}, "elt-llm demo")));
      return;
    }
    await this.drawRows();
  }

  drawSide() {
    fill(this.side, h("h2", { class: "caption" }, "Collections"), h("ul", { class: "links-list" }, this.cards.map((card) => h("li", {},
      h("a", { href: local(`/workspace/documents${query({ collection: card.name })}`), "aria-current": card === this.card ? "true" : undefined,
        onclick: (event) => { event.preventDefault(); go({ collection: card.name }); } },
      h("span", {}, card.title || card.name), h("b", {}, card.documents.toLocaleString("en")))))));
  }

  async drawRows() {
    const { card } = this;
    const path = `/v1/collections/${one(card.name)}`;
    const rows = [];
    for (let cursor = 0; cursor !== null;) {
      const screen = await read(`${path}/documents${query({ limit: 1000, cursor: String(cursor) })}`);
      rows.push(...screen.data);
      cursor = screen.next_cursor;
    }
    const search = h("input", { type: "search", placeholder: "Search documents", "aria-label": "Search documents", oninput: () => draw() });
    const draw = () => {
      const words = search.value.toLowerCase();
      const shown = rows.filter((row) => `${row.title} ${row.name}`.toLowerCase().includes(words));
      fill(this.rows, this.table(shown.slice(0, SCREENFUL)), shown.length > SCREENFUL && h("p", { class: "dim" }, `${SCREENFUL} of ${shown.length} shown: search for the others`));
    };
    draw();
    fill(this.middle,
      h("div", { class: "row" }, h("h2", {}, card.title || card.name), card.title && h("code", { class: "dim" }, card.name)),
      h("p", { class: "dim small" }, [count(card.documents, "document"), count(card.chunks, "chunk"), `embedder ${card.embedder}`].join(" · ")),
      card.degradations.map((one_) => h("p", { class: "note" }, one_.detail)),
      h("div", { class: "row" }, h("div", { class: "grow" }, search), button("Rename", () => this.rename(path, card.title || card.name, `Its id stays ${card.name}.`)),
        button("Remove", () => this.remove(path, card.title || card.name, `${count(card.documents, "document")} and ${count(card.chunks, "chunk")}, with the files that were kept`), { class: "bad" })),
      this.rows);
  }

  table(rows) {
    const head = ["Document", "Pages", "Chunks", "State", ""].map((text, at) => h("th", { scope: "col", class: at === 1 || at === 2 ? "number" : "" }, text || h("span", { class: "unseen" }, "Actions")));
    return h("div", { class: "scroll" }, h("table", { class: "documents" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows.map((row) => this.row(row)))));
  }

  row(row) {
    const path = `/v1/documents/${one(row.document_id)}`;
    const name = row.title || row.name;
    const warnings = row.warnings.length > 0
      ? h("details", {}, h("summary", { class: "badge near" }, `⚠ ${count(row.warnings.length, "warning")}`), h("ul", { class: "verbatim" }, row.warnings.map((text) => h("li", {}, text))))
      : h("span", { class: "badge good" }, "✔ read");
    return h("tr", {},
      h("td", {}, h("a", { href: local(`/workspace/documents${query({ document: row.document_id })}`), onclick: (event) => { event.preventDefault(); go({ document: row.document_id, collection: row.collection }); } }, name),
        h("div", { class: "dim" }, [row.title && row.name, row.part].filter(Boolean).join(" · "))),
      h("td", { class: "number" }, row.pages || ""), h("td", { class: "number" }, row.chunks), h("td", {}, warnings),
      h("td", {}, h("div", { class: "row" }, button("Rename", () => this.rename(path, name, "Until the file is read again."), { class: "plain", "aria-label": `Rename ${name}` }),
        button("Remove", () => this.remove(path, name, count(row.chunks, "chunk")), { class: "plain bad", "aria-label": `Remove ${name}` }))));
  }

  async rename(path, name, effect) {
    const field = h("input", { type: "text", maxlength: "200", required: true, value: name });
    const agreed = await openDialog("Rename", h("label", { class: "field" }, h("span", {}, effect), field), {
      label: "Rename", agree: () => read(path, { method: "PATCH", body: { title: field.value } }),
    });
    if (agreed) attempt(() => this.show());
  }

  async remove(path, name, what) {
    const agreed = await openDialog(`Remove “${name}”?`, h("p", {}, `It is removed with ${what}. This cannot be undone.`), {
      label: "Remove", tone: "main", agree: () => send(path, { method: "DELETE" }),
    });
    if (!agreed) return;
    say(`“${name}” was removed`);
    attempt(() => this.show());
  }

  drawUpload() {
    this.place = h("input", { type: "text", maxlength: "63", placeholder: "handbook", "aria-describedby": "place-help" });
    this.password = h("input", { type: "password", maxlength: "500", autocomplete: "new-password" });
    const picker = h("input", { type: "file", multiple: true, accept: KINDS, class: "unseen", id: "picker", onchange: () => { this.choose([...picker.files]); picker.value = ""; } });
    this.list = h("ul", { class: "stack uploads" });
    this.start = button("Add documents", () => attempt(() => this.begin()), { class: "main", disabled: true });
    const drop = h("label", { class: "drop", for: "picker", ondragover: (event) => event.preventDefault(), ondrop: (event) => { event.preventDefault(); this.choose([...event.dataTransfer.files]); } }, "Drop files here, or choose them");
    fill(this.upload, h("h2", {}, "Add files"), picker, drop, this.list,
      h("label", { class: "field" }, h("span", {}, "Collection"), this.place),
      h("p", { class: "dim small", id: "place-help" }, "A new one, or one to add to: lower-case letters, digits, - and _. A file of the same name replaces its document."),
      h("label", { class: "field" }, h("span", {}, "Password, only for protected PDFs; it is not kept"), this.password), this.start);
  }

  choose(files) {
    for (const file of files) this.sent.set(file.name, { file, state: "waits" });
    this.drawSent();
  }

  drawSent() {
    const tones = { waits: "", reading: "near", done: "good", failed: "bad" };
    fill(this.list, [...this.sent].map(([name, one_]) => h("li", { class: "row" }, h("span", { class: "grow verbatim" }, name), h("span", { class: "dim small" }, `${Math.ceil(one_.file.size / 1000).toLocaleString("en")} kB`),
      h("span", { class: `badge ${tones[one_.state]}` }, one_.state), one_.state === "waits" && button("✕", () => { this.sent.delete(name); this.drawSent(); }, { class: "plain", "aria-label": `Leave out ${name}` }), one_.why && h("p", { class: "small dim" }, one_.why))));
    this.start.disabled = ![...this.sent.values()].some((one_) => one_.state === "waits");
  }

  async begin() {
    const waiting = [...this.sent.values()].filter((one_) => one_.state === "waits");
    const job = await startJob({ kind: "ingest", collection: this.place.value.trim(), password: this.password.value }, waiting.map((one_) => one_.file));
    this.password.value = "";
    for (const one_ of waiting) Object.assign(one_, { state: "reading", job: job.id });
    this.drawSent();
  }

  noteProgress(job, { detail }) {
    const named = this.sent.get(detail);
    if (named?.job === job.id && named.why !== "being read") { named.why = "being read"; this.drawSent(); }
  }

  endUpload(job) {
    for (const [name, one_] of this.sent) {
      if (one_.job !== job.id) continue;
      const notes = job.degradations.filter((note) => note.detail.includes(name));
      const failed = job.state === "failed" || notes.some((note) => note.kind === "document_failed");
      one_.state = failed ? "failed" : "done";
      one_.why = (notes[0]?.detail || job.problem?.detail || "").slice(0, 300);
    }
    this.drawSent();
  }
}
