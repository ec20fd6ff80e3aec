"""What is looked at after a crash, in a fresh process; also what the controls fail.

    python crash_checks.py look|probe DATA_DIR

It reads the files by itself where it can, so that a fault of the store's own reading
code cannot hide a fault of its writing code.
"""

import json
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from chromadb.config import Settings
from crash_files import NOUNS, VERBS

from elt_llm_core.errors import GenerationError, StoreError
from elt_llm_core.store import Store
from elt_llm_core.store.index.manifest import IndexFolder, Manifest
from elt_llm_core.testing.fakes import HashEmbedding

PROBES = [
    f"which {a} {v} the {b}"
    for a, b, v in zip(NOUNS, NOUNS[5:], VERBS * 3, strict=False)
]
TOP = 10


def look(root: Path) -> dict[str, Any]:
    """Documents and chunks as stored, and every fault of truth and indexes."""
    if not (root / "truth.sqlite3").exists():
        return {"documents": {}, "faults": []}
    with memory_copy(root) as database:
        documents = documents_of(database)
        faults = [*truth_faults(database), *index_faults(root, database)]
    return {"documents": documents, "faults": faults}


class memory_copy:  # noqa: N801
    """The truth in memory: looking at it changes nothing, the word index included."""

    def __init__(self, root: Path) -> None:
        self._path = root / "truth.sqlite3"

    def __enter__(self) -> sqlite3.Connection:
        file = sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True)
        self._memory = sqlite3.connect(":memory:")
        file.backup(self._memory)
        file.close()
        return self._memory

    def __exit__(self, *ended: object) -> None:
        self._memory.close()


def has_tables(database: sqlite3.Connection) -> bool:
    return bool(database.execute("pragma user_version").fetchone()[0])


def documents_of(database: sqlite3.Connection) -> dict[str, Any]:
    """Document id to its row and its chunks: id, ordinal, text and vector digests."""
    if not has_tables(database):
        return {}
    found: dict[str, Any] = {}
    for row in database.execute(
        "select document_id, collection, uri, part, name, sha256, parser, config_key, "
        "text, blocks from document order by document_id"
    ):
        found[row[0]] = {
            "row": [*row[1:8], digest(row[8]), digest(row[9])],
            "nodes": [],
        }
    for row in database.execute(
        "select document_id, node_id, ordinal, kind, page, text, index_text, metadata, "
        "vector from node order by document_id, ordinal, node_id"
    ):
        texts = digest("\x00".join(map(str, row[3:8])))
        found[row[0]]["nodes"].append([row[1], row[2], texts, digest(row[8])])
    return found


def digest(value: bytes | str) -> str:
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return sha256(data).hexdigest()[:16]


def truth_faults(database: sqlite3.Connection) -> Iterator[str]:
    """Faults of the database file alone."""
    (state,) = database.execute("pragma integrity_check").fetchone()
    if state != "ok":
        yield f"integrity: {state}"
    if not has_tables(database):
        return
    yield from (
        f"orphan: {row}" for row in database.execute("pragma foreign_key_check")
    )
    try:
        database.execute("insert into words(words, rank) values('integrity-check', 1)")
    except sqlite3.DatabaseError as error:
        yield f"the word index does not fit the chunks: {error}"
    statements = {
        "documents without chunks": "select count(*) from document d where not exists "
        "(select 1 from node n where n.document_id = d.document_id)",
        "gaps in the chunks of a document": "select count(*) from (select 1 from node "
        "group by document_id having max(ordinal) + 1 != count(*))",
        "chunks newer than their collection": "select count(*) from node n "
        "join collection c on c.name = n.collection where n.seq > c.seq",
        "collections newer than the counter": "select count(*) from collection "
        "where seq > (select value from counter where name = 'seq')",
        "removed chunks that are there": "select count(*) from removed r "
        "join node n using (node_id) where r.seq > n.seq",
    }
    for name, statement in statements.items():
        if (count := database.execute(statement).fetchone()[0]) != 0:
            yield f"{name}: {count}"


def manifests(root: Path) -> Iterator[tuple[IndexFolder, Manifest]]:
    """What is published, by collection. Raises GenerationError for a broken one."""
    for path in sorted(root.glob("indexes/*/MANIFEST.json")):
        folder = IndexFolder(root, path.parent.name)
        manifest = folder.manifest()
        assert manifest is not None
        yield folder, manifest


