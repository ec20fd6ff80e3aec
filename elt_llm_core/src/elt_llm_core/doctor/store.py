"""Checks of the database file, its rows and its backups."""

import hashlib
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np

from elt_llm_core import provenance
from elt_llm_core.doctor.report import (
    REPAIR,
    RESTORE,
    Check,
    Level,
    fail,
    good,
    shorten_list,
    warn,
)
from elt_llm_core.errors import EltLlmError, StoreLockedError, StoreWriteError
from elt_llm_core.identifiers import document_id, node_id
from elt_llm_core.store import Store
from elt_llm_core.store.database import codec, schema
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.database.nodes import node_from_row
from elt_llm_core.store.database.reader import FILE
from elt_llm_core.store.database.records import (
    INDEXES,
    SCHEMA_VERSION,
    CollectionCard,
    DocumentRow,
)
from elt_llm_core.store.database.vectors import is_sound, vector_key
from elt_llm_core.store.index.manifest import IndexFolder
from elt_llm_core.store.maintenance.backup import backup_files, check
from elt_llm_core.store.maintenance.health import damaged_vectors, words_agree
from elt_llm_core.suspicion import describe, read_reasons

ROUNDED = 0.01  # larger than the change of a unit vector's length by half precision
UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, zlib.error)
"""What a damaged blob or a damaged JSON text raises when it is read."""


def list_ledger_faults(database: Database) -> Iterator[str]:
    """Return inconsistencies, one sentence each, in the order of rows."""
    for card in database.collections():
        for row in database.documents(card.name):
            for fault in _document_faults(database, card, row):
                yield f"{card.name}, {row.name}: {fault}"
        yield from _quarantine_faults(database, card)


def _document_faults(
    database: Database, card: CollectionCard, row: DocumentRow
) -> Iterator[str]:
    if row.document_id != document_id(card.name, row.uri, row.part):
        yield "its id does not match its address"
    try:
        text = database.document_text(row.document_id)
        database.blocks(row.document_id)
        database.pages(row.document_id)
    except (*UNREADABLE, EltLlmError) as error:
        yield f"its text or pages cannot be read ({error})"
        return
    original = database.original(row.document_id)
    if original is not None and _is_other(original, row.sha256):
        yield "its stored source file differs from the file that was read"
    yield from _node_faults(database, card, row, text)


def _is_other(original: bytes, sha256: str) -> bool:
    return hashlib.sha256(original).hexdigest() != sha256


def _node_faults(
    database: Database, card: CollectionCard, row: DocumentRow, text: str
) -> Iterator[str]:
    nodes = database.rows(
        "select ordinal, node_id, text, index_text, metadata, vector, place_sum, "
        "index_sum from node "
        "where document_id = ? order by ordinal",
        (row.document_id,),
    )
    ordinals = [node[0] for node in nodes]
    if ordinals != list(range(len(nodes))):
        yield "its chunks have gaps"
    for ordinal, *node in nodes:
        for fault in _chunk_faults(row, text, ordinal, node):
            yield f"chunk {ordinal}: {fault}"
    for ordinal, fault in _vector_faults(database, card, nodes):
        yield f"chunk {ordinal}: {fault}"


def _chunk_faults(
    row: DocumentRow, document: str, ordinal: int, node: Sequence[Any]
) -> Iterator[str]:
    key, text, index_text, metadata, vector, place_sum, index_sum = node
    if codec.check_sum(metadata) != place_sum:
        yield "its metadata differ from what was stored"
    if codec.check_sum(index_text, vector) != index_sum:
        yield "its index text or vector differs from what was stored"
    if key != node_id(row.document_id, row.config_key, ordinal, text):
        yield "its text differs from what was stored"
    try:
        stored = node_from_row(key, text, metadata)
        place = provenance.read(stored)
    except UNREADABLE as error:
        yield f"its metadata cannot be read ({type(error).__name__})"
        return
    if (place.document_id, place.ordinal) != (row.document_id, ordinal):
        yield "its metadata belong to another chunk"
    if document[place.span_start : place.span_end] != text:
        yield "the document has a different text at its position"
    if provenance.index_text(stored) != index_text:
        yield "its index text is not the expected one"


