"""What was removed is in no file any more; and what was not, is all there."""

import shutil
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from core_stores import new_document, put
from elt_llm_core.conversation import Message, Speaker
from elt_llm_core.crash import VARIABLE, CrashPoint
from elt_llm_core.identifiers import document_id
from elt_llm_core.results import Citation, Span, Support
from elt_llm_core.reviews.review_records import Proposal, ReviewChange, ReviewStatus
from elt_llm_core.store import Store
from elt_llm_core.store.database import codec
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.maintenance import backup
from elt_llm_core.testing.fakes import HashEmbedding
from elt_llm_core.versions import VersionKind

pytestmark = pytest.mark.usefixtures("warm_commands")

REMOVED = "The xylophone of Quetzalcoatl hums at midnight."
WORDS = (b"xylophon", b"quetzalcoatl", b"Quetzalcoatl", b"midnight")
EMBEDDER = HashEmbedding()


@pytest.fixture(scope="session")
def _haunted_root(
    tmp_path_factory: pytest.TempPathFactory, many_sentences: list[str]
) -> Path:
    store = Store(tmp_path_factory.mktemp("haunted") / "data")
    put(store, "rules", new_document("a.txt", many_sentences[:60]))
    put(store, "rules", new_document("s.txt", [REMOVED, *many_sentences[60:70]]))
    put(store, "tiny", new_document("s.txt", [REMOVED]), publish=False)
    for name in ("rules", "tiny"):
        with store.writer() as writer:
            writer.remove_document(document_id(name, "test:s.txt"))
    store.close()
    return store.data_dir


@pytest.fixture
def haunted(tmp_path: Path, _haunted_root: Path) -> Store:
    """A root of its own whose files hold the removed REMOVED in many places."""
    shutil.copytree(_haunted_root, tmp_path / "haunted")
    return Store(tmp_path / "haunted")


def holders(root: Path) -> set[str]:
    """Files with a word of REMOVED in them, as they are or packed in a row."""
    found = set()
    (half,) = codec.pack_vectors(EMBEDDER.embed_array([REMOVED]))
    full = codec.unpack_vectors([half], EMBEDDER.dimension).tobytes()
    for path in root.rglob("*"):
        if not path.is_file():
            continue
        told = [path.read_bytes(), *cells(path)]
        if any(sign in one for one in told for sign in (*WORDS, half, full)):
            found.add(str(path.relative_to(root)))
    return found


def cells(path: Path) -> Iterator[bytes]:
    """Every value of every row of a SQLite file; compressed ones unpacked."""
    if not path.read_bytes().startswith(b"SQLite format 3"):
        return
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        tables = connection.execute("select name from sqlite_master where type='table'")
        for (table,) in tables.fetchall():
            for row in connection.execute(f"select * from '{table}'"):  # noqa: S608 - its own names
                for value in row:
                    if isinstance(value, str):
                        yield value.encode()
                    elif isinstance(value, bytes):
                        yield value
                        with suppress(zlib.error):
                            yield zlib.decompress(value)


def everything(store: Store) -> tuple[object, ...]:
    database = Database(store.data_dir)
    documents = store.documents("rules")
    return (
        [(n.node_id, n.text, n.metadata) for n in store.nodes("rules")],
        database.index_rows("rules"),
        [store.original(d.document_id) for d in documents],
        [store.document_text(d.document_id) for d in documents],
        store.journal.rows("run"),
    )


def test_before_the_purge_many_files_hold_it(haunted: Store) -> None:
    held = holders(haunted.data_dir)
    assert "truth.sqlite3" in held
    assert any("gen-000001" not in name and "keywords" in name for name in held)
    assert any("vectors" in name for name in held)


