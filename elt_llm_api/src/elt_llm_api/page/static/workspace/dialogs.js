// Dialogs, and sentences that come and go.

import { button, fill, h } from "./dom.js";

// Opens a dialog; the promise is true if it was agreed to. `agree` may be refused: it throws.
export const openDialog = (title, content, { agree, label = "OK", tone = "main", wide = false } = {}) =>
  new Promise((resolve) => {
    const opener = document.activeElement;
    let agreed = false;
    const fault = h("p", { class: "note bad", role: "alert", hidden: true });
    const form = h("form", { method: "dialog" });
    const dialog = h("dialog", { class: wide ? "wide" : "", "aria-label": title }, form);
    const close = button(agree ? "Cancel" : "Close", () => dialog.close());
    const sure = agree && h("button", { type: "submit", class: tone }, label);
    // A list and a text have Enter for themselves.
    form.addEventListener("keydown", (event) => {
      if (!sure || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      form.requestSubmit(sure);
    });
    form.append(h("h2", {}, title), content, fault, h("div", { class: "actions" }, close, sure || ""));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (!agree) return dialog.close();
      sure.disabled = true;
      try {
        await agree();
        agreed = true;
        dialog.close();
      } catch (error) {
        fault.hidden = false;
        fill(fault, error.message);
        sure.disabled = false;
      }
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (opener?.isConnected) opener.focus({ preventScroll: true });
      resolve(agreed);
    });
    if (sure && form.querySelector("textarea, select")) sure.append(h("kbd", { "aria-hidden": "true" }, "Ctrl ⏎"));
    document.body.append(dialog);
    dialog.showModal();
    (form.querySelector("input, textarea, select") || sure || close).focus();
  });

let toastTimer;
export const say = (text, tone = "") => {
  fill(document.getElementById("live"), text);
  document.getElementById("toast")?.remove();
  document.body.append(h("div", { id: "toast", class: tone, "aria-hidden": "true" }, text));
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => document.getElementById("toast")?.remove(), tone === "bad" ? 8000 : 3500);
};

export const announce = (text) => fill(document.getElementById("live"), text);

// Runs work of an event; what the server refuses is said.
export const attempt = async (work) => {
  try {
    return await work();
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, "bad");
    return undefined;
  }
};
