// A list of which only the rows in view are in the DOM. Rows are of one height; the list is
// one tab stop, and the current row is told by `aria-activedescendant`.

import { fill, h } from "./dom.js";

const BEYOND = 6; // rows above and below what is seen, so that scrolling shows no gaps

export class VirtualList {
  constructor({ label, height, render, onmove }) {
    Object.assign(this, { height, render, onmove, rows: [], at: -1 });
    this.sizer = h("div", { class: "sizer", role: "presentation" });
    this.element = h("div", {
      class: "list", role: "listbox", tabindex: "0", "aria-label": label, "aria-multiselectable": "true",
      onscroll: () => this.draw(), onkeydown: (event) => this.press(event),
    }, this.sizer);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(rows, at) {
    this.rows = rows;
    this.at = Math.min(at, rows.length - 1);
    this.sizer.style.height = `${rows.length * this.height}px`;
    this.reveal();
    this.draw();
  }

  move(to) {
    if (!this.rows.length) return;
    this.at = Math.max(0, Math.min(this.rows.length - 1, to));
    this.reveal();
    this.draw();
    this.onmove(this.rows[this.at], this.at);
  }

  press(event) {
    const screen = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 1);
    const steps = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + screen, PageUp: this.at - screen, Home: 0, End: this.rows.length - 1 };
    if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.move(steps[event.key]);
  }

  reveal() {
    if (this.at < 0) return;
    const top = this.at * this.height;
    const seen = this.element.clientHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (seen && top + this.height > this.element.scrollTop + seen) this.element.scrollTop = top + this.height - seen;
  }

  draw() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.height) - BEYOND);
    const last = Math.min(this.rows.length, Math.ceil((this.element.scrollTop + this.element.clientHeight) / this.height) + BEYOND);
    const made = [];
    for (let at = first; at < last; at += 1) {
      const row = this.render(this.rows[at], at === this.at);
      row.id = `row-${at}`;
      row.setAttribute("role", "option");
      row.setAttribute("aria-setsize", this.rows.length);
      row.setAttribute("aria-posinset", at + 1);
      row.style.top = `${at * this.height}px`;
      row.classList.toggle("current", at === this.at);
      row.addEventListener("click", () => this.move(at));
      made.push(row);
    }
    fill(this.sizer, made);
    if (this.at >= first && this.at < last) this.element.setAttribute("aria-activedescendant", `row-${this.at}`);
    else this.element.removeAttribute("aria-activedescendant");
  }
}