def test_after_the_purge_no_byte_of_it_is_left_and_all_else_is(haunted: Store) -> None:
    haunted.journal.put("run", "k", 0, "item", result={"answer": "kept"})
    before = everything(haunted)
    with haunted.writer() as writer:
        done = writer.purge()
    assert holders(haunted.data_dir) == set()
    assert everything(haunted) == before
    assert (done.vectors, done.originals, done.journal_kept) == (11, 0, 1)
    assert done.rebuilt == {"rules": 3}
    assert done.complete
    assert done.remaining == ()
    collection = haunted.open("rules")
    assert collection.degradations == ()
    assert collection.search_keyword("xylophone", 5) == []
    assert len(collection.search_keyword("kite", 20)) == 8
    database = Database(haunted.data_dir)
    assert database.rows("select * from removed") == []
    assert database.rows("select count(*) from change") == [(2,)]
    assert database.rows("pragma integrity_check") == [("ok",)]
    assert len(database.words_search("rules", ["kite"], 20)) == 8
    with haunted.writer() as writer:
        again = writer.purge()
    assert (again.rebuilt, again.vectors) == ({}, 0)


def test_copies_hold_it_until_they_are_purged_too(haunted: Store) -> None:
    put(haunted, "rules", new_document("s.txt", [REMOVED]), publish=False)
    kept = backup.back_up(haunted.data_dir)
    (haunted.data_dir / "truth.damaged-20200101T000000Z").write_bytes(WORDS[0])
    with haunted.writer() as writer:
        writer.remove_document(document_id("rules", "test:s.txt"))
        done = writer.purge()
    assert done.remaining == (f"backups/{kept.name}", "truth.damaged-20200101T000000Z")
    assert holders(haunted.data_dir) == set(done.remaining)
    with haunted.writer() as writer:
        assert writer.purge(backups=True).remaining == ()
    assert holders(haunted.data_dir) == set()


def test_copies_are_found_wherever_they_lie(haunted: Store) -> None:
    root = haunted.data_dir
    aside = root / "truth.damaged-20200101T000000Z"
    aside.mkdir()
    (aside / "x").write_bytes(WORDS[0])
    places = ("backups/mine.db", "backups/mine.sqlite3", "kept/deep/mine.sqlite3")
    for place in places:
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_bytes(WORDS[0])
    with haunted.writer() as writer:
        assert writer.purge().remaining == (*places, aside.name)
        assert writer.purge(backups=True).remaining == ()
    assert holders(root) == set()
    assert not aside.exists()
    assert haunted.open("rules").degradations == ()


def test_batch_results_are_kept_unless_they_are_asked_for(haunted: Store) -> None:
    haunted.journal.put("run", "k", 0, "item", result={"quote": REMOVED})
    haunted.close()
    with haunted.writer() as writer:
        assert writer.purge().journal_kept == 1
        assert haunted.journal.get("k") == {"quote": REMOVED}
        assert writer.purge(journal=True).journal == 1
    haunted.close()
    assert holders(haunted.data_dir) == set()


def test_texts_that_cite_what_is_gone_are_counted_and_purged_on_request(
    haunted: Store,
) -> None:
    def cite(document: str) -> Citation:
        place = {"document": "s", "page": 1, "section": "", "node_id": "0" * 32}
        found = {
            "support": Support.VERIFIED,
            "score": 1.0,
            "span": Span(start=0, end=4),
        }
        names = {"document_id": document, "collection": "rules", "label": "1"}
        return Citation(quote=REMOVED, **place, **found, **names)

    (kite, *_), gone = haunted.documents("rules"), document_id("rules", "test:s.txt")
    for key, document in (("gone", gone), ("there", kite.document_id)):
        turn = haunted.conversations.begin(key, "ann", "What of it?")
        cites = {"citations": (cite(document),), "documents": (document,)}
        haunted.conversations.complete(
            turn, Message(role=Speaker.ASSISTANT, text="x", **cites)
        )
        content = {
            "title": key,
            "collections": [],
            "parts": [{"document_id": document}],
        }
        haunted.versions.add(VersionKind.REPORT, key, "k", content)
    haunted.close()
    with haunted.writer() as writer:
        assert (writer.purge().texts, writer.purge().texts_kept) == (0, 2)
        done = writer.purge(texts=True)
    assert (done.texts, done.texts_kept, done.decisions) == (2, 0, 0)
    rows = haunted.conversations.by_owner("ann")
    assert [row.conversation_id for row in rows] == ["there"]
    assert [row.title for row in haunted.versions.rows(VersionKind.REPORT)] == ["there"]


