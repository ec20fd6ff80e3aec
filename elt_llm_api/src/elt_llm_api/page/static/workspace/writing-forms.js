// Forms that start a report, summaries of topics or the report of a concept.

import { read } from "./api.js";
import { attempt, openDialog, say } from "./dialogs.js";
import { count, fill, h } from "./dom.js";
import { checkboxes, chosen, collectionBoxes, fillProfiles, modelCollections } from "./job-forms.js";
import { submitJob } from "./jobs.js";

const TEXT_FORMATS = { yaml: "YAML", markdown: "Markdown", json: "JSON" };
const LONGEST_CONCEPT = "300"; // characters, as the server takes them
const LONGEST_TEMPLATE = "200000";
export const started = new Set(); // ids of the jobs that this page started
const STARTED = "It is being written; it opens when it is done.";

// Collections, profile and gap search, which all that is written has in common.
const commonFields = async (collections) => {
  const [{ data: cards }, { data: profiles }] = await Promise.all([read("/v1/collections"), read("/v1/profiles")]);
  const models = collections.length ? new Set() : await modelCollections(cards);
  const isChosen = (card) => (collections.length ? collections.includes(card.name) : !models.has(card.name));
  const profile = h("select", {});
  fillProfiles(profile, profiles);
  const gaps = h("input", { type: "checkbox" });
  const element = h("div", { class: "stack" },
    h("div", { class: "facets" }, collectionBoxes("Documents", "collection", cards, isChosen), h("label", {}, gaps, h("span", {}, "Search again for what is missing"))),
    h("label", { class: "field" }, h("span", {}, "How to write"), profile));
  const values = () => {
    const names = chosen(element, "collection");
    if (!names.length) throw new Error("choose at least one collection with documents");
    return { collections: names, profile: profile.value, gap_rounds: gaps.checked ? 1 : 0 };
  };
  return { element, values };
};

const ask = async (title, path, collections, build) => {
  const agreed = await attempt(async () => {
    const common = await commonFields(collections);
    const { element, values } = await build();
    const form = h("div", { class: "stack" }, element, common.element);
    return openDialog(title, form, { label: "Write", agree: async () => { started.add((await submitJob(path, { ...common.values(), ...values() })).id); } });
  });
  if (agreed) say(STARTED);
};

const outline = (sections) => h("ul", { class: "stack guidance" }, sections.map((section) => h("li", {},
  h("strong", {}, section.heading), section.guidance && h("p", { class: "verbatim dim small" }, section.guidance.trim()), section.subsections.length > 0 && outline(section.subsections))));

// A shipped template with what it asks, or a template's own text.
export const reportForm = (wanted = "", collections = []) => ask("Write a report", "/v1/reports", collections, async () => {
  const { data } = await read("/v1/report-templates");
  const known = new Map(data.map((template) => [template.name, template]));
  const template = h("select", { "aria-label": "Template", onchange: () => draw() }, data.map((one) => h("option", { value: one.name, selected: [one.name, one.id].includes(wanted) }, one.title)),
    h("option", { value: "", selected: !data.length }, "A template of your own"));
  const text = h("textarea", { rows: "8", maxlength: LONGEST_TEMPLATE, spellcheck: "false", placeholder: "title: …\nsections:\n- heading: …\n  guidance: What is asked?" });
  const format = h("select", {}, Object.entries(TEXT_FORMATS).map(([value, title]) => h("option", { value }, title)));
  const own = h("div", { class: "stack" }, h("label", { class: "field" }, h("span", {}, "Text of the template"), text), h("label", { class: "field" }, h("span", {}, "Written in"), format));
  const shown = h("div", { class: "stack template", tabindex: "0", role: "region", "aria-label": "Sections of the template" });
  const draw = () => {
    const note = known.get(template.value);
    own.hidden = Boolean(note);
    shown.hidden = !note;
    fill(shown, note && [h("p", { class: "small" }, note.description), outline(note.sections)]);
  };
  draw();
  const values = () => {
    if (template.value) return { template: template.value };
    if (!text.value.trim()) throw new Error("write the text of the template, or choose one");
    return { template_text: text.value, template_format: format.value };
  };
  return { element: h("div", { class: "stack" }, h("label", { class: "field" }, h("span", {}, "Template"), template), shown, own), values };
});

export const summariesForm = (topics, wanted = [], collections = []) => ask("Write summaries", "/v1/topics/summaries", collections, async () => {
  const isCurrent = (topic) => topic.summaries.length > 0 && !topic.summaries.at(-1).stale;
  const boxes = checkboxes("Topics", "topic", topics.map((topic) => (
    { value: topic.id, title: topic.name, note: summaryNote(topic), checked: wanted.length ? wanted.includes(topic.id) : !isCurrent(topic) })));
  const values = () => {
    const ids = chosen(boxes, "topic");
    if (!ids.length) throw new Error("choose at least one topic");
    return { topics: ids };
  };
  return { element: h("div", { class: "facets topics" }, boxes), values };
});

const summaryNote = ({ summaries }) => {
  if (!summaries.length) return "no summary";
  return summaries.at(-1).stale ? "out of date" : count(summaries.length, "summary", "summaries");
};

export const conceptForm = (wanted = "", collections = []) => ask("Report of a concept", "/v1/concepts", collections, async () => {
  const concept = h("input", { type: "text", maxlength: LONGEST_CONCEPT, required: true, value: wanted });
  const element = h("label", { class: "field" }, h("span", {}, "Concept: every passage that mentions it is read"), concept);
  return { element, values: () => ({ concept: concept.value.trim() }) };
});
