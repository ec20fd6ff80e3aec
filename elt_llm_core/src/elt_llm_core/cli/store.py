"""`elt-llm store`: backups, restoring, indexes and purging of a data root."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elt_llm_core.cli.common import COLLECTION, CommandContext, common_options
from elt_llm_core.cli.failures import PARTIAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elt_llm_core.question_traces import StoredTrace
    from elt_llm_core.store.maintenance.purge import Purged

MB = 1e6
SHOWN_CHARACTERS = 60  # of a question in a list

wait_option = click.option(
    "--wait", default=0.0, help="Seconds to wait for another process that writes."
)


@click.group()
def store() -> None:
    """Back up, restore, compact and purge the data root; list traces."""


@store.command()
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write instead of one in the data root's backups folder.",
)
@common_options
def backup(ctx: CommandContext, target: Path | None) -> None:
    """Write everything that cannot be rebuilt to one verified file.

    Works while documents are being ingested. Indexes are not copied; a restore rebuilds
    them.
    """
    from elt_llm_core.store.maintenance.backup import back_up

    stores = ctx.config.stores
    made = back_up(stores.data_dir, target, stores.backups_kept)
    size = made.stat().st_size
    ctx.emit({"file": str(made), "bytes": size}, f"{made}  {size / MB:.1f} MB, checked")


@store.command()
@common_options
def backups(ctx: CommandContext) -> None:
    """List the backups in the data root, the newest first."""
    from elt_llm_core.store.maintenance.backup import backups
    from elt_llm_core.store.maintenance.health import require_data

    data_dir = ctx.config.stores.data_dir
    if not data_dir.exists():
        require_data(data_dir)
    files = backups(data_dir)

    def human() -> str:
        lines = [
            f"{b.made}  {b.bytes / MB:>9.1f} MB  schema {b.schema_version}  {b.file}"
            for b in files
        ]
        none = f"No backups yet. Make one: {ctx.hint('elt-llm store backup')}"
        return "\n".join(lines) or none

    ctx.emit({"backups": [b.model_dump(mode="json") for b in files]}, human)


@store.command()
@click.argument("file")
@wait_option
@common_options
def restore(ctx: CommandContext, file: str, wait: float) -> None:
    """Replace the database with a backup FILE, or with the `latest` intact one.

    The current database is saved in the same folder, even if it cannot be read. Indexes
    that do not belong to the backup are rebuilt; nothing is re-embedded.
    """
    from elt_llm_core.store.maintenance.restore import restore

    stores = ctx.config.stores
    done = restore(stores.data_dir, file, wait)
    # A separate store: nothing that was read before may stay open.
    with closing(ctx.store), ctx.store.writer(wait) as writer:
        names = [card.name for card in ctx.store.collections()]
        built = writer.publish(names, stores.delta_fraction)

    def human() -> str:
        lines = [f"skipped: {reason}" for reason in done.skipped]
        lines.append(f"restored {done.file}")
        if done.aside:
            lines.append(f"the previous database was saved as {done.aside}")
        lines += [f"index of {name}: generation {n}" for name, n in built.items()]
        return "\n".join(lines)

    ctx.emit({**done.model_dump(mode="json"), "published": built}, human)


@store.command()
@wait_option
@common_options
def migrate(ctx: CommandContext, wait: float) -> None:
    """Migrate a data root of an earlier version; a backup is made first."""
    from elt_llm_core.store.database.records import SCHEMA_VERSION

    _require_data(ctx)
    with ctx.store.writer(wait) as writer:
        kept = str(writer.migrated or "")
    message = f"migrated to schema {SCHEMA_VERSION}; the backup is {kept}"
    already = f"nothing to do: the data root has schema {SCHEMA_VERSION}"
    ctx.emit({"schema": SCHEMA_VERSION, "backup": kept}, message if kept else already)


@store.command()
@click.argument("collections", nargs=-1, type=COLLECTION)
@wait_option
@common_options
def compact(ctx: CommandContext, collections: tuple[str, ...], wait: float) -> None:
    """Build the next index of COLLECTIONS (all of them without one) now."""
    _require_data(ctx)
    names = [ctx.store.card(name).name for name in collections]
    names = names or [card.name for card in ctx.store.collections()]
    built: dict[str, int] = {}
    if names:
        with ctx.store.writer(wait) as writer:
            built = writer.publish(names, force=True)

    def human() -> str:
        lines = [
            f"{name}: generation {built[name]}"
            if name in built
            else f"{name}: too small for an index; searched without one"
            for name in sorted(names)
        ]
        return "\n".join(lines) or "No collections yet."

    ctx.emit({"published": built}, human)


@store.command()
@click.argument("collection", type=COLLECTION)
@wait_option
@common_options
def rollback(ctx: CommandContext, collection: str, wait: float) -> None:
    """Return to the earlier index of COLLECTION; the content does not change.

    Documents newer than that index are still found.
    """
    from elt_llm_core.errors import GenerationError, StoreError

    _require_data(ctx)
    ctx.store.card(collection)
    try:
        with ctx.store.writer(wait) as writer:
            number = writer.rollback(collection)
    except GenerationError as error:
        raise StoreError(f"{collection}: {error.reason}", "nothing changed") from error
    ctx.emit(
        {"collection": collection, "generation": number},
        f"{collection}: generation {number} is published again",
    )


@store.command()
@click.option("--backups", is_flag=True, help="Also delete the backups.")
@click.option("--journal", is_flag=True, help="Also delete the results of batches.")
@click.option(
    "--texts",
    is_flag=True,
    help="Also delete conversations, reports, topics and generated rows that "
    "cite removed documents.",
)
@wait_option
@common_options
def purge(
    ctx: CommandContext, *, backups: bool, journal: bool, texts: bool, wait: float
) -> None:
    """Erase the bytes of removed documents from every file.

    Searches skip a removed document at once; this command also erases its bytes.
    """
    _require_data(ctx)
    with ctx.store.writer(wait) as writer:
        done = writer.purge(backups=backups, journal=journal, texts=texts)
    rest = [ctx.hint(n) for n in _rest(done, backups=backups, journal=journal)]
    shown: dict[str, Any] = {**done.model_dump(mode="json"), "notes": rest}
    freed = (done.bytes_before - done.bytes_after) / MB
    head = (
        f"forgotten: {_many(done.vectors, 'vector')}, "
        f"{_many(done.originals, 'source file')}, "
        f"{_many(done.journal, 'batch result')}, {_many(done.texts, 'text')}; "
        f"{_many(len(done.rebuilt), 'index', 'indexes')} rebuilt; {freed:.1f} MB freed"
    )
    ctx.emit(shown, "\n".join([head, *rest]))
    whole = done.complete and not (backups and done.remaining)
    ctx.exit(0 if whole else PARTIAL)


@store.command()
@click.option(
    "--last",
    type=click.IntRange(1, 1_000_000),
    default=20,
    show_default=True,
    help="Maximum number of traces to show.",
)
@common_options
def traces(ctx: CommandContext, last: int) -> None:
    """List the traces of questions, the newest first.

    Traces are stored if the configuration has query: {trace: store}. --json shows
    each stage with its time and hits; `elt-llm store purge --journal` deletes them.
    """
    from elt_llm_core.question_traces import read_traces

    _require_data(ctx)
    rows = read_traces(ctx.store, last)
    plain = [row.model_dump(mode="json") for row in rows]
    ctx.emit({"traces": plain}, lambda: _traces_text(rows))


def _require_data(ctx: CommandContext) -> None:
    """Raise NoDataError: a writer would create the data root."""
    from elt_llm_core.store.maintenance.health import require_data

    require_data(ctx.config.stores.data_dir)


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count} {one if count == 1 else more or one + 's'}"


def _rest(done: "Purged", *, backups: bool, journal: bool) -> list[str]:
    """Return what may still contain removed text."""
    notes = []
    if not done.complete:
        notes.append(
            "another process was reading the data root: run this again "
            "when it has finished"
        )
    if done.remaining:
        copies = _many(len(done.remaining), "earlier copy", "earlier copies")
        cure = "remove them by hand" if backups else "elt-llm store purge --backups"
        names = ", ".join(done.remaining)
        notes.append(f"{copies} may still hold removed text ({names}): {cure}")
    if not journal and done.journal_kept:
        notes.append(
            f"{_many(done.journal_kept, 'batch result')} remain and may quote "
            "removed text: elt-llm store purge --journal"
        )
    if done.texts_kept:
        notes.append(
            f"{_many(done.texts_kept, 'text')} (conversations, reports, topics, rows "
            "of products) cite removed documents: elt-llm store purge --texts"
        )
    if done.outputs:
        notes.append(
            f"{_many(len(done.outputs), 'file')} of products may quote removed text "
            f"({', '.join(done.outputs)}): remove them by hand"
        )
    if done.decisions:
        notes.append(
            f"{_many(done.decisions, 'decision')} of reviews remain, each with "
            "the text that was reviewed"
        )
    return notes


def _traces_text(traces: "Sequence[StoredTrace]") -> str:
    """Format the traces as a table."""
    from elt_llm_core.cli.terminal import escape_line, text_table

    if not traces:
        return "No traces are stored. Turn them on with query: {trace: store}"
    head = ("asked", "status", "ms", "calls", "tokens", "settings", "question")
    rows = [
        (
            one.asked[:19],
            one.status.value,
            f"{one.milliseconds:.0f}",
            str(one.trace.models.calls),
            str(one.trace.models.tokens),
            one.trace.config_hash[:8],
            escape_line(one.question)[:SHOWN_CHARACTERS],
        )
        for one in traces
    ]
    return text_table(head, rows)
