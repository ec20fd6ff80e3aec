// The tray of running jobs at the bottom of every page. What runs is the server's to know:
// a reload, or another tab, shows the same.

import { one, read, send } from "./api.js";
import { kept } from "./address.js";
import { button, count, fill, h, local } from "./dom.js";
import { announce, attempt, openDialog } from "./dialogs.js";
import { word } from "./verdicts.js";

const LOOK_MILLISECONDS = 5000; // for jobs that others start
const shown = new Map();
const listeners = new Set();

// `work` is called with each job that ends while the page is open.
export const onJobEnd = (work) => listeners.add(work);

export const startJob = async (values, files = []) => {
  const form = new FormData();
  for (const [key, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one) form.append(key, one);
  }
  for (const file of files) form.append("files", file, file.name);
  return submitJob("/v1/jobs", form);
};

// Starts the job of a route of its own, and shows it in the tray.
export const submitJob = async (path, body) => {
  const job = await read(path, { method: "POST", body });
  watch(job);
  return job;
};

export const startTray = () => {
  const look = async () => {
    try {
      const { data } = await read("/v1/jobs");
      for (const job of data.reverse()) if (job.state === "running" || isFresh(job)) watch(job);
    } catch { /* the next look says more */ }
  };
  look();
  setInterval(() => { if (!document.hidden) look(); }, LOOK_MILLISECONDS);
};

// An ended job stays until it is put away, also over a reload.
const isFresh = (job) => job.id === kept.get("job") && kept.get("job.put") !== job.id;

const watch = (job) => {
  if (shown.has(job.id)) return;
  const view = new JobView(job);
  shown.set(job.id, view);
  const tray = document.getElementById("tray");
  tray.append(view.element);
  document.body.classList.add("with-tray");
};

export const onJobEvent = (work) => progressListeners.add(work);
const progressListeners = new Set();

class JobView {
  constructor(job) {
    this.job = job;
    this.began = performance.now();
    this.stage = "";
    this.element = h("div", { class: "job" });
    this.bar = h("progress", { "aria-label": `Progress of ${job.kind}` });
    this.numbers = h("span", { class: "numbers small dim" });
    this.name = h("strong", {}, word(job.kind === "catalog" ? "catalogue" : job.kind));
    if (job.state !== "running") return this.end(job);
    kept.set("job", job.id);
    const cancel = button("Cancel", () => attempt(async () => {
      await send(`/v1/jobs/${one(job.id)}`, { method: "DELETE" });
      cancel.disabled = true;
      cancel.textContent = "Cancelling …";
    }));
    fill(this.element, this.name, this.bar, this.numbers, cancel);
    this.draw(job.progress);
    this.follow();
  }

  follow() {
    const source = new EventSource(`/v1/jobs/${one(this.job.id)}/events`);
    source.addEventListener("progress", (event) => this.draw(JSON.parse(event.data)));
    source.addEventListener("end", (event) => {
      source.close();
      const job = JSON.parse(event.data);
      this.end(job);
      announce(`${this.name.textContent}: ${this.outcome(job)}`);
      for (const work of listeners) work(job);
    });
  }

  draw(progress) {
    const { stage, done, total, detail } = progress;
    if (stage !== this.stage) {
      this.stage = stage;
      this.began = performance.now();
      this.first = done;
    }
    if (total) Object.assign(this.bar, { max: total, value: done });
    else this.bar.removeAttribute("value");
    const numbers = total ? `${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : "";
    fill(this.numbers, [stage, numbers, this.left(done, total), detail].filter(Boolean).join(" · "));
    for (const work of progressListeners) work(this.job, progress);
  }

  // From the pace of this stage; nothing before a second, or before the first step.
  left(done, total) {
    const seconds = (performance.now() - this.began) / 1000;
    const steps = done - this.first;
    if (!total || steps < 1 || seconds < 1) return "";
    const rest = ((total - done) * seconds) / steps;
    return rest < 60 ? `${Math.ceil(rest)} s left` : `${Math.ceil(rest / 60)} min left`;
  }

  outcome(job) {
    const states = { succeeded: "done", partial: "done, with notes", failed: "failed", cancelled: "cancelled" };
    return states[job.state] || job.state;
  }

  end(job) {
    this.job = job;
    const counts = Object.entries(job.counts).filter(([, number]) => number).slice(0, 4)
      .map(([name, number]) => `${number.toLocaleString("en")} ${name.replaceAll("_", " ")}`);
    const told = job.problem ? job.problem.detail : counts.join(" · ");
    const notes = job.degradations.length;
    fill(this.element, this.name,
      h("span", { class: `badge ${job.state === "succeeded" ? "good" : job.state === "failed" ? "bad" : "near"}` }, this.outcome(job)),
      h("span", { class: "numbers small dim", title: told }, told),
      notes || job.problem ? button(notes ? count(notes, "note") : "Why", () => this.tell(job)) : h("span"),
      button("Put away", () => this.put()));
  }

  tell(job) {
    const lines = job.problem ? [job.problem.detail, job.problem.hint, ...(job.problem.details || [])] : job.degradations.map((one) => one.detail);
    const files = Object.entries(job.files).map(([name, path]) => h("li", {}, h("a", { href: local(path), download: "" }, name)));
    openDialog(`${this.name.textContent}: ${this.outcome(job)}`,
      h("div", { class: "stack" }, h("ul", { class: "stack verbatim" }, lines.filter(Boolean).map((line) => h("li", {}, line))), files.length ? h("ul", {}, files) : ""), { wide: true });
  }

  put() {
    kept.set("job.put", this.job.id);
    this.element.remove();
    const tray = document.getElementById("tray");
    if (!tray.children.length) document.body.classList.remove("with-tray");
  }
}
