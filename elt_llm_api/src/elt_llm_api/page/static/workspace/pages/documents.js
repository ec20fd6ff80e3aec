import { DocumentList } from "../document-list.js";
import { address } from "../address.js";
import { attempt } from "../dialogs.js";
import { fill } from "../dom.js";
import { startPage } from "../shell.js";
import { Viewer } from "../viewer.js";

const main = startPage();
const list = new DocumentList();
const viewer = new Viewer();

const show = () => attempt(async () => {
  const isOpen = Boolean(address.get("document"));
  const part = isOpen ? viewer : list;
  if (part.element.parentElement !== main) fill(main, main.querySelector("h1"), part.element);
  await part.show();
});
address.onback(show);
document.addEventListener("elt:go", show);
show();
