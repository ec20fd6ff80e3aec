"""Common parts of commands: options, configuration, progress, output."""

import functools
import logging
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import click
from typing_extensions import override

from elt_llm_core.cli.terminal import escape_controls, json_text
from elt_llm_core.cli.waiting import pause_garbage_collection, status_line
from elt_llm_core.errors import StoreLockedError

if TYPE_CHECKING:
    from elt_llm_core.cli.served import Served
    from elt_llm_core.config.loader import RagConfig
    from elt_llm_core.jobs import JobContext, Progress
    from elt_llm_core.store import Store
    from elt_llm_core.strategy import Models

ROOT_OPTIONS = ("--data-dir", "--pack", "--profile", "--models", "--config")
# A command in a hint ends where the sentence continues; a path may contain a full stop,
# and a product name a colon.
_COMMAND = re.compile(r"\belt-llm(?: (?!or\b|and\b)[^\s;,()`'\"]*[^\s;,:()`'\".])+")


def read_shared_options(arguments: Sequence[str]) -> dict[str, str]:
    """Return the options of a command line that select data and settings."""
    return dict(_pairs(arguments))


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    left = iter(arguments)
    for word in left:
        if word == "--":
            return
        name, equals, value = word.partition("=")
        if name in ROOT_OPTIONS:
            yield name, value if equals else next(left, "")


def complete_hint(hint: str, options: Mapping[str, str]) -> str:
    """Return the hint with `options` added to every command that lacks them."""

    def whole(match: re.Match[str]) -> str:
        command = match.group()
        words = command.split()
        lacking = [n for n in options if options[n] and n not in words]
        if "--help" in words:
            return command
        return " ".join([command, *(f"{n} {shlex.quote(options[n])}" for n in lacking)])

    return _COMMAND.sub(whole, hint)


P = ParamSpec("P")
_SHARED = (
    *("data_dir", "pack", "profile", "models_name", "config_file"),
    *("as_json", "quiet", "log_level"),
)


