import { attempt } from "../dialogs.js";
import { Chat } from "../chat.js";
import { startPage } from "../shell.js";

const chat = new Chat(startPage());
attempt(() => chat.start());
