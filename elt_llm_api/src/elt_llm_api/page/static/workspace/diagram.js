// The drawing itself, by Cytoscape.js. Colours are those of the page; what is chosen or on a
// path is drawn stronger, so that colour is not the only sign.

import cytoscape from "./vendor/cytoscape.min.mjs";
import { h } from "./dom.js";

// It would add a style sheet of its own, which the policy of these pages forbids, unless
// something has this id; pages.css has that rule. Its warnings are for its developers.
const STYLE_ID = "__________cytoscape_stylesheet";
if (!document.getElementById(STYLE_ID)) document.head.append(h("meta", { id: STYLE_ID }));
cytoscape.warnings(false);

const MARGIN = 24; // pixels around the whole
const [LETTER, LINE, END] = [5.6, 13, 16]; // pixels of a label: a letter, its height, from the end of a line
const READABLE = 0.9; // zoom at which names can be read

const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const NONE = { none: ["none", "none"], forward: ["none", "triangle"], backward: ["triangle", "none"], both: ["triangle", "triangle"] };

const style = () => [
  { selector: "node", style: { shape: "round-rectangle", width: "data(width)", height: "data(height)", "background-color": token("--card"), "border-width": 1, "border-color": token("--dim"), label: "data(name)", color: token("--ink"), "font-size": 12, "text-valign": "center", "text-wrap": "wrap", "text-max-width": 148, "font-family": token("--font") } },
  { selector: "node.group", style: { "background-color": token("--ground"), "border-color": token("--line"), "text-valign": "top", "text-margin-y": 20, "font-weight": "bold", "font-size": 14, "z-compound-depth": "bottom" } },
  { selector: "edge", style: { width: 1.2, "line-color": token("--dim"), "curve-style": "bezier", "target-arrow-color": token("--dim"), "source-arrow-color": token("--dim"), "source-arrow-shape": "data(tail)", "target-arrow-shape": "data(head)", label: "data(shownLabel)", "source-label": "data(shownFrom)", "target-label": "data(shownTo)", "source-text-offset": 16, "target-text-offset": 16, "font-size": 10, color: token("--dim"), "text-background-color": token("--card"), "text-background-opacity": 0.85, "text-background-padding": 2, "min-zoomed-font-size": 7 } },
  { selector: ".faint", style: { opacity: 0.18 } },
  { selector: ".near", style: { "border-color": token("--accent"), "border-width": 2 } },
  { selector: "edge.near", style: { label: "data(label)", "source-label": "data(from)", "target-label": "data(to)", width: 2.5, "line-color": token("--accent"), "target-arrow-color": token("--accent"), "source-arrow-color": token("--accent") } },
  { selector: "node.chosen", style: { "border-color": token("--accent"), "border-width": 4, "font-weight": "bold" } },
  { selector: ".hidden", style: { display: "none" } },
];

