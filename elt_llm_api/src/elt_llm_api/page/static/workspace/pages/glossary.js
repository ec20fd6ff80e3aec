import { attempt } from "../dialogs.js";
import { startPage } from "../shell.js";
import { Workbench } from "../workbench.js";

const bench = new Workbench(startPage(), { kind: "glossary", title: "Glossary" });
attempt(() => bench.load());
