// A document page by page: its picture with the blocks of each kind, its text beside it.

import { address } from "./address.js";
import { one, query, read } from "./api.js";
import { announce, attempt } from "./dialogs.js";
import { button, count, fill, h, later, local, save } from "./dom.js";
import { drawBoxes, readPage, splitAtQuote } from "./evidence.js";
import { go } from "./document-list.js";
import { addKeys } from "./keys.js";
import { split } from "./shell.js";
import { word } from "./verdicts.js";

const SCALE = "1.5";
const OFF = new Set(["furniture"]); // shown when asked for

export class Viewer {
  constructor() {
    this.off = new Set(OFF);
    this.marks = false;
    this.kinds = h("div");
    this.outline = h("nav", { "aria-label": "Headings" });
    this.hits = h("div", { role: "status" });
    this.search = h("input", { type: "search", placeholder: "Search within", "aria-label": "Search within the document", maxlength: "400", oninput: later(250, () => attempt(() => this.find())) });
    const fold = h("details", { class: "facet-fold", open: matchMedia("(min-width: 901px)").matches }, h("summary", {}, "Search, headings, blocks"),
      h("div", { class: "stack facets" }, this.search, this.hits, this.kinds, h("h2", { class: "caption" }, "Headings"), this.outline));
    const side = h("aside", { class: "pane side", "aria-label": "Find" }, fold);
    this.title = h("h2", {});
    this.number = h("input", { type: "text", inputmode: "numeric", class: "page-number", "aria-label": "Page", onchange: () => this.turn(Number(this.number.value) || this.at) });
    this.of = h("span", { class: "dim" });
    this.holder = h("div", { class: "page-holder" });
    this.links = h("span", { class: "row" });
    this.sheet = h("div", { class: "sheet-scroll", tabindex: "0", role: "region", "aria-label": "Page" }, this.holder);
    const middle = h("section", { class: "pane middle", "aria-label": "Page as printed" },
      h("div", { class: "toolbar" }, button("◂ Documents", () => go({ document: "", page: "", quote: "" }), { class: "plain" }), this.title),
      h("div", { class: "toolbar" }, button("Previous", () => this.turn(this.at - 1), { key: "k" }), this.number, this.of, button("Next", () => this.turn(this.at + 1), { key: "j" }), this.links), this.sheet);
    this.text = h("aside", { class: "pane right page-text", "aria-label": "Text", tabindex: "0" });
    this.element = split(side, middle, this.text);
    addKeys({
      j: ["Next page", () => this.turn(this.at + 1)], k: ["Previous page", () => this.turn(this.at - 1)],
      ArrowRight: ["", () => this.turn(this.at + 1)], ArrowLeft: ["", () => this.turn(this.at - 1)],
    });
  }

  async show() {
    const id = address.get("document");
    if (id !== this.id) {
      this.id = id;
      this.document = await read(`/v1/documents/${one(id)}`);
      fill(this.title, this.document.title || this.document.name);
      document.title = `${this.document.title || this.document.name} · elt_llm`;
      this.search.value = "";
      fill(this.hits);
      fill(this.links, this.document.content_url && h("a", { href: local(this.document.content_url), target: "_blank", rel: "noopener" }, "The file"),
        this.document.warnings.length > 0 && h("details", {}, h("summary", { class: "badge near" }, `⚠ ${count(this.document.warnings.length, "warning")}`), h("ul", { class: "verbatim small" }, this.document.warnings.map((text) => h("li", {}, text)))));
      this.drawOutline();
    }
    this.quote = address.get("quote");
    let page = Number(address.get("page")) || 0;
    if (!page && this.quote) {
      const { data } = await read(`/v1/documents/${one(id)}/find${query({ words: this.quote })}`);
      page = data[0]?.page || 1;
    }
    await this.open(page || 1);
  }

  async drawOutline() {
    const { data } = await read(`/v1/documents/${one(this.id)}/outline`);
    fill(this.outline, data.length > 0 ? h("ul", { class: "outline" }, data.slice(0, 400).map((entry) => h("li", { class: `level-${Math.min(4, entry.level)}` },
      button([h("span", {}, entry.title), h("b", {}, entry.page)], () => this.turn(entry.page), { class: "plain" })))) : h("p", { class: "dim small" }, "It has no headings."));
  }

  turn(number) {
    if (!this.pages || number === this.at) return;
    const to = Math.max(1, Math.min(this.pages, number));
    address.set({ page: String(to), quote: "" });
    this.quote = "";
    attempt(() => this.open(to));
  }

  async open(number) {
    this.at = number;
    this.number.value = number;
    const page = await readPage(this.id, number);
    if (this.at !== number) return;
    this.pages = page.pages;
    this.page = page;
    fill(this.of, `of ${page.pages.toLocaleString("en")}`);
    this.drawPage();
    this.drawText();
    this.drawKinds();
    announce(`Page ${number} of ${page.pages}`);
    for (const near of [number + 1, number - 1]) if (near >= 1 && near <= page.pages) this.prepare(near);
  }

