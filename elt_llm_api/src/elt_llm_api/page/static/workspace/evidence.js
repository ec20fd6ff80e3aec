// The evidence pane, the same on every page: the page with its boxes, the quote in its text,
// the verdict in words. `show` takes what the HTTP API calls evidence or citations.

import { one, query, read } from "./api.js";
import { announce } from "./dialogs.js";
import { badge, button, fill, h, local, unwrap } from "./dom.js";
import { onJobEnd } from "./jobs.js";
import { NEAREST, isTable, verdict, word } from "./verdicts.js";

const KEPT_PAGES = 30;
const pages = new Map();
onJobEnd((job) => { if (job.kind === "ingest") pages.clear(); });

export const readPage = (documentId, number) => {
  const path = `/v1/documents/${one(documentId)}/pages/${number}`;
  if (!pages.has(path)) {
    pages.set(path, read(path).catch((error) => { pages.delete(path); throw error; }));
    if (pages.size > KEPT_PAGES) pages.delete(pages.keys().next().value);
  }
  return pages.get(path);
};

// Evidence of a review has its boxes in the address of its picture.
export const boxesOf = (evidence) => {
  if (evidence.boxes) return evidence.boxes.filter((box) => !evidence.page || box.page === evidence.page);
  const text = evidence.image ? new URL(evidence.image, location.href).searchParams.get("boxes") || "" : "";
  return text.split(";").filter(Boolean).map((part) => {
    const [left, top, right, bottom] = part.split(",").map(Number);
    return { left, top, right, bottom };
  });
};

export const drawBoxes = (host, boxes, make = () => h("span", { class: "page-box" })) => {
  for (const box of boxes) {
    const mark = make(box);
    Object.assign(mark.style, {
      left: `${box.left * 100}%`, top: `${box.top * 100}%`,
      width: `${(box.right - box.left) * 100}%`, height: `${(box.bottom - box.top) * 100}%`,
    });
    host.append(mark);
  }
};

const fold = (text) => {
  let folded = "";
  const places = [];
  for (let at = 0; at < text.length; at += 1) {
    const letter = /\s/.test(text[at]) ? " " : text[at].toLowerCase();
    if (letter === " " && (folded === "" || folded.endsWith(" "))) continue;
    folded += letter;
    for (let n = 0; n < letter.length; n += 1) places.push(at);
  }
  return { folded, places };
};

// Where a quote stands in a text, whatever its spacing; the pieces around it and it.
export const splitAtQuote = (text, quote) => {
  const there = fold(text);
  const wanted = fold(quote).folded.trim();
  const at = wanted ? there.folded.indexOf(wanted) : -1;
  if (at < 0) return null;
  const start = there.places[at];
  const end = there.places[at + wanted.length - 1] + 1;
  return [text.slice(0, start), text.slice(start, end), text.slice(end)];
};

// The row of a table that is quoted, by its place if several have the words.
const findRow = (blocks, evidence) => {
  const rows = blocks.filter((block) => block.columns.some(Boolean) && splitAtQuote(block.text, evidence.quote));
  const tops = boxesOf(evidence).map((box) => (box.top + box.bottom) / 2);
  return rows.find(({ box }) => box && tops.some((top) => box.top <= top && top <= box.bottom)) || rows[0];
};

// A row as its headings and values below each other: a wide row does not fit beside the text.
const drawRecord = (row, quote) => {
  const at = row.cells.findIndex((text) => fold(text).folded.trim() === fold(quote).folded.trim());
  const first = at < 0 ? row.cells.findIndex((text) => splitAtQuote(text, quote)) : at;
  const mark = (text, index) => {
    if (first < 0) return text && splitAtQuote(quote, text) ? h("mark", {}, text) : text;
    const parts = index === first && splitAtQuote(text, quote);
    return parts ? [parts[0], h("mark", {}, parts[1]), parts[2]] : text;
  };
  return h("table", { class: "record" }, h("tbody", {}, row.cells.map((text, index) => text && h("tr", {}, h("th", { scope: "row" }, row.columns[index]), h("td", { class: "verbatim" }, mark(text, index))))));
};

const AROUND = 320;
const shorten = ([before, quote, after]) => [
  before.length > AROUND ? `… ${before.slice(-AROUND).replace(/^\S*\s/, "")}` : before,
  quote,
  after.length > AROUND ? `${after.slice(0, AROUND).replace(/\s\S*$/, "")} …` : after,
];

export const documentAddress = (evidence) =>
  `/workspace/documents${query({ document: evidence.document_id, page: evidence.page || "", quote: (evidence.quote || "").slice(0, 300) })}`;

export class EvidencePane {
  // `onstep` is called with the evidence that a step of the pager leads to.
  constructor({ empty = "Choose a row to see what it rests on.", onstep } = {}) {
    this.element = h("section", { class: "evidence", "aria-label": "Evidence", tabindex: "-1" });
    Object.assign(this, { empty, onstep });
    this.items = [];
    this.show([]);
  }

  show(items, at = 0) {
    this.items = items;
    this.at = Math.min(at, Math.max(0, items.length - 1));
    this.draw();
  }

