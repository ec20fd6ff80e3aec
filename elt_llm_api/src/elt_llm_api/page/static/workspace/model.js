// The enterprise model: a diagram to pan, zoom and click, the same elements as a list, and
// what the model says of the chosen one. The server lays the diagram out.

import { address } from "./address.js";
import { one, query, read } from "./api.js";
import { Diagram } from "./diagram.js";
import { attempt, say } from "./dialogs.js";
import { button, count, fill, h, local } from "./dom.js";
import { addKeys } from "./keys.js";
import { split } from "./shell.js";
import { VirtualList } from "./virtual-list.js";

const MOST = 1000; // elements of a diagram: more cannot be told apart on a screen
const ROW_HEIGHT = 44;

export class ModelPage {
  constructor(host) {
    this.search = h("input", { type: "search", placeholder: "Search elements", "aria-label": "Search elements", maxlength: "200", oninput: () => this.filter() });
    this.question = h("input", { type: "search", placeholder: "Ask the model", "aria-label": "Question about the model", maxlength: "2000", title: "How many …? What depends on …? Which domain holds …?" });
    const ask = h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); this.ask(this.question.value.trim()); } }, this.question);
    this.domain = h("select", { "aria-label": "Domain", onchange: () => { address.set({ domain: this.domain.value, element: "", to: "", around: "" }, { push: true }); attempt(() => this.draw()); } });
    this.types = h("div", { class: "facets" });
    this.off = new Set();
    this.list = new VirtualList({ label: "Elements", height: ROW_HEIGHT, render: (node) => this.renderRow(node), onmove: (node) => this.choose(node.id) });
    this.diagram = new Diagram((id) => this.choose(id));
    this.detail = h("aside", { class: "pane right stack", "aria-label": "Chosen element" });
    this.picture = h("a", { class: "button", download: "model.svg" }, "SVG");
    this.tally = h("span", { class: "small dim", role: "status" });
    const wide = matchMedia("(min-width: 901px)").matches;
    const side = h("aside", { class: "pane side model-side", "aria-label": "Elements" }, ask, this.search, this.domain,
      h("details", { class: "facet-fold", open: wide }, h("summary", {}, "Kinds"), this.types), this.list.element);
    const middle = h("section", { class: "pane middle", "aria-label": "Diagram" },
      h("div", { class: "toolbar" }, button("Whole", () => this.whole(), { key: "f" }), button("Closer", () => this.diagram.zoom(1.25), { key: "+" }), button("Farther", () => this.diagram.zoom(0.8), { key: "-" }),
        button("Around it", () => this.around(), { key: "o" }), button("Path from here", () => this.beginPath(), { key: "p" }), this.tally, h("span", { class: "grow" }),
        this.picture),
      this.diagram.element);
    host.append(split(side, middle, this.detail));
    addKeys({
      j: ["Next element", () => this.list.move(this.list.at + 1)], k: ["Previous element", () => this.list.move(this.list.at - 1)], "/": ["Search", () => this.search.focus()], a: ["Ask the model", () => this.question.focus()],
      f: ["The whole diagram", () => this.whole()], "+": ["Closer", () => this.diagram.zoom(1.25)], "-": ["Farther", () => this.diagram.zoom(0.8)],
      o: ["Only what is around the element", () => this.around()], p: ["Path from the element to another", () => this.beginPath()], Escape: ["", () => this.endPath()],
    });
    address.onback(() => attempt(() => this.draw()));
  }

  async load() {
    try {
      this.summary = await read("/v1/graph");
    } catch (error) {
      if (error.status !== 404 && error.status !== 422) throw error;
      fill(this.detail, h("div", { class: "empty" }, h("h2", {}, "No model yet"), h("p", {}, "Add a drawing, an inventory or an exchange file on the page Documents.")));
      return;
    }
    fill(this.domain, h("option", { value: "" }, "All domains"), Object.entries(this.summary.domains).map(([name, number]) => h("option", { value: name }, `${name || "without a domain"} (${number})`)));
    await this.draw();
  }

  async draw() {
    this.domain.value = address.get("domain");
    const around = address.get("around");
    const asked = around ? { element: around, hops: "1" } : { domain: address.get("domain") };
    const part = query({ ...asked, most: String(MOST) });
    const drawn = await read(`/v1/graph/diagram${part}`);
    this.picture.setAttribute("href", `/v1/graph/diagram.svg${part}`);
    this.nodes = drawn.nodes;
    this.byId = new Map(drawn.nodes.map((node) => [node.id, node]));
    this.diagram.show(drawn);
    fill(this.tally, [count(drawn.nodes.length, "element"), count(drawn.edges.length, "line"), drawn.left_out && `${drawn.left_out} left out`].filter(Boolean).join(" · "));
    this.drawTypes();
    this.filter();
    const chosen = address.get("element");
    if (chosen && address.get("to")) await this.showPath(chosen, address.get("to"));
    else if (this.byId.has(chosen)) await this.choose(chosen);
    else this.describe();
  }

  drawTypes() {
    const counts = new Map();
    for (const node of this.nodes) counts.set(node.type, (counts.get(node.type) || 0) + 1);
    fill(this.types, h("fieldset", {}, h("legend", {}, "Kinds"), [...counts].map(([type, number]) => h("label", {}, h("input", { type: "checkbox", checked: !this.off.has(type), onchange: (event) => {
      this.off[event.target.checked ? "delete" : "add"](type);
      this.filter();
    } }), h("span", {}, type || "no type"), h("b", {}, number)))));
  }

  filter() {
    const words = this.search.value.toLowerCase();
    const shown = this.nodes.filter((node) => !this.off.has(node.type));
    this.view = shown.filter((node) => node.name.toLowerCase().includes(words)).sort((a, b) => a.name.localeCompare(b.name));
    this.list.show(this.view, this.view.findIndex((node) => node.id === this.chosen));
    this.diagram.only(new Set(shown.map((node) => node.id)));
  }

  renderRow(node) {
    return h("div", { class: "element", "aria-selected": String(node.id === this.chosen) }, h("span", { class: "name" }, node.name), h("span", { class: "dim small" }, [node.type, node.domain !== node.name && node.domain].filter(Boolean).join(" · ")));
  }

  async choose(id) {
    if (this.pathFrom && this.pathFrom !== id) { await this.showPath(this.pathFrom, id); return; }
    this.chosen = id;
    address.set({ element: id, to: "" });
    const at = this.view.findIndex((node) => node.id === id);
    if (at >= 0 && at !== this.list.at) this.list.show(this.view, at);
    this.diagram.choose(id);
    await attempt(async () => {
      const detail = await read(`/v1/graph/element${query({ element: id })}`);
      if (this.chosen === id) this.describe(detail);
    });
  }

  describe(detail) {
    if (!detail) {
      const { summary } = this;
      const rows = (title, values) => Object.keys(values).length > 0 && h("section", {}, h("h3", {}, title), h("table", {}, h("tbody", {}, Object.entries(values).map(([name, number]) => h("tr", {}, h("td", {}, name || "none"), h("td", { class: "number" }, number))))));
      fill(this.detail, h("h2", {}, summary.name || "The model"), h("p", { class: "dim small" }, [count(summary.elements, "element"), count(summary.relations, "relation"), count(summary.views, "view"), summary.skips && `${summary.skips} skipped`].filter(Boolean).join(" · ")),
        h("p", { class: "small verbatim" }, summary.files.join(", ")), rows("Elements by type", summary.types), rows("Relations by type", summary.relation_types));
      return;
    }
    const { element } = detail;
    const go = (id, name) => this.link(id, name);
    const relation = (line) => h("li", {}, h("span", { class: "verbatim" }, line.text), " ", go(line.source_id === element.id ? line.target_id : line.source_id, line.source_id === element.id ? line.target : line.source));
    const facts = [["Type", element.type], ["Domain", element.domain], ["Group", element.subtype], ["Level", element.level], ["Status", element.status], ["Fact sheet", element.fact_sheet_id]].filter(([, text]) => text);
    const question = `What is ${element.name}?`;
    fill(this.detail, h("h2", {}, element.name),
      h("div", { class: "row" }, h("a", { class: "button", href: local(`/workspace/ask${query({ q: question })}`) }, "Ask about it"), h("a", { class: "button", href: local(`/workspace/catalogue${query({ q: element.name })}`) }, "In the catalogue"), h("a", { class: "button", href: local(`/workspace/glossary${query({ q: element.name })}`) }, "In the glossary")),
      element.documentation && h("p", { class: "verbatim" }, element.documentation),
      h("dl", { class: "fields" }, facts.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", { class: "verbatim" }, text)))),
      section("Relations", detail.relations.map(relation)), section("Relations of what it is in", detail.inherited.map(relation)),
      section("In it", detail.children.map((child) => h("li", {}, go(child.id, child.name)))), section("It is in", detail.above.map((above) => h("li", {}, go(above.id, above.name)))),
      h("p", {}, place(element.location)));
  }

  async ask(question) {
    if (!question) return;
    await attempt(async () => {
      const answer = await read(`/v1/graph/answer${query({ question })}`);
      if (answer.status === "refused") {
        const words = local(`/workspace/ask${query({ q: question })}`);
        fill(this.detail, h("h2", {}, question), h("p", { role: "status" }, answer.text), h("a", { class: "button", href: words }, "Ask the documents"));
        return;
      }
      const elements = [...answer.subjects, ...answer.elements];
      this.diagram.trace(new Set(elements.map((element) => element.id)), new Set(answer.relations.map((line) => line.id)));
      fill(this.detail, h("h2", {}, question), h("p", { class: "verbatim", role: "status" }, answer.text),
        section("Elements", answer.elements.map((element) => h("li", {}, this.link(element.id, element.name), place(element.location)))),
        section("Relations", answer.relations.map((line) => h("li", {}, h("span", { class: "verbatim" }, line.text), place(line.location)))));
    });
  }

  link(id, name) {
    return button(name, () => { if (this.byId.has(id)) this.choose(id); else this.leave(id); }, { class: "plain link" });
  }

  leave(id) {
    address.set({ domain: "", around: "", element: id }, { push: true });
    attempt(() => this.draw());
  }

  whole() {
    if (address.get("around")) { address.set({ around: "" }, { push: true }); attempt(() => this.draw()); } else this.diagram.fit();
  }

  around() {
    if (!this.chosen) { say("Choose an element first."); return; }
    address.set({ around: this.chosen, domain: "" }, { push: true });
    attempt(() => this.draw());
  }

  beginPath() {
    if (!this.chosen) { say("Choose an element first."); return; }
    this.pathFrom = this.chosen;
    say(`Choose where the path from “${this.byId.get(this.chosen)?.name}” leads to.`);
  }

  endPath() {
    this.pathFrom = "";
    address.set({ to: "" });
    this.diagram.choose(this.chosen);
  }

  async showPath(from, to) {
    this.pathFrom = "";
    await attempt(async () => {
      const ways = await read(`/v1/graph/path${query({ source: from, target: to })}`);
      address.set({ element: from, to });
      this.chosen = from;
      const ids = new Set(ways.data.flatMap((way) => way.steps.flatMap((step) => [step.source.id, step.target.id])));
      const lines = new Set(ways.data.flatMap((way) => way.steps.flatMap((step) => step.relations.map((line) => line.id))));
      this.diagram.trace(ids, lines);
      fill(this.detail, h("h2", {}, `From ${ways.source.name} to ${ways.target.name}`),
        ways.data.length ? ways.data.map((way, at) => h("section", {}, h("h3", {}, `Way ${at + 1}: ${count(way.steps.length, "step")}`), h("ol", { class: "stack steps" }, way.steps.map((step) => h("li", { class: "verbatim" }, step.relations.length ? step.relations.map((line) => line.text).join(" ") : containment(step))))))
          : h("p", {}, "No relations lead from one to the other."), button("Back to the element", () => { this.endPath(); this.choose(from); }));
    });
  }
}

const section = (title, items) => items.length > 0 && h("details", { open: items.length < 30 }, h("summary", {}, `${title}: ${items.length}`), h("ul", { class: "stack small" }, items));

const place = (location) => h("span", { class: "small dim" }, [location.file, location.page && `page ${location.page}`, location.key].filter(Boolean).join(", "));

// A step without relations leads into a group or out of one; the group is no entity.
const containment = ({ source, target }) => {
  const [inner, outer] = target.role === "entity" ? [target, source] : [source, target];
  return `${inner.name} is in ${outer.name}.`;
};
