// Elements from values. Text is always a text node, so no text of a document is markup.

export const h = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && typeof value !== "string") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  put(element, ...children);
  return element;
};

export const put = (element, ...children) => {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
};

export const fill = (element, ...children) => {
  element.replaceChildren();
  return put(element, ...children);
};

// The lines of a paragraph as one: a line break goes where the sentence goes on, and stays
// before items and short lines such as those of a fact sheet. The length stays the same.
const WRAPPED = /\n(?=\p{Ll})(?!\(?\w{1,4}[.)]\s|\p{L}[\p{L} ]{0,30}: )|(?<=[^\n]{60}[^\n.:;!?])\n(?=[^\n])(?!\s*(?:[-•–—*▪]|\(?\w{1,4}[.)])\s)/gu;
export const unwrap = (text) => text.replace(WRAPPED, " ");

// A local address, or nothing: an address of a document's own making is never followed.
export const local = (url) => (/^\/(?![/\\])/.test(url || "") ? url : undefined);

export const badge = ({ icon, word, tone, why }) =>
  h("span", { class: `badge ${tone || ""}`, title: why }, icon && h("span", { "aria-hidden": "true" }, icon), word);

export const count = (number, thing, many) =>
  `${number.toLocaleString("en")} ${number === 1 ? thing : many || `${thing}s`}`;

export const button = (label, onclick, attributes = {}) => {
  const { key, ...others } = attributes;
  return h("button", { type: "button", onclick, "aria-keyshortcuts": key, ...others }, label, key && h("kbd", { "aria-hidden": "true" }, key));
};

export const save = (name, content, type) => {
  const link = h("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

export const later = (milliseconds, work) => {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), milliseconds);
  };
};
