"""Rebuild what can be derived from the database. Nothing is embedded or restored."""

import shutil
from contextlib import closing

from pydantic import Field

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.doctor.indexes import inspect_in_process, list_unknown_folders
from elt_llm_core.doctor.report import Level
from elt_llm_core.doctor.store import check_database_file
from elt_llm_core.errors import GenerationError
from elt_llm_core.files.scratch import list_abandoned, sweep
from elt_llm_core.records import Record
from elt_llm_core.store import Store
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.database.reader import FILE
from elt_llm_core.store.database.records import INDEXES
from elt_llm_core.store.index.publish import list_left_overs
from elt_llm_core.store.maintenance import backup
from elt_llm_core.store.maintenance.health import (
    forget_damaged_vectors,
    rebuild_words,
    words_agree,
)


class Repaired(Record):
    """The result of a repair: rebuilt and failed indexes, and removed files."""

    rebuilt: dict[str, int] = Field(default_factory=dict)
    failed: dict[str, str] = Field(default_factory=dict)
    removed: tuple[str, ...] = ()
    words: bool = False
    vectors: int = 0


def repair(config: RagConfig, store: Store) -> Repaired:
    """Remove unfinished files, and rebuild whatever differs from the database.

    A damaged database is not touched. Raises StoreLockedError while another process
    writes, and StoreWriteError.
    """
    if not (store.data_dir / FILE).exists() or not _database_is_sound(store):
        return Repaired()
    removed = [path.name for path in list_left_overs(store.data_dir)]
    removed += [folder.name for folder in list_abandoned()]
    sweep()
    backup.sweep(store.data_dir)
    words = not words_agree(store.data_dir)
    if words:
        rebuild_words(store.data_dir)
    vectors = forget_damaged_vectors(store.data_dir)
    for name in list_unknown_folders(store):
        shutil.rmtree(store.data_dir / INDEXES / name, ignore_errors=True)
        removed.append(name)
    rebuilt, failed = _rebuild(config, store)
    return Repaired(
        rebuilt=rebuilt,
        failed=failed,
        removed=tuple(removed),
        words=words,
        vectors=vectors,
    )


def _database_is_sound(store: Store) -> bool:
    with closing(Database(store.data_dir)) as database:
        return check_database_file(database, deep=False).level is Level.OK


def _rebuild(config: RagConfig, store: Store) -> tuple[dict[str, int], dict[str, str]]:
    """Build the indexes that are unusable or too incomplete, one by one."""
    rebuilt: dict[str, int] = {}
    failed: dict[str, str] = {}
    with store.writer() as writer:  # removes unfinished files
        for card in store.collections():
            force = bool(
                store.open(card.name).degradations
                or inspect_in_process(store, card.name)
            )
            try:
                done = writer.publish(
                    [card.name], config.stores.delta_fraction, force=force
                )
                rebuilt.update(done)
            except GenerationError as error:
                failed[card.name] = error.reason
    return rebuilt, failed
