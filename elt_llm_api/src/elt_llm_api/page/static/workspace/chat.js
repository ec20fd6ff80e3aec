// A conversation: the list at the left, messages that stream in, evidence at the right.

import { address } from "./address.js";
import { one, query, read, send, stream } from "./api.js";
import { asText, renderAnswer } from "./chat-message.js";
import { attempt, openDialog, say } from "./dialogs.js";
import { button, count, fill, h, local } from "./dom.js";
import { EvidencePane } from "./evidence.js";
import { fillProfiles } from "./job-forms.js";
import { addKeys } from "./keys.js";
import { menu, split } from "./shell.js";
import { stepEvidence } from "./statements.js";
import { asNearest } from "./verdicts.js";

const LONGEST = 8000; // characters of a message, as the server takes them
const RECONNECTS = 3;
const EXPORTS = { markdown: "Markdown", html: "HTML", bibtex: "BibTeX" };

export class Chat {
  constructor(host) {
    this.messages = [];
    this.sources = [];
    this.list = h("ul", { class: "links-list" });
    this.filters = h("div", { class: "facets" });
    this.log = h("div", { class: "log", role: "log", "aria-live": "polite", "aria-label": "Conversation" });
    this.pane = new EvidencePane({ empty: "Choose a statement or a number to see what it rests on." });
    this.field = h("textarea", { rows: "2", maxlength: String(LONGEST), placeholder: "Ask about your documents", "aria-label": "Question", onkeydown: (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); this.ask(this.field.value); }
    } });
    this.go = button("Ask", () => this.ask(this.field.value), { class: "main" });
    this.halt = button("■ Stop", () => this.stop(), { hidden: true });
    this.profile = h("select", { "aria-label": "How to answer", onchange: () => { address.set({ profile: this.profile.value === "default" ? "" : this.profile.value }); this.tellProfile(); } });
    this.does = h("p", { class: "small dim" });
    this.title = h("h2", {});
    this.tools = h("div", { class: "row" });
    const wide = matchMedia("(min-width: 901px)").matches;
    const fold = h("details", { class: "facet-fold", open: wide }, h("summary", {}, "Conversations and filters"),
      h("div", { class: "stack" }, button("+ New", () => this.open(""), { key: "n" }), h("nav", { "aria-label": "Conversations" }, this.list), this.filters));
    const composer = h("form", { class: "composer", onsubmit: (event) => event.preventDefault() }, this.field,
      h("div", { class: "row" }, this.profile, h("div", { class: "grow" }, this.does), this.halt, this.go));
    host.append(split(h("aside", { class: "pane side", "aria-label": "Conversations and filters" }, fold),
      h("section", { class: "pane middle chat", "aria-label": "Chat" }, h("div", { class: "toolbar head" }, this.title, this.tools), this.log, composer),
      h("aside", { class: "pane right", "aria-label": "What it rests on" }, this.pane.element)));
    addKeys({
      "/": ["Ask", () => this.field.focus()], n: ["New conversation", () => this.open("")], e: ["Edit the last question and ask again", () => this.edit()],
      r: ["Ask the last question again", () => this.retry()], c: ["Copy the last answer with its sources", () => this.copy(this.messages.at(-1))],
      j: ["Next statement", () => stepEvidence(this.log, 1)], k: ["Previous statement", () => stepEvidence(this.log, -1)],
      "[": ["Previous evidence", () => this.pane.step(-1)], "]": ["Next evidence", () => this.pane.step(1)], Escape: ["", () => this.stop()],
    });
    address.onback(() => attempt(() => this.load()));
  }

  async start() {
    this.field.value = address.get("q");
    const [status, collections, profiles] = await Promise.all([read("/v1/status"), read("/v1/collections"), read("/v1/profiles")]);
    this.drawProfiles(profiles.data);
    this.cards = collections.data;
    this.status = status;
    this.drawFilters();
    await Promise.all([this.load(), this.drawList()]);
    this.field.focus();
  }

  drawProfiles(profiles) {
    this.profiles = new Map(profiles.map((note) => [note.name, note]));
    const wanted = address.get("profile") || "default";
    fillProfiles(this.profile, profiles, wanted);
    this.tellProfile();
  }

  tellProfile() {
    const note = this.profiles.get(this.profile.value);
    fill(this.does, note.does, note.lacks ? ` ${note.lacks}` : ` ${note.needs}`);
  }

  drawFilters() {
    const chosen = new Set(address.all("collection"));
    const boxes = this.cards.map((card) => h("label", {}, h("input", { type: "checkbox", value: card.name, checked: !chosen.size || chosen.has(card.name), onchange: () => {
      address.set({ collection: this.collections() });
      if (!this.messages.length) attempt(() => this.drawEmpty());
    } }), h("span", {}, card.title || card.name), h("b", {}, card.documents)));
    fill(this.filters, boxes.length > 0 && h("fieldset", {}, h("legend", {}, "Ask these collections"), boxes));
  }

  // None where all are chosen: one that is added later belongs to it then.
  collections() {
    const boxes = [...this.filters.querySelectorAll("input")];
    const checked = boxes.filter((box) => box.checked).map((box) => box.value);
    return checked.length === boxes.length ? [] : checked;
  }

  async drawList() {
    const { data } = await read("/v1/conversations?limit=200");
    const day = (row) => (row.last_used.slice(0, 10) === new Date().toISOString().slice(0, 10) ? "Today" : row.last_used.slice(0, 10));
    let before = "";
    fill(this.list, data.map((row) => {
      const head = day(row) !== before && h("li", { class: "small dim" }, before = day(row));
      const isOpen = row.conversation_id === this.id;
      return [head, h("li", {}, h("a", { href: local(`/workspace/ask${query({ conversation: row.conversation_id })}`), "aria-current": isOpen ? "true" : undefined, title: row.title || row.first_message,
        onclick: (event) => { event.preventDefault(); this.open(row.conversation_id); } }, h("span", {}, row.title || row.first_message), h("b", {}, Math.ceil(row.message_count / 2))))];
    }));
  }

  open(id) {
    if (this.turn) this.stop();
    address.set({ conversation: id, q: "" }, { push: true });
    this.field.value = "";
    attempt(async () => { await this.load(); await this.drawList(); this.field.focus(); });
  }

  async load() {
    this.id = address.get("conversation");
    this.pane.show([]);
    if (this.id) {
      try {
        const { messages, sources, label } = await read(`/v1/conversations/${one(this.id)}`);
        Object.assign(this, { messages, sources, label });
      } catch (error) {
        if (error.status !== 404) throw error;
        address.set({ conversation: "" });
        this.id = "";
        say("That conversation is no longer there.", "bad");
      }
    }
    if (!this.id) Object.assign(this, { messages: [], sources: [], label: "" });
    this.draw();
  }

  draw() {
    fill(this.title, this.label || "New conversation");
    fill(this.tools, this.id && [
      button("Rename", () => this.rename(), { class: "plain" }), button("Delete", () => this.remove(), { class: "plain bad" }),
      menu("Export", Object.entries(EXPORTS).map(([form, title]) => h("a", { href: local(`/v1/conversations/${one(this.id)}/export.${form}`), download: "" }, title))),
    ]);
    if (!this.messages.length) attempt(() => this.drawEmpty());
    else fill(this.log, this.messages.map((message, at) => this.render(message, at)));
    this.showLast();
  }

  async drawEmpty() {
    const { data } = await read(`/v1/examples${query({ collection: this.collections() })}`);
    if (this.messages.length || this.turn) return;
    fill(this.log, h("div", { class: "empty" }, this.cards.length ? h("h2", {}, "What do you want to know?") : h("h2", {}, "No documents yet"),
      this.cards.length ? h("p", {}, "Every statement of an answer shows the passage that it rests on.") : h("p", {}, "Add files on the page Documents, or run ", h("code", {}, "elt-llm demo")),
      h("div", { class: "chips" }, data.map((question) => button(question, () => this.ask(question), { class: "round" })))));
  }

  render(message, at) {
    if (message.role === "user") return h("article", { class: "asked", "aria-label": "Question" }, h("p", { class: "verbatim" }, message.text));
    const isLast = at === this.messages.length - 1;
    const show = (evidence) => this.pane.present(evidence);
    return h("article", { class: "answer card stack", "aria-label": "Answer" },
      message.searched && h("p", { class: "small dim" }, `Understood as: ${message.searched}`),
      isLast && this.quoting && h("p", { class: "small dim" }, "Sentences of your documents"),
      renderAnswer(message, this.sources, show),
      isLast && this.steps?.length > 0 && this.renderSteps(),
      h("div", { class: "row" }, button("Copy with sources", () => this.copy(message), { class: "plain" }),
        isLast && button("Ask again", () => this.retry(), { class: "plain", key: "r" }), isLast && button("Edit the question", () => this.edit(), { class: "plain", key: "e" })),
      isLast && this.followUps?.length > 0 && h("div", { class: "chips" }, this.followUps.map((question) => button(question, () => this.ask(question), { class: "round" }))));
  }

  renderSteps() {
    const seconds = this.steps.reduce((sum, step) => sum + step.milliseconds, 0) / 1000;
    return h("details", { class: "small" }, h("summary", {}, `${count(this.steps.length, "step")} · ${seconds.toFixed(1)} s`),
      h("table", {}, h("thead", {}, h("tr", {}, ["Step", "In", "Out", "ms"].map((text, at) => h("th", { scope: "col", class: at ? "number" : "" }, text)))),
        h("tbody", {}, this.steps.map((step) => h("tr", {}, h("td", {}, step.text || step.step), [step.n_in, step.n_out, Math.round(step.milliseconds)].map((number) => h("td", { class: "number" }, number)))))));
  }

  showLast() {
    const last = this.messages.at(-1);
    const cited = last?.citations?.length ? last.citations : asNearest(last?.nearest || []);
    if (cited?.length) this.pane.show(cited);
    this.log.scrollTop = this.log.scrollHeight;
    this.log.lastElementChild?.scrollIntoView({ block: "nearest" });
  }

  async ask(text) {
    const message = text.trim();
    if (!message || this.turn) return;
    this.field.value = "";
    this.followUps = [];
    this.steps = [];
    this.quoting = false;
    address.set({ q: "" });
    if (!this.messages.length) fill(this.log);
    this.live = { asked: h("article", { class: "asked", "aria-label": "Question" }, h("p", { class: "verbatim" }, message)), step: h("p", { class: "dim small live-step" }, "starting …"), text: h("p", { class: "provisional verbatim" }) };
    this.live.element = h("article", { class: "answer card stack", "aria-busy": "true", "aria-label": "Answer being written" }, this.live.step, this.live.text);
    this.log.append(this.live.asked, this.live.element);
    this.log.scrollTop = this.log.scrollHeight;
    this.turn = { message, abort: new AbortController(), last: "" };
    this.go.hidden = true;
    this.halt.hidden = false;
    await this.follow();
  }

  async follow() {
    const { turn } = this;
    const body = { message: turn.message, collections: this.collections(), ...(this.profile.value && { profile: this.profile.value }), ...(this.id && { conversation_id: this.id }) };
    try {
      for (let tries = 0; ; tries += 1) {
        const headers = turn.last ? { "last-event-id": turn.last } : {};
        try {
          for await (const event of stream("/v1/chat/stream", { method: "POST", body, headers, signal: turn.abort.signal })) {
            if (event.id) turn.last = event.id;
            this.take(event);
            if (turn.ended) break;
          }
        } catch (error) {
          if (error.name === "AbortError" || error.status || tries >= RECONNECTS || !turn.last) throw error;
        }
        if (turn.ended || tries >= RECONNECTS) break;
      }
      this.finish(turn.failure);
    } catch (error) {
      this.finish(error.name === "AbortError" ? "It was stopped; nothing of it is kept." : error.message);
    }
  }

  take({ event, data }) {
    const { turn, live } = this;
    if (event === "start") {
      turn.id = data.turn_id;
      this.fresh = data.conversation_id;
    } else if (event === "status") {
      if (data.state === "begun") fill(live.step, `${data.text || data.step} …`);
      else this.steps.push(data);
    } else if (event === "token") {
      if (data.restart) fill(live.text);
      live.text.append(data.text);
      this.log.scrollTop = this.log.scrollHeight;
    } else if (event === "statements") {
      this.checked = data.answer;
      fill(live.element, renderAnswer(data.answer, this.sources, (evidence) => this.pane.present(evidence)));
    } else if (event === "citations") {
      const known = new Map(this.sources.map((source) => [source.number, source]));
      for (const source of data.sources) known.set(source.number, source);
      this.sources = [...known.values()];
    } else if (event === "follow_ups") this.followUps = data.questions;
    else if (event === "complete") {
      turn.ended = true;
      this.quoting = data.result.trace.models.calls === 0 && data.result.status === "answered";
    } else if (event === "error") {
      turn.ended = true;
      turn.failure = [data.detail, data.hint].filter(Boolean).join("; ");
    }
  }

  async finish(failure) {
    const { turn, live } = this;
    this.turn = null;
    this.go.hidden = false;
    this.halt.hidden = true;
    this.field.focus();
    if (failure || !turn.ended) {
      live.element.removeAttribute("aria-busy");
      fill(live.element, h("p", { class: "note bad", role: "alert" }, failure || "The connection was lost."), button("Ask again", () => { live.asked.remove(); live.element.remove(); this.ask(turn.message); }),
        button("Edit the question", () => { live.asked.remove(); live.element.remove(); this.field.value = turn.message; this.field.focus(); }));
      return;
    }
    if (this.fresh !== this.id) address.set({ conversation: this.fresh }, { push: !this.id && this.messages.length > 0 });
    await attempt(async () => {
      const { steps, followUps, quoting } = this;
      await this.load();
      Object.assign(this, { steps, followUps, quoting });
      await this.drawList();
    });
  }

  stop() {
    if (!this.turn) return;
    const { id, abort } = this.turn;
    if (id) send(`/v1/chat/turns/${one(id)}`, { method: "DELETE" }).catch(() => {});
    abort.abort();
  }

  // The last question is taken back, to be asked again as it is or otherwise.
  async takeBack() {
    if (!this.id || this.turn || !this.messages.length) return "";
    const { message } = await read(`/v1/conversations/${one(this.id)}/undo`, { method: "POST" });
    this.messages = this.messages.slice(0, -2);
    this.draw();
    return message;
  }

  async retry() {
    const message = await attempt(() => this.takeBack());
    if (message) this.ask(message);
  }

  async edit() {
    const message = await attempt(() => this.takeBack());
    if (!message) return;
    this.field.value = message;
    this.field.focus();
  }

  async copy(message) {
    if (!message) return;
    await attempt(async () => {
      await navigator.clipboard.writeText(asText(message, this.sources));
      say("Copied with its sources");
    });
  }

  async rename() {
    const field = h("input", { type: "text", maxlength: "200", value: this.label });
    const agreed = await openDialog("Rename the conversation", h("label", { class: "field" }, h("span", {}, "Empty: its first question"), field), {
      label: "Rename", agree: () => read(`/v1/conversations/${one(this.id)}`, { method: "PATCH", body: { title: field.value } }),
    });
    if (agreed) attempt(async () => { await this.load(); await this.drawList(); });
  }

  async remove() {
    const agreed = await openDialog("Delete this conversation?", h("p", {}, `“${this.label}”, with ${count(this.messages.length, "message")}.`), {
      label: "Delete", agree: () => send(`/v1/conversations/${one(this.id)}`, { method: "DELETE" }),
    });
    if (agreed) this.open("");
  }
}
