import { attempt } from "../dialogs.js";
import { h } from "../dom.js";
import { startPage } from "../shell.js";
import { COVERAGE } from "../verdicts.js";
import { Workbench } from "../workbench.js";

// Domains against verdicts; a number chooses its rows, a bar shows their shares.
const matrix = (bench) => {
  const domains = [...new Set(bench.rows.map((row) => row.facets.domain || ""))].sort();
  const number = (domain, verdict) => bench.rows.filter((row) => (row.facets.domain || "") === domain && row.fields.verdict === verdict).length;
  const choose = (domain, verdict) => {
    bench.facets.take("domain", domain ? [domain] : []);
    bench.facets.take("verdict", [verdict]);
    bench.refilter({ keep: false });
  };
  const rows = domains.map((domain) => {
    const all = bench.rows.filter((row) => (row.facets.domain || "") === domain).length;
    const cells = Object.entries(COVERAGE).map(([verdict, one]) => {
      const many = number(domain, verdict);
      return h("td", { class: "number" }, many ? h("button", { type: "button", class: `plain share ${one.tone}`, onclick: () => choose(domain, verdict), "aria-label": `${domain || "Without a domain"}: ${many} ${one.word}` }, String(many)) : "");
    });
    const bar = h("div", { class: "shares", role: "img", "aria-label": Object.entries(COVERAGE).map(([verdict, one]) => `${number(domain, verdict)} ${one.word}`).join(", ") },
      Object.entries(COVERAGE).map(([verdict, one]) => { const part = h("span", { class: `${one.tone} ${verdict.toLowerCase()}` }); part.style.flexGrow = number(domain, verdict); return part; }));
    return h("tr", {}, h("th", { scope: "row" }, domain || "Without a domain"), cells, h("td", { class: "number" }, String(all)), h("td", { class: "bar-cell" }, bar));
  });
  if (!rows.length) return "";
  const head = h("tr", {}, h("th", { scope: "col" }, "Domain"), Object.values(COVERAGE).map((one) => h("th", { scope: "col", class: "number" }, `${one.icon} ${one.word}`)), h("th", { scope: "col", class: "number" }, "All"), h("th", { scope: "col" }, "Share"));
  return h("details", { class: "matrix", open: matrix.open, ontoggle: (event) => { matrix.open = event.target.open; } }, h("summary", {}, "By domain"), h("div", { class: "scroll" }, h("table", {}, h("thead", {}, head), h("tbody", {}, rows))));
};
matrix.open = matchMedia("(min-width: 901px)").matches;

const bench = new Workbench(startPage(), { kind: "coverage", title: "Coverage", extra: matrix });
attempt(() => bench.load());