def _vector_faults(
    database: Database, card: CollectionCard, nodes: Sequence[Sequence[Any]]
) -> Iterator[tuple[int, str]]:
    for ordinal, _, _, index_text, _, vector, *_ in nodes:
        if vector and len(vector) != codec.VECTOR_BYTES * card.dimension:
            numbers = len(vector) // codec.VECTOR_BYTES
            yield ordinal, f"its vector has {numbers} numbers, not {card.dimension}"
            continue
        if vector and not _is_unit(vector):
            yield ordinal, "its vector does not have unit length"
        key = vector_key(card.embedder_digest, index_text)
        kept = database.rows(
            "select key, data, data_sum from vector where key = ?", (key,)
        )
        # A damaged cached vector does not affect the chunk; it has its own check.
        if vector and kept and is_sound(*kept[0]) and kept[0][1] != vector:
            yield ordinal, "its vector does not match its text"


def _is_unit(vector: bytes) -> bool:
    numbers = np.frombuffer(vector, dtype="<f2").astype(np.float32)
    length = float(np.linalg.norm(numbers))
    return bool(np.isfinite(length)) and abs(length - 1) < ROUNDED


def _quarantine_faults(database: Database, card: CollectionCard) -> Iterator[str]:
    """Return chunks that have both or neither of a vector and a reason."""
    bare = database.rows(
        "select node_id from node where collection = ? and vector = x'' "
        "and node_id not in (select node_id from quarantine)",
        (card.name,),
    )
    if bare:
        yield f"{card.name}: {len(bare)} chunks have neither a vector nor a reason"
    excused = database.rows(
        "select node_id from quarantine join node using (node_id) "
        "where node.collection = ? and vector != x''",
        (card.name,),
    )
    if excused:
        yield f"{card.name}: {len(excused)} chunks in quarantine have a vector"


READ_THEM = "inspect them; then: elt-llm remove NAME --collection COLLECTION"
START_ANEW = "there is no backup; index the sources again with another --data-dir"


def check_database(store: Store, *, deep: bool) -> Iterator[Check]:
    """Run every check of this kind; with `deep` each row is read and compared."""
    if not (store.data_dir / FILE).exists():
        try:
            schema.require_whole(store.data_dir / FILE)
        except EltLlmError as error:
            yield fail("database", error.message, _restore(store.data_dir))
            return
        detail = f"no data at {store.data_dir} yet"
        yield warn("database", detail, "elt-llm ingest PATH --collection NAME")
        return
    with closing(Database(store.data_dir)) as database:
        sound = check_database_file(database, deep=deep)
        yield sound
        if sound.level is Level.OK:
            yield from _lost_changes(database)
            with suppress(*UNREADABLE, EltLlmError):  # a deep look names damaged rows
                yield check_suspicions(database)
        if deep and sound.level is Level.OK:
            yield _links(database)
            yield _ledger(database)
            yield _words(store.data_dir)
            yield _cached_vectors(store.data_dir)


def _lost_changes(database: Database) -> Iterator[Check]:
    """Return indexes with later changes than the database, which lost its log."""
    rows = database.rows("select value from counter where name = 'seq'")
    last = int(rows[0][0]) if rows else 0
    data_dir = database.path.parent
    for folder in sorted((data_dir / INDEXES).glob("*/")):
        with suppress(EltLlmError):  # a broken manifest has its own check
            manifest = IndexFolder(data_dir, folder.name).manifest()
            if manifest is not None and manifest.seq > last:
                lost = f"changes {last + 1} to {manifest.seq} are lost"
                detail = f"older than the index of {folder.name!r}: {lost}"
                yield fail("database history", detail, _restore(data_dir))


