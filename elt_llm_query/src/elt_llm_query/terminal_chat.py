"""A conversation on a terminal: live steps, streamed words, then the checked answer.

A question runs in a separate thread, so that Ctrl-C cancels the question and not the
program. Answers go to stdout, everything else to stderr: a pipe gets answers only.
"""

import queue
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from elt_llm_core.cli.terminal import escape_controls, escape_line, json_text
from elt_llm_core.conversation import Conversation
from elt_llm_core.errors import (
    EltLlmError,
    OutputFileError,
    UsageError,
    suggest,
)
from elt_llm_core.files.atomic import write_named_file
from elt_llm_core.patience import Patience
from elt_llm_query.conversation.conversation_text import source_lines
from elt_llm_query.conversation.export import export_conversation, format_of
from elt_llm_query.conversation.source_numbers import NumberedSource, numbered_sources
from elt_llm_query.conversation.turn import LOCAL, ChatResult
from elt_llm_query.library import Library
from elt_llm_query.render import other_quotes
from elt_llm_query.step_events import StepEvent, TokenEvent, TurnEvent

# Seconds between checks for Ctrl-C: an unlimited wait cannot be interrupted.
LOOK = 0.1
# Lines of unchecked text to show: few, because lines that scrolled off the screen
# cannot be erased.
MOST_SHOWN = 600
HELP = """\
/sources       what the conversation cites, by number; /sources 2 shows one in full
/export FILE   write the conversation: .md, .html, or .bib for what it cites
/new           begin another conversation
/1, /2 ...     ask what was suggested
/undo          take the last question and its answer back
/help          this list
/quit          end; so does Ctrl-D. Ctrl-C leaves a question."""


ENDS = ("quit", "exit", "q")


class Reply(NamedTuple):
    """The output of a command: as text, and as the fields of a line of JSON."""

    text: str
    fields: Mapping[str, Any]


