// Labels of an answer lead to their card and Escape leads back; the answer is announced.
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
    document.querySelectorAll(".source-card.current").forEach((c) => c.classList.remove("current"));
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
}
