"""`python -m elt_llm_query.runner --cfg PROFILE -q QUESTION`: ask by profile.

Without -q it prompts for questions until `quit`.
"""

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from elt_llm_core.cli.failures import run
from elt_llm_core.cli.terminal import json_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from elt_llm_core.results import QueryResult

LEAVE = frozenset({"quit", "exit", "q"})
_LEVELS = click.Choice(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"])


@click.command()
@click.option("--cfg", "profile", help="Profile: a name or a YAML file.")
@click.option(
    "-q", "--query", "question", help="The question; without it you are prompted."
)
@click.option("-l", "--list", "list_profiles", is_flag=True, help="List the profiles.")
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder with the database, indexes and backups. [default: elt-llm-data]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON objects.")
@click.option("-v", "--verbose", is_flag=True, help="Same as --log-level DEBUG.")
@click.option("--log-level", type=_LEVELS, help="Minimum severity shown on stderr.")
def command(  # noqa: PLR0913 - one parameter an option
    profile: str | None,
    question: str | None,
    data_dir: Path | None,
    log_level: str | None,
    *,
    list_profiles: bool,
    as_json: bool,
    verbose: bool,
) -> None:
    """Answer questions from the collections of a profile."""
    if list_profiles:
        click.echo(_list_profiles())
        return
    if profile is None:
        raise click.UsageError("pass a profile with --cfg, or list them with --list")
    ask = _asker(profile, data_dir, "DEBUG" if verbose else log_level)
    if question is not None:
        click.echo(_show(ask(question), as_json=as_json))
        return
    _interactive(ask, as_json=as_json)


def main() -> None:
    """The console script: run the command and exit."""
    sys.exit(run(command))


def _list_profiles() -> str:
    from elt_llm_query.profiles import known_profiles  # noqa: PLC0415 - --help is quick

    return "\n".join(f"{name}  {path}" for name, path in known_profiles().items())


def _asker(
    profile: str, data_dir: Path | None, log_level: str | None
) -> "Callable[[str], QueryResult]":
    """Return a function that answers one question with the profile's settings."""
    # --help must not wait two seconds for LlamaIndex.
    from elt_llm_core.models.factory import build_models  # noqa: PLC0415
    from elt_llm_core.store import Store  # noqa: PLC0415
    from elt_llm_query.caching.semantic_cache import build_cache  # noqa: PLC0415
    from elt_llm_query.profiles import load_profile  # noqa: PLC0415
    from elt_llm_query.query import query_collections  # noqa: PLC0415

    over = {"stores": {"data_dir": data_dir}} if data_dir else None
    loaded = load_profile(profile, over)
    level = log_level or loaded.config.logging.level
    logging.basicConfig(level=level, stream=sys.stderr)
    store = Store(loaded.config.stores.data_dir, loaded.config.keywords)
    models = build_models(loaded.config)
    cache = build_cache(loaded.config, models)

    def ask(question: str) -> "QueryResult":
        """Answer from the collections that exist now."""
        existing = [card.name for card in store.collections()]
        return query_collections(
            loaded.selection.resolve(existing),
            question,
            store=store,
            config=loaded.config,
            models=models,
            cache=cache,
        )

    return ask


def _interactive(ask: "Callable[[str], QueryResult]", *, as_json: bool) -> None:
    """Prompt and answer until the user quits or the input ends."""
    while True:
        click.echo("question> ", nl=False, err=True)
        line = sys.stdin.readline()
        if not line or line.strip().lower() in LEAVE:
            return
        if line.strip():
            click.echo(_show(ask(line.strip()), as_json=as_json))


def _show(result: "QueryResult", *, as_json: bool) -> str:
    if as_json:
        plain = result.model_dump(mode="json")
        return json_text(plain)
    from elt_llm_query.render import answer_text  # noqa: PLC0415 - see above

    return answer_text(result, colour=sys.stdout.isatty())


if __name__ == "__main__":
    main()
