// Keys of a page, each with a sentence for the list that "?" opens. A field keeps its keys.

import { h } from "./dom.js";
import { openDialog } from "./dialogs.js";

const KEYS = new Map();
let chord = "";
let chordTimer;
const CHORD_MILLISECONDS = 1500;

export const addKeys = (keys) => {
  for (const [key, [words, work]] of Object.entries(keys)) KEYS.set(key, { words, work });
};

const isField = (element) =>
  element?.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");

// "g", then the first letter of a page that no page before it has: v for Coverage.
const pageLinks = () => {
  const taken = new Map();
  for (const link of document.querySelectorAll(".pages a")) {
    const letter = [...link.textContent.toLowerCase()].find((one) => !taken.has(one) && (one !== "o" || link.textContent[0] === "O"));
    if (letter) taken.set(letter, link);
  }
  return [...taken];
};

const follow = (letter) => pageLinks().find(([one]) => one === letter)?.[1].click();

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isField(event.target) || document.querySelector("dialog[open]")) return;
  if (chord === "g") {
    chord = "";
    follow(event.key);
    return;
  }
  if (event.key === "g") {
    chord = "g";
    clearTimeout(chordTimer);
    chordTimer = setTimeout(() => { chord = ""; }, CHORD_MILLISECONDS);
    return;
  }
  const known = KEYS.get(event.key);
  if (!known) return;
  // A button or a link has Enter for itself.
  if (event.key === "Enter" && event.target.closest?.("button, a, summary, label, input")) return;
  event.preventDefault();
  known.work(event);
});

export const showKeys = () => {
  const rows = [...KEYS].filter(([, one]) => one.words).flatMap(([key, one]) => [h("kbd", {}, key), h("span", {}, one.words)]);
  const pages = pageLinks().flatMap(([letter, link]) => [h("kbd", {}, `g ${letter}`), h("span", {}, link.textContent)]);
  const list = h("div", { class: "keylist" }, rows, pages);
  openDialog("Keys", list);
};

addKeys({ "?": ["This list", showKeys] });