  prepare(number) {
    readPage(this.id, number).then((page) => { if (page.image) new Image().src = this.picture(page); }, () => {});
  }

  picture(page) { return local(`${page.image}?scale=${SCALE}`); }

  drawPage() {
    const { page } = this;
    if (!page.image) {
      fill(this.holder, h("p", { class: "dim" }, "This kind of document has no pages to look at; its text stands at the side."));
      return;
    }
    const image = h("img", { src: this.picture(page), alt: `Page ${page.number}` });
    fill(this.holder, image);
    const marked = this.quote ? page.blocks.filter((block) => block.box && this.touches(block)) : [];
    drawBoxes(this.holder, marked.map((block) => block.box));
    if (this.marks) {
      const shown = page.blocks.filter((block) => block.box && !this.off.has(this.kindOf(block)));
      drawBoxes(this.holder, shown.map((block) => ({ ...block.box, kind: this.kindOf(block) })), (box) => h("span", { class: `block-box ${box.kind}`, title: word(box.kind) }));
    }
    if (marked.length) image.addEventListener("load", () => { this.sheet.scrollTop = Math.max(0, marked[0].box.top * image.clientHeight - 120); });
    else this.sheet.scrollTop = 0;
  }

  kindOf(block) { return block.doubtful ? "doubtful" : block.kind; }

  touches(block) {
    return Boolean(splitAtQuote(block.text, this.quote) || (block.text.length > 20 && splitAtQuote(this.quote, block.text)));
  }

  drawKinds() {
    const kinds = new Map();
    for (const block of this.page.blocks) kinds.set(this.kindOf(block), (kinds.get(this.kindOf(block)) || 0) + 1);
    const redraw = () => { this.drawPage(); this.drawText(); };
    fill(this.kinds, h("fieldset", {}, h("legend", {}, "Blocks of this page"),
      this.page.image && h("label", {}, h("input", { type: "checkbox", checked: this.marks, onchange: (event) => { this.marks = event.target.checked; redraw(); } }), h("span", {}, "Draw them on the page")),
      [...kinds].map(([kind, number]) => h("label", {}, h("input", { type: "checkbox", checked: !this.off.has(kind), onchange: (event) => { this.off[event.target.checked ? "delete" : "add"](kind); redraw(); } }),
        h("span", { class: `kind ${kind}` }, kind === "doubtful" ? "Doubtful order" : word(kind)), h("b", {}, number)))));
  }

  drawText() {
    const parts = [];
    let table = [];
    const close = () => { if (table.length) parts.push(this.grid(table)); table = []; };
    for (const block of this.page.blocks) {
      if (this.off.has(this.kindOf(block))) continue;
      if (block.cells.length && (!table.length || table[0].table === block.table)) { table.push(block); continue; }
      close();
      if (block.cells.length) table.push(block); else parts.push(this.block(block));
    }
    close();
    fill(this.text, parts);
    this.text.querySelector("mark")?.scrollIntoView({ block: "center" });
  }

  block(block) {
    const text = this.quote && this.touches(block) && !splitAtQuote(block.text, this.quote) ? h("mark", {}, block.text) : this.mark(block.text);
    const name = block.kind === "heading" ? "h3" : "p";
    return h(name, { class: `verbatim block ${block.kind}` }, text);
  }

  // The text with the words that are looked for marked.
  mark(text) {
    const words = this.search.value.trim() || this.quote;
    const parts = words && splitAtQuote(text, words);
    return parts ? [parts[0], h("mark", {}, parts[1]), parts[2]] : text;
  }

  grid(rows) {
    const lines = rows.map((row) => row.cells);
    const csv = () => save("table.csv", lines.map((cells) => cells.map(csvCell).join(",")).join("\r\n"), "text/csv");
    return h("figure", { class: "stack" }, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" }, h("table", { class: "grid" }, h("tbody", {}, lines.map((cells) => h("tr", {}, cells.map((text) => h("td", { class: "verbatim" }, this.mark(text)))))))), button("CSV", csv));
  }

  async find() {
    const words = this.search.value.trim();
    if (!words) { fill(this.hits); this.drawText(); return; }
    const { data, total } = await read(`/v1/documents/${one(this.id)}/find${query({ words })}`);
    fill(this.hits, h("p", { class: "small dim" }, count(total, "place")), h("ul", { class: "hits" }, data.map((match) => h("li", {}, button([
      h("b", {}, `p. ${match.page}`), h("span", {}, match.text.slice(Math.max(0, match.at - 30), match.at), h("mark", {}, match.text.slice(match.at, match.at + match.length)), match.text.slice(match.at + match.length, match.at + match.length + 30)),
    ], () => { if (match.page === this.at) this.drawText(); else this.turn(match.page); }, { class: "plain" })))));
    this.drawText();
  }
}

// A cell that a spreadsheet would take for a formula is marked as text.
const csvCell = (text) => {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
};
