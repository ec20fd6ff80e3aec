"""The truth file: whether SQLite can read it, and whether its parts agree."""

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from elt_llm_core.doctor.ledger import ledger_faults
from elt_llm_core.doctor.report import (
    REPAIR,
    RESTORE,
    Check,
    Level,
    fail,
    few,
    good,
    warn,
)
from elt_llm_core.errors import EltLlmError, StoreLockedError, StoreWriteError
from elt_llm_core.store import Store, schema
from elt_llm_core.store.backup import backup_files
from elt_llm_core.store.health import damaged_vectors, words_agree
from elt_llm_core.store.manifest import INDEXES, IndexFolder
from elt_llm_core.store.reader import FILE
from elt_llm_core.store.records import SCHEMA_VERSION
from elt_llm_core.store.truth import Truth

START_ANEW = "there is no backup; index the sources again with another --data-dir"


def truth_checks(store: Store, *, deep: bool) -> Iterator[Check]:
    """Every check of this kind; with `deep` each row is read and compared."""
    if not (store.data_dir / FILE).exists():
        try:
            schema.require_whole(store.data_dir / FILE)
        except EltLlmError as error:
            yield fail("truth", error.message, _restore(store.data_dir))
            return
        detail = f"no data at {store.data_dir} yet"
        yield warn("truth", detail, "elt-llm ingest PATH --collection NAME")
        return
    with closing(Truth(store.data_dir)) as truth:
        sound = file_check(truth, deep=deep)
        yield sound
        if sound.level is Level.OK:
            yield from _lost_changes(truth)
        if deep and sound.level is Level.OK:
            yield _links(truth)
            yield _ledger(truth)
            yield _words(store.data_dir)
            yield _cached_vectors(store.data_dir)


def _lost_changes(truth: Truth) -> Iterator[Check]:
    """Indexes that know of later changes than the truth: its log was lost."""
    found = truth.rows("select value from counter where name = 'seq'")
    last = int(found[0][0]) if found else 0
    data_dir = truth.path.parent
    for folder in sorted((data_dir / INDEXES).glob("*/")):
        with suppress(EltLlmError):  # a broken manifest has its own check
            manifest = IndexFolder(data_dir, folder.name).manifest()
            if manifest is not None and manifest.seq > last:
                lost = f"changes {last + 1} to {manifest.seq} are lost"
                detail = f"older than the index of {folder.name!r}: {lost}"
                yield fail("truth history", detail, _restore(data_dir))


def file_check(truth: Truth, *, deep: bool) -> Check:
    """What SQLite itself finds wrong, and whether the schema is ours."""
    statement = "pragma integrity_check" if deep else "pragma quick_check"
    try:
        found = truth.rows(statement)
    except EltLlmError as error:
        fix = _restore(truth.path.parent) if RESTORE in error.hint else error.hint
        return fail("truth", error.message, fix)
    faults = [str(row[0]) for row in found if row != ("ok",)]
    if faults:
        return fail("truth", few(faults), _restore(truth.path.parent))
    return good("truth", f"sound, schema {SCHEMA_VERSION}")


def _restore(data_dir: Path) -> str:
    return RESTORE if backup_files(data_dir) else START_ANEW


def _links(truth: Truth) -> Check:
    """Whether every row belongs to one that is there."""
    found = truth.rows("pragma foreign_key_check")
    lost = [f"a row of {row[0]} belongs to no {row[2]}" for row in found]
    if lost:
        return fail("truth links", few(lost), RESTORE)
    return good("truth links", "every row belongs to one that is there")


def _ledger(truth: Truth) -> Check:
    faults = list(ledger_faults(truth))
    if faults:
        return fail("truth content", few(faults), RESTORE)
    ((documents, chunks),) = truth.rows(
        "select (select count(*) from document), (select count(*) from node)"
    )
    return good("truth content", f"{documents} documents, {chunks} chunks agree")


def _words(root: Path) -> Check:
    try:
        agree = words_agree(root)
    except (StoreLockedError, StoreWriteError) as error:
        return warn("truth words", f"not looked at: {error.message}", error.hint)
    if not agree:
        detail = "the word table does not agree with the chunks"
        return fail("truth words", detail, REPAIR)
    return good("truth words", "the word table agrees with the chunks")


def _cached_vectors(root: Path) -> Check:
    count = damaged_vectors(root)
    if count:
        detail = f"{count} cached vectors are not as they were stored"
        return fail("truth vectors", detail, REPAIR)
    return good("truth vectors", "every cached vector is as it was stored")
