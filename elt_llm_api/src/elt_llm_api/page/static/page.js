// Labels of an answer lead to their card and Escape leads back; the answer is announced,
// and its address is that of the page; groups of choices work as HTML's own; what is
// removed or renamed is asked about first, and the HTTP API does it.
() => {
  let last = null;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.cite");
    if (!link) return;
    const card = document.getElementById(link.getAttribute("href").slice(1));
    if (!card) return;
    event.preventDefault();
    last = link;
    document.querySelectorAll(".current").forEach((c) => c.classList.remove("current"));
    card.classList.add("current");
    card.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
    card.focus({ preventScroll: true });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && last && last.isConnected) {
      last.focus();
      last.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
    }
  });
  const announce = () => {
    const log = document.getElementById("answer");
    if (!log) return setTimeout(announce, 100);
    log.setAttribute("role", "log");
    log.setAttribute("aria-live", "polite");
    log.setAttribute("aria-label", "Answer");
  };
  announce();

  // An answer tells where it can be read again; going back reads the page anew.
  let shown = location.search;
  const follow = () => {
    const address = document.querySelector("#answer [data-address]")?.dataset.address;
    if (!address || address === shown) return;
    history.pushState(null, "", address);
    shown = address;
  };
  addEventListener("popstate", () => location.search !== shown && location.reload());

  // Gradio gives each radio a name of its own, and no group one: HTML's own keys need it.
  let groups = 0;
  const nameGroups = () => {
    for (const group of document.querySelectorAll("fieldset")) {
      const title = group.querySelector('[data-testid="block-info"]');
      if (!title) continue;
      title.id ||= `group-${++groups}`;
      group.setAttribute("aria-labelledby", title.id);
      const radios = group.querySelectorAll("input[type=radio]");
      if (radios.length) group.setAttribute("role", "radiogroup");
      for (const radio of radios) if (radio.name !== title.id) radio.name = title.id;
    }
  };
  let due = false;
  new MutationObserver(() => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; nameGroups(); follow(); });
  }).observe(document.body, { childList: true, subtree: true });
  nameGroups();

  const ask = (question) => {
    const field = document.querySelector("#question textarea, #question input");
    field.value = question;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
    setTimeout(() => document.getElementById("ask-button").click());
  };

  const make = (name, text, attributes = {}) => {
    const element = document.createElement(name);
    element.textContent = text;
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    return element;
  };
  // Asks about a change, makes it, and says why where it is refused.
  const confirmChange = ({ method, path, effect, value }, opener) => {
    const renaming = method === "PATCH";
    const verb = renaming ? "Rename" : "Remove";
    const dialog = make("dialog", "", { id: "confirm", "aria-labelledby": "confirm-title" });
    const form = make("form", "", { method: "dialog" });
    const title = make("input", "", { type: "text", maxlength: 200, required: "", "aria-label": "Title" });
    title.value = value || "";
    const fault = make("p", "", { role: "alert", class: "fault" });
    const row = make("p", "", { class: "row" });
    const cancel = make("button", "Cancel", { type: "button" });
    const sure = make("button", verb, { type: "submit", class: renaming ? "sure" : "sure bad" });
    row.append(cancel, sure);
    form.append(make("h2", `${verb}?`, { id: "confirm-title" }), make("p", effect), ...(renaming ? [title] : []), fault, row);
    dialog.append(form);
    const close = () => dialog.close();
    cancel.addEventListener("click", close);
    dialog.addEventListener("close", () => { dialog.remove(); if (opener.isConnected) opener.focus(); });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      sure.disabled = true;
      fault.textContent = "";
      try {
        const body = renaming ? JSON.stringify({ title: title.value }) : undefined;
        const reply = await fetch(path, { method, body, headers: { "content-type": "application/json" } });
        if (reply.ok) {
          close();
          document.getElementById("changed").click();
          return;
        }
        const problem = await reply.json();
        fault.textContent = [problem.detail, problem.hint].filter(Boolean).join("; ");
      } catch {
        fault.textContent = "The server does not answer.";
      }
      sure.disabled = false;
    });
    document.querySelector(".gradio-container").append(dialog);
    dialog.showModal();
    (renaming ? title : cancel).focus();
  };

  // The filter of a table hides the rows that lack one of its words.
  document.addEventListener("input", (event) => {
    if (!event.target.matches("input.filter")) return;
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of event.target.parentElement.querySelectorAll("tbody tr")) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-question], button[data-path]");
    if (!button) return;
    if (button.dataset.question) ask(button.dataset.question);
    else if (button.dataset.path.startsWith("/v1/")) confirmChange(button.dataset, button);
  });
}
