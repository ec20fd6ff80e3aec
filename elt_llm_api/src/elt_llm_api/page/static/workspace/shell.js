// What every page has: theme, keys, the job tray.

import { kept } from "./address.js";
import { button, h } from "./dom.js";
import { startTray } from "./jobs.js";
import { showKeys } from "./keys.js";

const THEMES = { "": "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
const SIGNS = { "": "◐", light: "☀", dark: "☾" };

const dress = (theme) => {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
};
dress(kept.get("theme"));

export const startPage = () => {
  const tools = document.getElementById("tools");
  const theme = button("", () => {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(kept.get("theme")) + 1) % names.length];
    kept.set("theme", next);
    dress(next);
    label();
  }, { class: "plain" });
  const label = () => {
    const now = THEMES[kept.get("theme")] ? kept.get("theme") : "";
    theme.textContent = SIGNS[now];
    theme.setAttribute("aria-label", THEMES[now]);
    theme.title = THEMES[now];
  };
  label();
  tools.append(theme, button("Keys", showKeys, { key: "?", class: "plain" }));
  document.querySelector(".pages a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  startTray();
  return document.getElementById("main");
};

export const split = (...panes) => h("div", { class: `panes ${panes.length === 2 ? "two" : ""}` }, ...panes);

// Links that unfold below a word; Escape folds them.
export const menu = (title, links) => {
  const fold = h("details", { class: "menu", onkeydown: (event) => {
    if (event.key !== "Escape" || !fold.open) return;
    event.stopPropagation();
    fold.open = false;
    fold.querySelector("summary").focus();
  } }, h("summary", {}, title), h("ul", {}, links.map((link) => h("li", {}, link))));
  return fold;
};
