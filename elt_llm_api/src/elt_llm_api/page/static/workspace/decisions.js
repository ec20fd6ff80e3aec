// Decisions on rows: shown at once, sent with the revision that was seen, taken back by undo.
// Where somebody decided meanwhile, both are shown and a person chooses.

import { kept } from "./address.js";
import { one, read } from "./api.js";
import { badge, h } from "./dom.js";
import { openDialog, say } from "./dialogs.js";
import { STATUSES, word } from "./verdicts.js";

const STALE = 412;

export const askReviewer = async (again = false) => {
  if (kept.get("reviewer") && !again) return kept.get("reviewer");
  const field = h("input", { type: "text", maxlength: "200", required: true, value: kept.get("reviewer"), autocomplete: "name" });
  const agreed = await openDialog("Who reviews?", h("label", { class: "field" }, h("span", {}, "Your name stands beside each of your decisions."), field), {
    label: "Go on",
    agree: () => {
      if (!field.value.trim()) throw new Error("a name is needed");
      kept.set("reviewer", field.value.trim());
    },
  });
  return agreed ? kept.get("reviewer") : "";
};

const ROW = ["item_id", "label", "status", "revision", "fields", "edited", "changed", "conflicts", "notes", "reviewer", "at", "gone", "unclear", "document", "page", "section", "facets"];
export const toRow = (item) => Object.fromEntries(ROW.map((name) => [name, item[name]]));

export class Decisions {
  constructor(product, onrow) {
    this.path = `/v1/products/${one(product)}/items`;
    this.product = product;
    this.onrow = onrow; // is called with each row that the server knows otherwise now
    this.steps = [];
    this.sending = new Map();
  }

  // The requests for one row go out one after the other: each needs the revision of the last.
  async inTurn(row, work) {
    const before = this.sending.get(row.item_id) || Promise.resolve();
    const turn = before.catch(() => {}).then(work);
    this.sending.set(row.item_id, turn);
    return turn;
  }

  async decide(row, change) {
    const reviewer = kept.get("reviewer");
    const before = { ...row };
    if (change.status) row.status = change.status;
    this.onrow(row);
    this.steps.push([row.item_id]);
    try {
      return await this.inTurn(row, () => this.send(row, change, reviewer));
    } catch (error) {
      this.steps = this.steps.filter((step) => step.length > 1 || step[0] !== row.item_id || row.revision !== before.revision);
      Object.assign(row, before);
      this.onrow(row);
      if (error.status === STALE) return this.settle(row, change, error.body);
      say(`${row.label}: ${error.message}`, "bad");
      return null;
    }
  }

  async send(row, change, reviewer) {
    const item = await read(`${this.path}/${one(row.item_id)}`, {
      method: "PATCH", body: { reviewer, ...change }, headers: { "if-match": `"${row.revision}"` },
    });
    Object.assign(row, toRow(item));
    this.onrow(row, item);
    return item;
  }

  async settle(row, change, { current }) {
    const side = (title, status, who, texts) => h("div", { class: "card stack" }, h("h3", {}, title),
      status && badge(STATUSES[status]), who && h("p", { class: "dim small" }, who),
      Object.entries(texts || {}).filter(([, text]) => text).map(([name, text]) => h("p", { class: "verbatim" }, `${word(name)}: ${text}`)));
    const both = h("div", { class: "sides" },
      side("Recorded meanwhile", current.status, [current.reviewer, current.at].filter(Boolean).join(", "), current.edited),
      side("Yours", change.status, kept.get("reviewer"), change.edited));
    const item = await read(`${this.path}/${one(row.item_id)}`);
    Object.assign(row, toRow(item));
    this.onrow(row, item);
    const mine = await openDialog(`“${row.label}” was decided meanwhile`, both, { label: "Record mine", agree: () => this.send(row, change, kept.get("reviewer")), wide: true });
    if (mine) this.steps.push([row.item_id]);
    return mine;
  }

  // All of the rows, or none.
  async decideMany(pairs, told) {
    const reviewer = kept.get("reviewer");
    const changes = pairs.map(([row, change]) => ({ item_id: row.item_id, revision: row.revision, ...change }));
    const { data } = await read(this.path, { method: "PATCH", body: { reviewer, changes } });
    const rows = new Map(pairs.map(([row]) => [row.item_id, row]));
    for (const fresh of data) {
      const row = rows.get(fresh.item_id);
      Object.assign(row, fresh);
      this.onrow(row);
    }
    this.steps.push(data.map((fresh) => fresh.item_id));
    say(told);
  }

  async undo(rowOf) {
    const step = this.steps.pop();
    if (!step) return say("There is nothing of yours to take back.");
    let last;
    for (const id of step) {
      const row = rowOf(id);
      if (!row) continue;
      last = row;
      await this.inTurn(row, async () => {
        const item = await read(`${this.path}/${one(id)}/undo`, {
          method: "POST", body: { reviewer: kept.get("reviewer") }, headers: { "if-match": `"${row.revision}"` },
        });
        Object.assign(row, toRow(item));
        this.onrow(row, item);
      });
    }
    say(step.length > 1 ? `${step.length} decisions were taken back.` : `“${last?.label}” is as it was before.`);
    return last;
  }
}
