import { attempt } from "../dialogs.js";
import { ModelPage } from "../model.js";
import { startPage } from "../shell.js";

const page = new ModelPage(startPage());
attempt(() => page.load());
