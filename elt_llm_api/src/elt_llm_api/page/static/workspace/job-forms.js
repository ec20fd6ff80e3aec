// Choices that the forms of jobs share.

import { one, read } from "./api.js";
import { count, fill, h } from "./dom.js";

// Collections that hold a model of entities, told by the names of their files.
export const modelCollections = async (cards) => {
  const found = new Set();
  await Promise.all(cards.map(async (card) => {
    const { data } = await read(`/v1/collections/${one(card.name)}/documents?limit=50`);
    if (data.some((row) => /drawio|archimate|inventory|\.xlsx?$/i.test(row.name))) found.add(card.name);
  }));
  return found;
};

export const checkboxes = (legend, name, choices) => h("fieldset", { class: "choices" }, h("legend", {}, legend),
  choices.map(({ value, title, note, checked }) => h("label", {}, h("input", { type: "checkbox", name, value, checked }), h("span", {}, title), note && h("b", {}, note))));

export const collectionBoxes = (legend, name, cards, isChosen) => checkboxes(legend, name, cards.map((card) => (
  { value: card.name, title: card.title || card.name, note: count(card.documents, "document"), checked: isChosen(card) })));

export const chosen = (form, name) => [...form.querySelectorAll(`input[name=${name}]:checked`)].map((box) => box.value);

export const fillProfiles = (select, profiles, wanted = "default") =>
  fill(select, profiles.map((note) => h("option", { value: note.name, selected: note.name === wanted }, note.lacks ? `${note.name} (limited)` : note.name)));