def test_rows_of_products_that_name_what_is_gone_go_and_decisions_stay(
    haunted: Store,
) -> None:
    (kite, *_), gone = haunted.documents("rules"), document_id("rules", "test:s.txt")

    def row(item: str, **content: object) -> Proposal:
        fields = {"definition": REMOVED if item != "kite" else "A kite."}
        return Proposal(
            item_id=item, label=item, fields=fields, evidence=item, content=content
        )

    rows = [
        row(
            "kite", evidence=[{"document_id": kite.document_id, "document": kite.name}]
        ),
        row("gone", evidence=[{"document_id": gone}]),
        row("named", fields={"owner": {"document": "s.txt"}}),
        row("decided", document_id=gone),
    ]
    haunted.reviews.sync("glossary:rules", rows)
    change = ReviewChange(item_id="decided", status=ReviewStatus.APPROVED)
    haunted.reviews.change("glossary:rules", [change], "ann")
    output = haunted.data_dir / "output" / "glossary_rules.csv"
    output.parent.mkdir()
    output.write_text("x")
    haunted.close()
    with haunted.writer() as writer:
        assert writer.purge().texts_kept == 3
        done = writer.purge(texts=True)
    assert (done.texts, done.texts_kept, done.decisions) == (3, 0, 1)
    assert done.outputs == ("output/glossary_rules.csv",)
    left = haunted.reviews.items("glossary:rules")
    assert [(item.item_id, item.proposal is not None) for item in left] == [
        ("kite", True),
        ("decided", False),
    ]


def test_a_dropped_collection_leaves_no_byte(haunted: Store) -> None:
    put(haunted, "other", new_document("s.txt", [REMOVED, "and more"]), publish=False)
    left = haunted.data_dir / "indexes" / "gone-before"
    left.mkdir()
    (left / "x").write_bytes(WORDS[0])
    with haunted.writer() as writer:
        writer.drop_collection("other")
        writer.purge()
    assert holders(haunted.data_dir) == set()
    assert not left.exists()


def test_a_reader_in_the_middle_is_told_of_and_the_next_purge_finishes(
    haunted: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = sqlite3.connect(haunted.data_dir / "truth.sqlite3")
    with closing(reader), haunted.writer() as writer:
        reader.execute("begin")
        reader.execute("select count(*) from node").fetchone()
        writer._connection.execute("pragma busy_timeout = 50")
        assert not writer.purge().complete
    with haunted.writer() as writer:
        assert writer.purge().complete
    assert holders(haunted.data_dir) == set()


def test_a_chunk_without_vector_survives_a_purge(haunted: Store) -> None:
    new = new_document("q.txt", ["a zeppelin", "a kite"])
    kite = EMBEDDER.embed_array(["a kite"])
    with haunted.writer() as writer:
        writer.put_vectors(EMBEDDER.digest, ["a kite"], kite)
        told = {**new.__dict__, "unembedded": {"a zeppelin": "not finite"}}
        writer.put_document("rules", type(new)(**told))
        writer.purge()
        assert writer.missing_vectors(EMBEDDER.digest, ["a kite", "a zeppelin"]) == [1]
    assert haunted.card("rules").quarantined == 1
    assert np.isfinite(Database(haunted.data_dir).sequence("rules"))


PURGE = """
import sys
from pathlib import Path
from elt_llm_core.store import Store
with Store(Path(sys.argv[1])).writer() as writer:
    writer.purge(backups=True)
"""


@pytest.mark.parametrize("point", [p for p in CrashPoint if p.startswith("purge.")])
def test_a_crash_in_a_purge_loses_nothing_and_the_next_one_finishes(
    haunted: Store, point: CrashPoint
) -> None:
    before = everything(haunted)
    haunted.close()
    done = subprocess.run(
        [sys.executable, "-c", PURGE, str(haunted.data_dir)],
        env={"PATH": "/usr/bin:/bin", VARIABLE: str(point)},
        timeout=120,
        check=False,
    )
    assert done.returncode == -9
    assert everything(haunted) == before
    haunted.close()
    with haunted.writer() as writer:
        writer.purge(backups=True)
    haunted.close()
    assert holders(haunted.data_dir) == set()
    assert everything(haunted) == before
    assert haunted.open("rules").degradations == ()
