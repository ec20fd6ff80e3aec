// Exports for other catalogues: what the target would refuse is told before anything is saved.

import { one, query, read, send } from "./api.js";
import { attempt } from "./dialogs.js";
import { button, count, fill, h } from "./dom.js";

const SHOWN = 50; // problems; the count tells of all

export const exportChoices = async (bench) => {
  if (bench.kind === "coverage") return null;
  const { data } = await read("/v1/exports");
  const format = h("select", { "aria-label": "Format", onchange: () => attempt(check) }, data.map((note) => h("option", { value: note.name, disabled: Boolean(note.needs) }, note.title || `${note.name} (${note.needs})`)));
  const approved = h("input", { type: "checkbox", onchange: () => attempt(check) });
  const leaveOut = h("input", { type: "checkbox", onchange: () => attempt(check) });
  const told = h("div", { class: "stack", role: "status" });
  const ask = (what = "") => `/v1/exports/${one(format.value)}${what}${query({
    product: bench.kind, collection: bench.product.split(":")[1].split("+"),
    status: approved.checked ? "APPROVED" : "", leave_out: leaveOut.checked ? "true" : "",
  })}`;
  const keep = button("Save the file", () => attempt(async () => {
    const reply = await send(ask());
    const name = decodeURIComponent(/filename\*=UTF-8''([^;]+)/.exec(reply.headers.get("content-disposition"))?.[1] || "export");
    const link = h("a", { href: URL.createObjectURL(await reply.blob()), download: name });
    link.click();
  }), { class: "main", disabled: true });
  let checks = 0;
  const check = async () => {
    keep.disabled = true;
    const turn = checks += 1;
    const made = await read(ask("/check"));
    if (turn !== checks) return; // another choice was made meanwhile
    keep.disabled = !made.accepted;
    fill(told, outcome(made));
  };
  attempt(check);
  return h("section", { class: "stack", "aria-label": "For another catalogue" }, h("h3", {}, "For another catalogue"), format,
    h("label", { class: "row" }, approved, "Approved rows only"), h("label", { class: "row" }, leaveOut, "Leave out what the target would refuse"), told, keep);
};

const outcome = ({ accepted, file_name: name, size, report }) => [
  h("p", { class: accepted ? "" : "note bad" }, accepted ? `${name}, ${Math.ceil(size / 1000).toLocaleString("en")} kB: the target takes it.` : "The target would refuse the file."),
  report.problems.length > 0 && h("details", { open: !accepted }, h("summary", {}, count(report.problems.length, "problem")),
    h("ul", { class: "small stack verbatim" }, report.problems.slice(0, SHOWN).map((problem) => h("li", {}, sentence(problem))))),
  report.left_out.length > 0 && h("p", { class: "small" }, `Left out: ${report.left_out.slice(0, SHOWN).join(", ")}`),
];

const sentence = ({ row, column, value, rule, cure }) => `${row ? `row ${row}, ` : ""}${column}: “${value}” ${rule}; ${cure}`;