class TerminalChat:
    """Runs conversations, one line of input at a time.

    Args:
        library: The library that answers.
        collections: Ids or titles of the collections; none means all.
        where: Limits the sources.
        conversation: The conversation to continue.
        tell: Prints an error and returns its exit code.
        as_json: Whether answers and command outputs are lines of JSON.
        quiet: Whether steps are hidden.

    Attributes:
        exit_code: The highest exit code of the errors so far, or 0.
    """

    def __init__(  # noqa: PLR0913 - what a conversation may be given
        self,
        library: Library,
        collections: Sequence[str] = (),
        where: Mapping[str, Any] | None = None,
        conversation: str = "",
        *,
        tell: Callable[[EltLlmError], int],
        as_json: bool = False,
        quiet: bool = False,
    ) -> None:
        self._library = library
        self._collections = tuple(collections)
        self._where = where
        self._key = conversation
        self._tell = tell
        self._as_json = as_json
        self.exit_code = 0
        self._follow_ups: tuple[str, ...] = ()
        self._quiet = quiet or not sys.stderr.isatty()
        self._commands: dict[str, Callable[[str], Reply]] = {
            "sources": self._sources,
            "export": self._export,
            "new": self._new,
            "undo": self._undo,
            "help": lambda _: Reply(HELP, {"help": HELP}),
        }
        if conversation:
            self._read()  # raises an error if it is invalid

    def take(self, line: str) -> bool:
        """Answer a question or run a command.

        Args:
            line: The line as typed.

        Returns:
            Whether the conversation continues.
        """
        name, _, rest = line.strip().removeprefix("/").partition(" ")
        is_command = line.strip().startswith("/")
        if is_command and name in ENDS:
            return False
        try:
            if is_command and name.isdecimal():
                self._answer(self._follow_up(int(name)))
            elif is_command:
                self._do(name, rest.strip())
            elif line.strip():
                self._answer(line.strip())
        except EltLlmError as error:
            self.exit_code = max(self.exit_code, self._tell(error))
        return True

    def end(self) -> None:
        """Print how to continue the conversation."""
        if self._key and not self._quiet:
            command = f"elt-llm chat --conversation {self._key}"
            click.echo(f"To go on with it: {command}", err=True)

    def _follow_up(self, number: int) -> str:
        """Return the suggested question with this number."""
        if not 1 <= number <= len(self._follow_ups):
            most = len(self._follow_ups)
            raise UsageError(f"no question /{number}", f"{most} were suggested")
        return self._follow_ups[number - 1]

    def _do(self, name: str, rest: str) -> None:
        """Run a command and print its output."""
        if name not in self._commands:
            known = (*self._commands, ENDS[0])
            raise UsageError(f"no command /{name[:40]}", suggest(name, known))
        reply = self._commands[name](rest)
        if self._as_json:
            click.echo(json_text({"command": name, **reply.fields}, indent=None))
        else:
            click.echo(escape_controls(reply.text))

    def _answer(self, message: str) -> None:
        """Ask in a thread, show its events, print the checked answer."""
        patience = Patience(self._library.config.query.question_timeout)
        events: queue.SimpleQueue[TurnEvent] = queue.SimpleQueue()
        answer: Future[ChatResult] = Future()

        def work() -> None:
            try:
                with patience.apply():
                    answer.set_result(
                        self._library.chat(
                            message,
                            self._key,
                            self._collections,
                            where=self._where,
                            watch=events.put,
                        )
                    )
            except BaseException as error:  # noqa: BLE001 - raised where it is awaited
                answer.set_exception(error)

        thread = threading.Thread(target=work, name="elt-llm-chat")
        thread.start()
        try:
            self._show_events(events, answer)
        except KeyboardInterrupt:
            patience.abandon()
            thread.join()
            click.echo("\nThe question was left; nothing of it is kept.", err=True)
            return
        self._print(answer.result())

    def _show_events(
        self, events: "queue.SimpleQueue[TurnEvent]", answer: "Future[ChatResult]"
    ) -> None:
        """Show steps and words until the answer arrives, then erase them."""
        console = Console(stderr=True, quiet=self._quiet)
        step, words = "", ""
        with Live(console=console, transient=True, auto_refresh=False) as live:
            while not (answer.done() and events.empty()):
                with suppress(queue.Empty):
                    event = events.get(timeout=LOOK)
                    if isinstance(event, StepEvent) and event.state == "begun":
                        step = event.text
                    elif isinstance(event, TokenEvent):
                        words = event.text if event.restart else words + event.text
                    shown = escape_controls(words[-MOST_SHOWN:])
                    live.update(
                        Text(shown, style="dim").append(f"\n{escape_line(step)} ..."),
                        refresh=events.empty(),
                    )

    def _print(self, turn: ChatResult) -> None:
        self._key = turn.conversation_id
        self._follow_ups = turn.follow_ups
        if self._as_json:
            click.echo(json_text(turn.model_dump(mode="json"), indent=None))
            return
        lines = [turn.text]
        if turn.searched:
            lines.insert(0, f"Understood as: {escape_line(turn.searched)}\n")
        if turn.sources:
            lines += ["", *source_lines(turn.sources)]
        lines += other_quotes(turn.result)
        lines += [
            f"note: {escape_line(note.detail)}" for note in turn.result.degradations
        ]
        lines += [f"/{n} {escape_line(q)}" for n, q in enumerate(turn.follow_ups, 1)]
        click.echo(escape_controls("\n".join([*lines, ""])))

    def _read(self) -> Conversation:
        """Return the conversation. Raises UsageError if none was started."""
        if not self._key:
            raise UsageError("nothing was asked yet", "ask a question first")
        return self._library.store.conversations.read(self._key, LOCAL)

    def _sources(self, number: str) -> Reply:
        sources = numbered_sources(self._read())
        if not number:
            text = "\n".join(source_lines(sources)) or "Nothing was cited yet."
            return Reply(text, {"sources": [_plain(source) for source in sources]})
        known = {str(source.number): source for source in sources}
        if number not in known:
            raise UsageError(
                f"no source {number[:20]!r}", f"they are 1 to {len(known)}"
            )
        return self._whole_source(known[number])

    def _whole_source(self, source: NumberedSource) -> Reply:
        """Return place, quotes and the whole passage, if its document still has it."""
        collection = self._library.store.open(source.collection)
        node = collection.nodes([source.chunk]).get(source.chunk)
        passage = node.get_content() if node else None
        shown = "The passage is gone." if passage is None else passage
        text = "\n".join([*source_lines([source]), "", shown])
        return Reply(text, {"sources": [{**_plain(source), "passage": passage}]})

    def _export(self, file: str) -> Reply:
        if not file:
            raise UsageError("no file", "write /export FILE.md, .html or .bib")
        path = Path(file).expanduser()
        form = format_of(path)
        if not path.absolute().parent.is_dir():
            raise OutputFileError(file, "its folder does not exist")
        write_named_file(path, export_conversation(self._read(), form))
        return Reply(f"Written: {path}", {"file": str(path)})

    def _new(self, _: str) -> Reply:
        self._key = ""
        return Reply("A new conversation.", {})

    def _undo(self, _: str) -> Reply:
        conversation = self._read()
        question = self._library.store.conversations.undo(
            conversation.conversation_id, LOCAL
        )
        text = f"Taken back: {question}" if question else "Nothing to take back."
        return Reply(text, {"taken_back": question})


def _plain(source: NumberedSource) -> dict[str, Any]:
    return source.model_dump(mode="json")


def read_messages() -> Iterator[str]:
    """Yield the lines of stdin; on a terminal with a prompt and line history."""
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    with suppress(ImportError):  # not available on every platform, and not required
        import readline  # noqa: F401, PLC0415 - input() uses it once it is loaded
    while True:
        try:
            yield input("\n? ")
        except EOFError:
            click.echo(err=True)
            return
        except KeyboardInterrupt:
            click.echo("\n/quit or Ctrl-D ends the program.", err=True)
