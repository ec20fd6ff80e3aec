"""`elt-llm search`, `query`, `chat` and `verify`."""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options

BAD_DATA = 65  # as sysexits.h has it

_collections = click.option(
    "--collection",
    "collections",
    type=COLLECTION,
    multiple=True,
    help="Collection to search (repeatable). [default: all]",
)


_where = click.option(
    "--where",
    "filters",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only chunks of this document, title, section, page, kind, rule, date, "
    "source or other metadata of the document (journal, doi). Also !=, <, "
    '<=, >, >=, and ~ for a substring; repeating a key means "or".',
)

_local = click.option(
    "--local",
    is_flag=True,
    help="Answer in this process, even if a server of the data root is running.",
)


@click.command()
@click.argument("question")
@_collections
@_where
@click.option(
    "--top-k",
    type=click.IntRange(1, 1000),
    help="Maximum number of sources. Chunks added by postprocessors (neighbours, "
    "referenced rules) do not count.",
)
@_local
@common_options
def search(
    ctx: CommandContext,
    question: str,
    collections: tuple[str, ...],
    filters: tuple[str, ...],
    top_k: int | None,
    *,
    local: bool,
) -> None:
    """Find the most relevant passages for a QUESTION."""
    asked = {"command": "search", "question": question, "top_k": top_k}
    _answer(ctx, asked, collections, filters, local=local)


@click.command()
@click.argument("question")
@_collections
@_where
@click.option(
    "--evidence",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write the answer with all its proof to FILE.html or FILE.json; check it "
    "later with: elt-llm verify FILE.",
)
@_local
@common_options
def query(
    ctx: CommandContext,
    question: str,
    collections: tuple[str, ...],
    filters: tuple[str, ...],
    evidence: Path | None,
    *,
    local: bool,
) -> None:
    """Answer a QUESTION with citations, or state that the documents have no answer."""
    asked = {"command": "query", "question": question}
    if evidence is not None:
        from elt_llm_query.evidence import check_ending

        check_ending(evidence)
    _answer(ctx, asked, collections, filters, evidence, local=local)


@click.command()
@_collections
@_where
@click.option(
    "--conversation",
    default="",
    metavar="ID",
    help="Continue this conversation; list them with elt-llm conversations list.",
)
@common_options
def chat(
    ctx: CommandContext,
    collections: tuple[str, ...],
    filters: tuple[str, ...],
    conversation: str,
) -> None:
    """Ask questions in a conversation; each is interpreted in its context.

    Each line is a question; /help lists the commands. Ctrl-C cancels a question, Ctrl-D
    ends the program. From a pipe every line is a question; with --json every answer,
    command and error is a line of JSON, and the exit code is that of the worst error.
    """
    ctx.require_named_data()
    ctx.note_unused_writer()
    with ctx.loading():
        from elt_llm_core.cli.failures import report_failure
        from elt_llm_query.library import Library
        from elt_llm_query.render import names_of, where_of
        from elt_llm_query.terminal_chat import (
            TerminalChat,
            read_messages,
        )
    with Library(config=ctx.config, models=ctx.models, store=ctx.store) as library:
        names_of(ctx.store, collections)
        talk = TerminalChat(
            library,
            collections,
            where_of(filters),
            conversation,
            tell=partial(
                report_failure,
                options=ctx.root_options,
                as_json=ctx.as_json,
                indent=None,
            ),
            as_json=ctx.as_json,
            quiet=ctx.quiet,
        )
        for message in read_messages():
            if not talk.take(message):
                break
        talk.end()
    if not sys.stdin.isatty():
        ctx.exit(talk.exit_code)


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@common_options
def verify(ctx: CommandContext, file: Path) -> None:
    """Check every quote of an evidence FILE against the data root.

    Reports which documents have changed since and which quotes are still present. The
    exit code is 65 if a quote is missing or the file itself was changed.
    """
    from elt_llm_core.store.maintenance.health import require_data
    from elt_llm_query.evidence import read_evidence, verify_evidence
    from elt_llm_query.render import report_text

    evidence = read_evidence(file)
    require_data(ctx.store.data_dir)
    report = verify_evidence(evidence, ctx.store)
    ctx.emit(report, lambda: report_text(report, colour=sys.stdout.isatty()))
    if not report.proven:
        raise SystemExit(BAD_DATA)


def _answer(
    ctx: CommandContext,
    asked: dict[str, Any],
    collections: tuple[str, ...],
    filters: tuple[str, ...],
    evidence: Path | None = None,
    *,
    local: bool,
) -> None:
    """Print the answer of a running server of the data root, or answer here."""
    if asked["command"] == "query":
        ctx.note_unused_writer()
    whole = {
        **asked,
        "collections": collections,
        "filters": filters,
        "as_json": ctx.as_json,
        "colour": sys.stdout.isatty(),
    }
    alone = local or evidence is not None  # a server returns text only
    text, declined = (None, "") if alone else ctx.ask_server(whole)
    if text is None:
        with ctx.loading():
            from elt_llm_query.render import CommandQuestion, print_answer
        with ctx.working("answering"):
            text = print_answer(
                CommandQuestion(**whole, declined=declined),
                store=ctx.store,
                config=ctx.config,
                models=lambda: ctx.models,
                evidence=evidence,
            )
    click.echo(text)
