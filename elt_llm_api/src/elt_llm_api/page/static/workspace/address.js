// The state of a page is its address: reload, back and a shared link show the same.

export const address = {
  get: (key) => new URLSearchParams(location.search).get(key) || "",
  all: (key) => new URLSearchParams(location.search).getAll(key),
  // `push` makes a step that "back" returns from; else the address is only kept true.
  set: (changes, { push = false } = {}) => {
    const state = new URLSearchParams(location.search);
    for (const [key, value] of Object.entries(changes)) {
      state.delete(key);
      for (const one of Array.isArray(value) ? value : [value]) if (one) state.append(key, one);
    }
    const search = state.toString();
    const url = search ? `?${search}` : location.pathname;
    if (`?${search}` === location.search || (!search && !location.search)) return;
    history[push ? "pushState" : "replaceState"](null, "", url);
  },
  onback: (work) => addEventListener("popstate", work),
};

// What belongs to the person and not to the place: the reviewer's name, the theme.
export const kept = {
  get: (key) => { try { return localStorage.getItem(`elt.${key}`) || ""; } catch { return ""; } },
  set: (key, value) => { try { localStorage.setItem(`elt.${key}`, value); } catch { /* private mode */ } },
};
