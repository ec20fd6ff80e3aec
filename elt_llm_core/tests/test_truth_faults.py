"""Flipped bits, lost pages, cut ends of the truth: refused, or answered as before."""

import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from core_stores import new_document, put
from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.errors import EltLlmError, UnusableDatabaseError
from elt_llm_core.store import Store
from elt_llm_core.testing.fakes import HashEmbedding

PAGE = 4096
VARIANTS = 90
PAGE = 4096
EMBEDDER = HashEmbedding()
QUESTION = EMBEDDER.embed_array(["the harbour needs 30 checks"])[0]


@pytest.fixture(scope="module")
def truth_root(
    tmp_path_factory: pytest.TempPathFactory, many_sentences: list[str]
) -> Path:
    """Two documents and no index: every answer comes from the truth."""
    root = tmp_path_factory.mktemp("database") / "data"
    store = Store(root)
    put(store, "rules", new_document("a.txt", many_sentences[:200]), publish=False)
    put(store, "rules", new_document("b.txt", many_sentences[200:]), publish=False)
    store.close()
    return root


def served(root: Path) -> Iterator[tuple[str, str, object]]:
    """What is shown of a data root: texts, their places, documents, pages."""
    store = Store(root)
    try:
        opened = store.open("rules")
        hits = opened.search_dense(QUESTION, 10) + opened.search_keyword("kite", 10)
        for key, node in opened.nodes(node for node, _ in hits).items():
            places = ("document", "section", "page", "ordinal")
            yield key, node.text, [node.metadata[name] for name in places]
        for row in store.documents("rules"):
            text = store.document_text(row.document_id)
            blocks = store.blocks(row.document_id)
            # The number of chunks is counted on pages that have no check sum.
            yield row.document_id, text, (row.uri, blocks)
            yield row.document_id, "pages", store.pages(row.document_id)
    finally:
        store.close()


def damaged(database: bytes, number: int, chance: random.Random) -> bytes:
    """A bit flipped (three in five), a page of zeros, or the end cut off."""
    content = bytearray(database)
    place = chance.randrange(len(content))
    if number % 5 < 3:
        content[place] ^= 1 << chance.randrange(8)
    elif number % 5 == 3:
        start = place // PAGE * PAGE
        content[start : start + PAGE] = bytes(PAGE)
    else:
        del content[place:]
    return bytes(content)


def test_no_damage_of_the_truth_gives_a_wrong_text_or_a_traceback(
    truth_root: Path, tmp_path: Path
) -> None:
    known = {(key, text): place for key, text, place in served(truth_root)}
    for node in Store(truth_root).nodes("rules"):
        places = ("document", "section", "page", "ordinal")
        known[node.node_id, node.text] = [node.metadata[name] for name in places]
    database = (truth_root / "truth.sqlite3").read_bytes()
    chance = random.Random(20)  # noqa: S311 - the same places every time
    outcomes: Counter[str] = Counter()
    refusals: list[EltLlmError] = []
    for number in range(VARIANTS):
        root = tmp_path / str(number)
        root.mkdir()
        (root / "truth.sqlite3").write_bytes(damaged(database, number, chance))
        try:
            for key, text, place in served(root):
                assert known.get((key, text)) == place, number
            outcomes["as before"] += 1
        except EltLlmError as error:
            refusals.append(error)
        shutil.rmtree(root)
    assert {type(error) for error in refusals} == {UnusableDatabaseError}
    assert all("elt-llm store restore latest" in error.hint for error in refusals)
    assert min(outcomes["as before"], len(refusals)) > VARIANTS / 4, outcomes


def replace_in_truth(root: Path, old: bytes, new: bytes) -> None:
    """Change bytes where they stand, as a failing disk does."""
    path = root / "truth.sqlite3"
    content = path.read_bytes()
    assert old in content
    assert len(old) == len(new)
    path.write_bytes(content.replace(old, new))


def test_a_changed_word_of_a_chunk_is_not_quoted(
    truth_root: Path, tmp_path: Path
) -> None:
    shutil.copytree(truth_root, tmp_path / "data")
    replace_in_truth(tmp_path / "data", b"number 41 needs 123", b"number 41 needs 923")
    with pytest.raises(UnusableDatabaseError, match="the text was changed"):
        list(Store(tmp_path / "data").nodes("rules"))
    with pytest.raises(
        UnusableDatabaseError, match="the index text or vector was changed"
    ):
        Store(tmp_path / "data").open("rules")


def test_a_changed_page_number_is_not_shown(truth_root: Path, tmp_path: Path) -> None:
    shutil.copytree(truth_root, tmp_path / "data")
    replace_in_truth(tmp_path / "data", b'"page": 1,', b'"page": 7,')
    with pytest.raises(UnusableDatabaseError, match="the metadata were changed"):
        list(Store(tmp_path / "data").nodes("rules"))


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"\0" * 8192])
def test_what_is_no_truth_is_told_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    (tmp_path / "truth.sqlite3").write_bytes(content)
    code = run(elt_llm, ["collections", "--data-dir", str(tmp_path)])
    told = capsys.readouterr()
    assert code in {0, 78}  # nothing at all is an empty root
    assert "Traceback" not in told.err + told.out
    assert (code == 0) == (content == b"")


def test_a_log_that_was_moved_in_half_is_no_damage(
    truth_root: Path, tmp_path: Path, many_sentences: list[str]
) -> None:
    """As a full disk leaves it: the file counts pages that only its log has."""
    work, cut, whole = (tmp_path / name for name in ("work", "cut", "whole"))
    shutil.copytree(truth_root, work)
    store = Store(work)
    texts = [f"{text} Again." for text in many_sentences]
    with store.writer() as writer:
        writer.put_vectors(EMBEDDER.digest, texts, EMBEDDER.embed_array(texts))
        writer.put_document("rules", new_document("c.txt", texts))
        for folder in (cut, whole):
            shutil.copytree(work, folder)
    store.close()
    with closing(sqlite3.connect(whole / "truth.sqlite3")) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
    moved = (whole / "truth.sqlite3").read_bytes()
    with (cut / "truth.sqlite3").open("r+b") as file:
        assert file.seek(0, 2) < len(moved)
        file.seek(0)
        file.write(moved[:PAGE])
    found = Store(cut)
    assert "c.txt" in {document.name for document in found.documents("rules")}
    found.close()
    assert list(served(cut)) == list(served(whole))