class CollectionType(click.ParamType[str]):
    """The name of a collection, as its id."""

    name = "name"

    @override
    def convert(
        self,
        value: str,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """Return the id. Raises InvalidNameError."""
        from elt_llm_core.identifiers import collection_id

        return collection_id(value) if value else value


class FolderType(click.Path):
    """A folder that may not exist. An empty value would be the working folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, file_okay=False)

    @override
    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """Return the path. Raises BadParameter for an empty value."""
        if not os.fspath(value).strip():
            self.fail("must name a folder", param, ctx)
        return super().convert(value, param, ctx)


COLLECTION = CollectionType()


class CommandContext:
    """The common options of commands, and the objects built from them on demand."""

    def __init__(
        self,
        *,
        data_dir: Path | None = None,
        pack: str | None = None,
        profile: str | None = None,
        models_name: str | None = None,
        config_file: Path | None = None,
        as_json: bool = False,
        quiet: bool = False,
        log_level: str | None = None,
    ) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self._data_dir = data_dir
        self._pack = pack
        self._profile = profile
        self._models_name = models_name
        self._config_file = config_file
        self._log_level = log_level

    @cached_property
    def config(self) -> "RagConfig":
        """Return the merged configuration; also set up logging."""
        from elt_llm_core.config.loader import load_config

        over = {"stores": {"data_dir": self._data_dir}} if self._data_dir else {}
        config = load_config(
            self._config_file,
            self._profile,
            overrides=self._with_pack(over),
            models=self._models_name,
        )
        level = self._log_level or config.logging.level
        logging.basicConfig(
            level=level, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
        )
        return config

    def build_config(
        self, profile: str | None, overrides: Mapping[str, Any]
    ) -> "RagConfig":
        """Return the configuration with another profile, or settings on top."""
        from elt_llm_core.config.loader import load_config

        return load_config(
            self._config_file,
            profile or self._profile,
            overrides=self._with_pack(overrides),
            models=self._models_name,
        )

    def _with_pack(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        """The settings, and the pack that --pack names."""
        if self._pack is None:
            return dict(overrides)
        consumer = {**overrides.get("consumer", {}), "pack": self._pack}
        return {**overrides, "consumer": consumer}

    def use_pack(self, name: str) -> None:
        """Use a domain pack if no other is chosen; before anything is made."""
        if not self.config.consumer.pack:
            self._pack = name
            del self.config

    def require_named_data(self) -> None:
        """Raise NoDataError if --data-dir names a folder without data."""
        from elt_llm_core.store.maintenance.health import require_data

        if self._data_dir:
            require_data(self._data_dir)

    def note_unused_writer(self) -> None:
        """Print a line if --models names a language model that no answer will use."""
        writes_nothing = "extractive"
        if not self._models_name or self.quiet:
            return
        config = self.config
        if (
            config.models.llm_strategy != "none"
            and config.query.synthesizer_strategy == writes_nothing
        ):
            click.echo(
                "the language model writes no answers: query.synthesizer_strategy is "
                f"{writes_nothing}; add --profile ollama",
                err=True,
            )

    @cached_property
    def store(self) -> "Store":
        """Return the data root; opening creates nothing."""
        from elt_llm_core.store import Store

        return Store(self.config.stores.data_dir, self.config.keywords)

    @cached_property
    def models(self) -> "Models":
        """Return the configured models."""
        from elt_llm_core.models.factory import build_models

        return build_models(self.config)

    @cached_property
    def progress(self) -> "Progress":
        """Return a progress bar on a terminal, or lines; nothing with --quiet."""
        from elt_llm_core.cli.progress import make_progress

        return make_progress(quiet=self.quiet)

    def require_writer(self, wait: float, *, needed: bool = True) -> None:
        """Raise StoreLockedError at once if another process writes and `wait` is 0.

        The lock is taken only after a second of imports; this check comes first.
        """
        from elt_llm_core.store.database.lock import LOCK, lock_holder

        if needed and wait <= 0:
            holder = lock_holder(self.config.stores.data_dir / LOCK)
            if holder:
                raise StoreLockedError(holder)

    @property
    def job_context(self) -> "JobContext":
        """Return the context for a job."""
        from elt_llm_core.jobs import JobContext

        return JobContext(self.config, self.store, self.progress)

    def ask_server(self, asked: Mapping[str, Any]) -> "Served":
        """Return the output of a running server of the data root for a question.

        If a server declines the question, a line on stderr gives the reason.

        Args:
            asked: The question with its options.

        Returns:
            The text to print; or nothing, and the reason if a server declined.

        Raises:
            EltLlmError: The errors that the command itself would raise.
        """
        from elt_llm_core.cli import served

        environ = served.settings_of_process()
        default = environ.get("ELT_LLM_STORES__DATA_DIR") or "elt-llm-data"
        data_dir = self._data_dir or Path(environ.get("ELT_LLM_DATA_DIR") or default)
        if self._log_level or not served.is_ours(data_dir / served.SOCKET):
            return served.Served()
        settings = {
            "folder": str(Path.cwd()),
            "config_file": str(self._config_file) if self._config_file else None,
            "pack": self._pack,
            "profile": self._profile,
            "models": self._models_name,
            "data_dir": str(self._data_dir) if self._data_dir else None,
            "environ": environ,
        }
        request = {"settings": settings, "asked": dict(asked)}
        try:
            with self.working("querying the server"):
                reply = served.ask_server(data_dir, request) or {}
        except served.ServerSilentError as error:
            reply = {"silent": str(error)}
        if "fault" in reply:
            raise served.error_of(reply["fault"])
        why = reply.get("silent") or ""
        if reply.get("declined"):
            why = f"was not used: {reply['declined']}"
        if why:
            why = f"the server of {data_dir} {why}; working without it"
            click.echo(escape_controls(f"elt-llm: {why}"), err=True)
        return served.Served(reply.get("stdout"), why)

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Show a message on a terminal while imports run in this block.

        The block imports the dependencies of one question; the command ends with the
        answer.
        """
        pause_garbage_collection()
        with status_line("loading", quiet=self.quiet):
            yield

    @contextmanager
    def working(self, text: str) -> Iterator[None]:
        """Show a message on a terminal during this block; nothing with --quiet."""
        with status_line(text, quiet=self.quiet):
            yield

    def emit(self, value: Any, human: Callable[[], str] | str) -> None:
        """Print one JSON object with --json, otherwise the text."""
        self.end_progress()
        if self.as_json:
            plain = value.model_dump(mode="json") if _is_record(value) else value
            click.echo(json_text(plain))
            return
        click.echo(escape_controls(human if isinstance(human, str) else human()))

    def hint(self, text: str) -> str:
        """Return the text with the data and settings options in its commands."""
        return complete_hint(text, self.root_options)

    @property
    def root_options(self) -> dict[str, str]:
        """Return the options that select the data and settings of the command."""
        given = {
            "--data-dir": self._data_dir,
            "--pack": self._pack,
            "--profile": self._profile,
            "--models": self._models_name,
            "--config": self._config_file,
        }
        return {name: str(value) for name, value in given.items() if value}

    def end_progress(self) -> None:
        """Remove the progress bar before anything else is printed."""
        progress = self.__dict__.get("progress")
        close = getattr(progress, "close", None)
        if close is not None:
            close()

    def exit(self, code: int) -> None:
        """End the command with an exit code."""
        self.end_progress()
        click.get_current_context().exit(code)


def common_options(
    function: Callable[Concatenate[CommandContext, P], Any],
) -> Callable[P, Any]:
    """Add the common options; the function gets a CommandContext first."""

    @click.option(
        "--data-dir",
        type=FolderType(),
        help="Folder with the database, indexes and backups. [default: elt-llm-data]",
    )
    @click.option(
        "--pack",
        help="Domain pack: a shipped one, or a folder; its settings go below the "
        "profile.",
    )
    @click.option(
        "--profile", help="Profile: named settings on top of the configuration."
    )
    @click.option(
        "--models",
        "models_name",
        metavar="NAME",
        help="Model provider, overriding the profile: embedded, ollama, or "
        "EMBEDDER+LLM such as embedded+ollama. The profile decides whether a model "
        "writes answers (--profile ollama).",
    )
    @click.option(
        "--config",
        "config_file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="YAML file to use instead of the shipped configuration.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
    @click.option("--quiet", is_flag=True, help="No progress.")
    @click.option(
        "--log-level",
        type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]),
        help="Minimum severity shown on stderr.",
    )
    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Any:
        shared: dict[str, Any] = {name: kwargs.pop(name) for name in _SHARED}
        context = CommandContext(**shared)
        try:
            return function(context, *args, **kwargs)
        except StoreLockedError as error:
            if "wait" not in kwargs:  # the option of commands that write
                raise
            hint = "wait for it to finish, or pass --wait SECONDS"
            raise StoreLockedError(error.holder, hint) from error
        finally:
            context.end_progress()

    return wrapper


def _is_record(value: Any) -> bool:
    return hasattr(value, "model_dump")