  // As `show`, where a person asked for it: on a phone the pane comes into view.
  present(items, at = 0) {
    this.show(items, at);
    if (matchMedia("(max-width: 900px)").matches) this.element.scrollIntoView({ block: "start" });
    announce(`Evidence: ${items[at]?.document || ""}`);
  }

  // The keyboard comes here; once it is here, to the document.
  enter() {
    if (document.activeElement === this.element) this.element.querySelector(".links a")?.click();
    else this.element.focus();
  }

  step(by) {
    if (this.items.length < 2) return;
    this.at = (this.at + by + this.items.length) % this.items.length;
    this.draw();
    this.onstep?.(this.items[this.at]);
  }

  draw() {
    const evidence = this.items[this.at];
    if (!evidence) {
      fill(this.element, h("p", { class: "dim" }, this.empty));
      return;
    }
    const quote = h("blockquote", { class: "verbatim", tabindex: "0", "aria-label": "The passage" }, h("mark", {}, unwrap(evidence.quote)));
    const sheet = h("div", { class: "sheet", hidden: true, tabindex: "0", role: "region", "aria-label": "The page" });
    fill(this.element, this.head(evidence), sheet, quote, this.links(evidence));
    this.showPage(evidence, sheet);
    this.showText(evidence, quote);
  }

  head(evidence) {
    const proof = evidence.nearest ? NEAREST : verdict(evidence.support, isTable(evidence));
    const many = this.items.length > 1;
    return h("header", { class: "stack" },
      h("div", { class: "place" },
        h("h2", {}, evidence.document || "Unknown document"),
        evidence.page && h("span", { class: "dim" }, `page ${evidence.page}`)),
      h("p", { class: "dim small" }, evidence.section),
      h("div", { class: "row" },
        badge(proof),
        evidence.field && h("span", { class: "dim small" }, word(evidence.field)),
        many && h("span", { class: "pager" },
          button("◂", () => this.step(-1), { "aria-label": "Previous evidence" }),
          h("span", { class: "small" }, `${this.at + 1} of ${this.items.length}`),
          button("▸", () => this.step(1), { "aria-label": "Next evidence" }))),
      proof.why && h("p", { class: "small dim" }, proof.why));
  }

  links(evidence) {
    if (!evidence.document_id) {
      return h("div", { class: "stack small" }, h("p", { class: "dim" }, evidence.note || "The document is no longer here."),
        evidence.newer_id && h("p", { class: "links" }, h("a", { href: local(documentAddress({ document_id: evidence.newer_id })) }, "Open the document as it is now")));
    }
    return h("p", { class: "links" },
      h("a", { href: local(documentAddress(evidence)) }, "Open the document here"),
      h("a", { href: local(`/v1/documents/${one(evidence.document_id)}/content`), target: "_blank", rel: "noopener" }, "The file"));
  }

  async showPage(evidence, sheet) {
    if (!evidence.document_id || !evidence.page || evidence.image === null) return;
    // A sheet of a workbook has a number but no picture.
    const page = await readPage(evidence.document_id, evidence.page).catch(() => null);
    if (!page?.image || evidence !== this.items[this.at]) return;
    const source = `/v1/documents/${one(evidence.document_id)}/pages/${evidence.page}.jpg?scale=1.5`;
    const boxes = boxesOf(evidence);
    const holder = h("div");
    const image = h("img", { alt: `Page ${evidence.page} of ${evidence.document}`, decoding: "async" });
    image.addEventListener("load", () => {
      if (evidence !== this.items[this.at]) return;
      sheet.hidden = false;
      drawBoxes(holder, boxes);
      if (boxes.length) sheet.scrollTop = Math.max(0, boxes[0].top * image.clientHeight - sheet.clientHeight / 3);
    });
    image.src = local(source);
    sheet.append(put(holder, image));
  }

  async showText(evidence, quote) {
    if (!evidence.document_id || !evidence.quote) return;
    let number = evidence.page;
    try {
      if (!number) {
        const words = evidence.quote.slice(0, 300);
        const { data } = await read(`/v1/documents/${one(evidence.document_id)}/find${query({ words })}`);
        number = data[0]?.page;
      }
      if (!number) return;
      const page = await readPage(evidence.document_id, number);
      const row = page.image ? null : findRow(page.blocks, evidence);
      if (row && evidence === this.items[this.at]) { fill(quote, drawRecord(row, evidence.quote)); return; }
      const parts = splitAtQuote(page.blocks.filter((block) => block.kind !== "furniture").map((block) => unwrap(block.text)).join("\n\n"), evidence.quote);
      if (!parts || evidence !== this.items[this.at]) return;
      const [before, words, after] = shorten(parts);
      fill(quote, before, h("mark", {}, words), after);
      // Within the quote only: the texts above it, which are decided on, keep their place.
      const below = quote.querySelector("mark").getBoundingClientRect().bottom - quote.getBoundingClientRect().bottom;
      if (below > 0) quote.scrollTop = below + quote.clientHeight / 3;
    } catch {
      // The quote stands there without what is around it.
    }
  }
}

const put = (element, child) => { element.append(child); return element; };