def index_faults(root: Path, database: sqlite3.Connection) -> Iterator[str]:
    """Faults of what is published, each opened by hand, and of the store's own view."""
    try:
        published = list(manifests(root))
        for folder, manifest in published:
            place = folder.path(manifest.generation)
            folder.check(place)
            yield from generation_faults(place, manifest, database)
    except (GenerationError, OSError, ValueError) as error:
        yield f"published: {error}"
        return
    store = Store(root)
    try:
        indexed = {manifest.collection for _, manifest in published}
        for card in store.collections():
            collection = store.open(card.name)
            if card.name in indexed:
                yield from (f"degraded: {d.detail}" for d in collection.degradations)
            yield from search_faults(store, card.name)
    except StoreError as error:
        yield f"store: {error}"
    finally:
        store.close()


def generation_faults(
    place: Path, manifest: Manifest, database: sqlite3.Connection
) -> Iterator[str]:
    """A generation against the chunks that the truth says it holds."""
    name, seq = manifest.collection, manifest.seq
    ids = json.loads((place / "ids.json").read_bytes())
    if not len(set(ids)) == len(ids) == manifest.nodes:
        yield f"{name}: {len(ids)} ids, the manifest says {manifest.nodes}"
    old = "select node_id, length(vector) from node where collection = ? and seq <= ?"
    kept = dict(database.execute(old, (name, seq)).fetchall())
    gone = "select node_id from removed where collection = ? and seq > ?"
    removed = {row[0] for row in database.execute(gone, (name, seq))}
    if kept.keys() - set(ids) or set(ids) - kept.keys() - removed:
        yield f"{name}: the generation holds other chunks than the truth at {seq}"
    blind = {node for node, size in kept.items() if not size}
    if lost := unreachable(place / "vectors", name, set(ids) - blind - removed):
        yield f"{name}: {len(lost)} chunks cannot be reached"


def unreachable(folder: Path, name: str, expected: set[str]) -> set[str]:
    """Ids that no query of a copy of a Chroma folder returns."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        client = chromadb.PersistentClient(copy, Settings(anonymized_telemetry=False))
        collection = client.get_collection(name, embedding_function=None)
        some = collection.get(limit=1, include=["embeddings"])["embeddings"]
        found = collection.query(
            query_embeddings=np.ones((1, len(some[0])), dtype=np.float32),
            n_results=max(collection.count(), 1),
            include=[],
        )
        client.close()
    return expected - set(found["ids"][0])


def search_faults(store: Store, name: str) -> Iterator[str]:
    """Whether searches find what comparing every stored vector finds."""
    collection = store.open(name)
    ids = sorted(node.node_id for node in store.nodes(name))
    if not ids:
        return
    stored = collection.vectors(ids)
    matrix = np.array([stored[node] for node in ids])
    for probe in PROBES[:5]:
        vector = HashEmbedding(dimension=matrix.shape[1]).embed_array([probe])[0]
        best = np.sort(matrix @ vector)[::-1][:TOP]
        hits = collection.search_dense(vector, TOP)
        if not {node for node, _ in hits} <= set(ids):
            yield f"{name}: a search finds what is not there"
        scores = np.array([score for _, score in hits])
        if scores.shape != best.shape or np.abs(scores - best).max() > 1e-3:
            yield f"{name}: {probe!r} finds {scores}, exact is {best}"


def probe(root: Path) -> dict[str, Any]:
    """Top ten of every probe by vector, by words and fused, in every collection."""
    from elt_llm_query.retrieval.fusion import HitList, Rrf

    store = Store(root)
    found: dict[str, Any] = {}
    for card in store.collections():
        collection = store.open(card.name)
        for text in PROBES:
            vector = HashEmbedding(dimension=card.dimension).embed_array([text])[0]
            # Copies of a text are equally near; where the tenth place is cut through
            # them, any may come, so all are asked for and put in the order of ids.
            dense = ranked(collection.search_dense(vector, card.chunks))
            words = ranked(collection.search_keyword(text, card.chunks))
            fused = Rrf()([HitList("dense", dense), HitList("keyword", words)])
            nearest = collection.search_dense(vector, TOP)
            found[f"{card.name}: {text}"] = {
                "nearest": [round(score, 3) for _, score in nearest],
                "dense": [node for node, _ in dense[:TOP]],
                "keyword": [node for node, _ in words[:TOP]],
                "fused": [node for node, _ in fused[:TOP]],
            }
    store.close()
    return found


def ranked(hits: list[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Hits by score, those of one score by id."""
    return tuple(sorted(hits, key=lambda h: (-round(h[1], 5), h[0])))


if __name__ == "__main__":
    step = {"look": look, "probe": probe}[sys.argv[1]]
    print(json.dumps(step(Path(sys.argv[2]))))