def check_database_file(database: Database, *, deep: bool) -> Check:
    """Return SQLite's own check of the file, and whether the schema is known."""
    statement = "pragma integrity_check" if deep else "pragma quick_check"
    try:
        rows = database.rows(statement)
    except EltLlmError as error:
        fix = _restore(database.path.parent) if RESTORE in error.hint else error.hint
        return fail("database", error.message, fix)
    faults = [str(row[0]) for row in rows if row != ("ok",)]
    if faults:
        return fail("database", shorten_list(faults), _restore(database.path.parent))
    return good("database", f"sound, schema {SCHEMA_VERSION}")


def _restore(data_dir: Path) -> str:
    return RESTORE if backup_files(data_dir) else START_ANEW


def check_suspicions(database: Database) -> Check:
    """Return the documents with suspicious passages."""
    rows = database.rows(
        "select d.collection, d.name, json_extract(n.metadata, '$.suspicious') why, "
        "count(*) from node n join document d using (document_id) "
        "where instr(n.metadata, '\"suspicious\":') group by d.document_id, why "
        "order by d.collection, d.name, d.part, why"
    )
    if not rows:
        return good("passages", "no document addresses a language model or hides text")
    documents = [
        f"{collection}, {name}: {count} ({describe(read_reasons(why))})"
        for collection, name, why, count in rows
    ]
    total = sum(row[3] for row in rows)
    noun = "passage" if total == 1 else "passages"
    return warn(
        "passages", f"{total} suspicious {noun}: {shorten_list(documents)}", READ_THEM
    )


def _links(database: Database) -> Check:
    """Check that every row belongs to an existing one."""
    broken = database.rows("pragma foreign_key_check")
    lost = [f"a row of {row[0]} refers to a missing {row[2]}" for row in broken]
    if lost:
        return fail("database links", shorten_list(lost), RESTORE)
    return good("database links", "every row refers to an existing one")


def _ledger(database: Database) -> Check:
    faults = list(list_ledger_faults(database))
    if faults:
        return fail("database content", shorten_list(faults), RESTORE)
    ((documents, chunks),) = database.rows(
        "select (select count(*) from document), (select count(*) from node)"
    )
    return good(
        "database content", f"{documents} documents and {chunks} chunks are consistent"
    )


def _words(root: Path) -> Check:
    try:
        agree = words_agree(root)
    except (StoreLockedError, StoreWriteError) as error:
        return warn("database words", f"not checked: {error.message}", error.hint)
    if not agree:
        detail = "the word table does not agree with the chunks"
        return fail("database words", detail, REPAIR)
    return good("database words", "the word table agrees with the chunks")


def _cached_vectors(root: Path) -> Check:
    count = damaged_vectors(root)
    if count:
        detail = f"{count} cached vectors differ from what was stored"
        return fail("database vectors", detail, REPAIR)
    return good("database vectors", "every cached vector is intact")


BACK_UP = "elt-llm store backup"
HOUR = 3600
TWO_DAYS = 48  # in hours


def check_backups(store: Store, *, deep: bool) -> Iterator[Check]:
    """Check the newest backup and its age; with `deep` the newest sound one."""
    if not (store.data_dir / FILE).exists():
        return
    files = backup_files(store.data_dir)
    broken = []
    while deep and files and (fault := _fault(files[0])):
        broken.append(fault)
        files = files[1:]
    if broken:
        detail = f"{len(broken)} backups are damaged: {shorten_list(broken)}"
        yield fail("backup damage", detail, f"delete them, then: {BACK_UP}")
    if files:
        yield good("backup", f"{files[0].name}, {_age(files[0])}")
    else:
        yield warn("backup", "there is no intact backup of the database", BACK_UP)


def _fault(path: Path) -> str:
    try:
        check(path)
    except EltLlmError as error:
        return error.message
    return ""


def _age(path: Path) -> str:
    hours = (time.time() - path.stat().st_mtime) / HOUR
    if hours < TWO_DAYS:
        return f"{hours:.0f} hours old"
    return f"{hours / 24:.0f} days old"
