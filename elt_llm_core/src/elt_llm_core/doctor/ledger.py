"""Every row of the truth against what it must agree with."""

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from elt_llm_core import provenance
from elt_llm_core.errors import EltLlmError
from elt_llm_core.names import document_id, node_id
from elt_llm_core.store import codec
from elt_llm_core.store.nodes import node_from_row
from elt_llm_core.store.records import CollectionCard, DocumentRow
from elt_llm_core.store.truth import Truth
from elt_llm_core.store.vectors import is_sound, vector_key

ROUNDED = 0.01  # half precision changes the length of a unit vector by less
UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, zlib.error)
"""What a damaged blob or a damaged JSON text raises when it is read."""


def ledger_faults(truth: Truth) -> Iterator[str]:
    """What does not agree, one sentence each, in the order of collections and rows."""
    for card in truth.collections():
        for row in truth.documents(card.name):
            for fault in _document_faults(truth, card, row):
                yield f"{card.name}, {row.name}: {fault}"
        yield from _quarantine_faults(truth, card)


def _document_faults(
    truth: Truth, card: CollectionCard, row: DocumentRow
) -> Iterator[str]:
    if row.document_id != document_id(card.name, row.uri, row.part):
        yield "its id is not that of its address"
    try:
        text = truth.document_text(row.document_id)
        truth.blocks(row.document_id)
        truth.pages(row.document_id)
    except (*UNREADABLE, EltLlmError) as error:
        yield f"its text or pages cannot be read ({error})"
        return
    original = truth.original(row.document_id)
    if original is not None and _is_other(original, row.sha256):
        yield "its source file is not the one that was read"
    yield from _node_faults(truth, card, row, text)


def _is_other(original: bytes, sha256: str) -> bool:
    return hashlib.sha256(original).hexdigest() != sha256


def _node_faults(
    truth: Truth, card: CollectionCard, row: DocumentRow, text: str
) -> Iterator[str]:
    nodes = truth.rows(
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
    for ordinal, fault in _vector_faults(truth, card, nodes):
        yield f"chunk {ordinal}: {fault}"


def _chunk_faults(
    row: DocumentRow, document: str, ordinal: int, node: Sequence[Any]
) -> Iterator[str]:
    key, text, index_text, metadata, vector, place_sum, index_sum = node
    if codec.check_sum(metadata) != place_sum:
        yield "its metadata are not those it was stored with"
    if codec.check_sum(index_text, vector) != index_sum:
        yield "its searchable text or vector is not the one it was stored with"
    if key != node_id(row.document_id, row.config_key, ordinal, text):
        yield "its text is not the one it was stored with"
    try:
        found = node_from_row(key, text, metadata)
        place = provenance.read(found)
    except UNREADABLE as error:
        yield f"its metadata cannot be read ({type(error).__name__})"
        return
    if (place.document_id, place.ordinal) != (row.document_id, ordinal):
        yield "its metadata is another chunk's"
    if document[place.span_start : place.span_end] != text:
        yield "the document says something else where it stands"
    if provenance.index_text(found) != index_text:
        yield "it is searched by another text than it should be"


def _vector_faults(
    truth: Truth, card: CollectionCard, nodes: Sequence[Sequence[Any]]
) -> Iterator[tuple[int, str]]:
    for ordinal, _, _, index_text, _, vector, *_ in nodes:
        if vector and len(vector) != codec.VECTOR_BYTES * card.dimension:
            numbers = len(vector) // codec.VECTOR_BYTES
            yield ordinal, f"its vector has {numbers} numbers, not {card.dimension}"
            continue
        if vector and not _is_unit(vector):
            yield ordinal, "its vector is not of length one"
        key = vector_key(card.embedder_digest, index_text)
        kept = truth.rows(
            "select key, data, data_sum from vector where key = ?", (key,)
        )
        # A damaged row of the cache says nothing of the chunk; it has its own check.
        if vector and kept and is_sound(*kept[0]) and kept[0][1] != vector:
            yield ordinal, "its vector is not the one that was made of its text"


def _is_unit(vector: bytes) -> bool:
    numbers = np.frombuffer(vector, dtype="<f2").astype(np.float32)
    length = float(np.linalg.norm(numbers))
    return bool(np.isfinite(length)) and abs(length - 1) < ROUNDED


def _quarantine_faults(truth: Truth, card: CollectionCard) -> Iterator[str]:
    """Chunks have a vector or a reason why not, never both."""
    bare = truth.rows(
        "select node_id from node where collection = ? and vector = x'' "
        "and node_id not in (select node_id from quarantine)",
        (card.name,),
    )
    if bare:
        yield f"{card.name}: {len(bare)} chunks have neither a vector nor a reason"
    excused = truth.rows(
        "select node_id from quarantine join node using (node_id) "
        "where node.collection = ? and vector != x''",
        (card.name,),
    )
    if excused:
        yield f"{card.name}: {len(excused)} chunks in quarantine have a vector"
