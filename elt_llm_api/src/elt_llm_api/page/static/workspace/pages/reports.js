import { attempt } from "../dialogs.js";
import { ReportsPage } from "../reports.js";
import { startPage } from "../shell.js";

const page = new ReportsPage(startPage());
attempt(() => page.load());