export class Diagram {
  constructor(onchoose) {
    this.onchoose = onchoose;
    this.canvas = h("div", { class: "__________cytoscape_container canvas" });
    this.element = h("div", { class: "diagram", role: "img", "aria-label": "Diagram of the model; the list of elements beside it holds the same" }, this.canvas);
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.dress());
    new MutationObserver(() => this.dress()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  show({ nodes, edges }) {
    this.graph?.destroy();
    const parents = new Set(nodes.map((node) => node.parent));
    const elements = [
      ...nodes.map((node) => ({
        group: "nodes", classes: parents.has(node.id) ? "group" : "",
        data: { id: node.id, name: node.name, width: node.width, height: node.height },
        position: { x: node.x + node.width / 2, y: node.y + node.height / 2 },
      })),
      ...edges.map((edge) => {
        const [tail, head] = NONE[edge.direction] || NONE.none;
        return { group: "edges", data: { id: `edge ${edge.id}`, source: edge.source, target: edge.target, label: edge.label, from: edge.source_cardinality, to: edge.target_cardinality, shownLabel: "", shownFrom: "", shownTo: "", tail, head } };
      }),
    ];
    // Boxes of domains are laid out by the server, hence no compound nodes; they lie below.
    elements.sort((a, b) => (a.classes === "group" ? 0 : 1) - (b.classes === "group" ? 0 : 1));
    this.graph = cytoscape({ container: this.canvas, elements, style: style(), layout: { name: "preset", fit: true, padding: MARGIN }, minZoom: 0.05, maxZoom: 4, autoungrabify: true, boxSelectionEnabled: false });
    this.graph.nodes(".group").style("z-index", 0);
    this.graph.nodes().difference(".group").style("z-index", 2);
    this.graph.edges().style("z-index", 1);
    this.graph.elements().style("z-index-compare", "manual");
    this.chooseLabels();
    this.graph.on("tap", "node", (event) => this.onchoose(event.target.id()));
  }

  // The labels that cover no box and no other label; a chosen element shows all of its own.
  chooseLabels() {
    const taken = this.graph.nodes().difference(".group").map((node) => node.boundingBox({ includeLabels: false }));
    const isFree = (area) => !taken.some((one) => area.x1 < one.x2 && one.x1 < area.x2 && area.y1 < one.y2 && one.y1 < area.y2);
    const take = (text, { x, y }) => {
      const half = (text.length * LETTER) / 2;
      const area = { x1: x - half, x2: x + half, y1: y - LINE / 2, y2: y + LINE / 2 };
      if (!text || !isFree(area)) return "";
      taken.push(area);
      return text;
    };
    this.graph.batch(() => this.graph.edges().forEach((edge) => {
      if (edge.isLoop()) return;
      const [start, end] = [edge.sourceEndpoint(), edge.targetEndpoint()];
      const length = Math.hypot(end.x - start.x, end.y - start.y) || 1;
      const near = (from, to) => ({ x: from.x + ((to.x - from.x) * END) / length, y: from.y + ((to.y - from.y) * END) / length });
      edge.data({ shownLabel: take(edge.data("label"), edge.midpoint()), shownFrom: take(edge.data("from"), near(start, end)), shownTo: take(edge.data("to"), near(end, start)) });
    }));
  }

  dress() { this.graph?.style(style()); }

  only(ids) {
    this.graph?.batch(() => {
      this.graph.nodes().forEach((node) => { node.toggleClass("hidden", !ids.has(node.id())); });
    });
  }

  choose(id) {
    const node = this.graph?.getElementById(id || "");
    this.graph?.batch(() => {
      this.graph.elements().removeClass("chosen near faint");
      if (!node.length) return;
      node.addClass("chosen");
      node.connectedEdges().addClass("near").connectedNodes().not(node).addClass("near");
    });
    if (node?.length) this.reveal(node);
  }

  trace(ids, lines) {
    this.graph.batch(() => {
      this.graph.elements().removeClass("chosen near faint").addClass("faint");
      this.graph.nodes().filter((node) => ids.has(node.id())).removeClass("faint").addClass("chosen");
      this.graph.edges().filter((edge) => lines.has(edge.id().slice("edge ".length))).removeClass("faint").addClass("near");
    });
    const drawn = this.graph.nodes(".chosen");
    if (drawn.length) this.move({ fit: { eles: drawn, padding: 80 } });
  }

  reveal(node) {
    const { x1, y1, x2, y2 } = this.graph.extent();
    const at = node.position();
    const seen = at.x > x1 && at.x < x2 && at.y > y1 && at.y < y2;
    if (!seen || this.graph.zoom() < READABLE / 2) this.move({ center: { eles: node }, zoom: Math.max(this.graph.zoom(), READABLE) });
  }

  move(to) { if (this.calm) this.graph.animate(to, { duration: 0 }); else this.graph.animate(to, { duration: 200 }); }

  fit() { this.graph?.elements().removeClass("faint"); this.move({ fit: { padding: MARGIN } }); }

  zoom(by) { this.graph?.zoom({ level: this.graph.zoom() * by, renderedPosition: { x: this.canvas.clientWidth / 2, y: this.canvas.clientHeight / 2 } }); }
}
