"""Whatever is damaged, the doctor names it and the command that mends it."""

import json
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core_stores import new_document, put
from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.doctor.indexes import inspect_in_process
from elt_llm_core.files.scratch import LOCK, PREFIX
from elt_llm_core.store import Store
from elt_llm_core.store.index.manifest import IndexFolder
from elt_llm_core.store.maintenance.backup import back_up
from elt_llm_core.testing.fakes import HashEmbedding


@pytest.fixture
def doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, dict[str, dict[str, str]], dict[str, Any]]]:
    """Runs the command on a root: exit code, checks by name, everything it told."""
    monkeypatch.chdir(tmp_path)

    def call(
        root: Path, *flags: str
    ) -> tuple[int, dict[str, dict[str, str]], dict[str, Any]]:
        code = run(elt_llm, ["doctor", "--json", "--data-dir", str(root), *flags])
        told = json.loads(capsys.readouterr().out)
        return code, {check["name"]: check for check in told["checks"]}, told

    return call


def change(root: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(root / "truth.sqlite3")
    with connection:
        connection.execute(statement, values)
    connection.close()


def test_all_is_well_in_depth(published: Store, doctor: Callable[..., Any]) -> None:
    back_up(published.data_dir)
    code, checks, _ = doctor(published.data_dir, "--deep")
    assert code == 0
    # The fixture is indexed with another embedder than the configuration names.
    assert [n for n, c in checks.items() if c["level"] == "WARN"] == ["embedder rules"]
    assert "index ready: generation 1" in checks["collection rules"]["detail"]
    assert checks["index rules"]["level"] == "OK"
    assert checks["database words"]["level"] == "OK"


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("update node set ordinal = 9999 where ordinal = 7", "have gaps"),
        ("update node set vector = x'00' where ordinal = 7", "numbers, not"),
        (
            "update node set vector = zeroblob(length(vector)) where ordinal = 7",
            "not have unit length",
        ),
        (
            "update node set text = 'other' where ordinal = 7",
            "text differs from what was stored",
        ),
        ("update node set metadata = '{' where ordinal = 7", "cannot be read"),
        (
            "update node set index_text = 'x' where ordinal = 7",
            "index text is not the expected one",
        ),
        ("update document set text = x'789c00'", "cannot be read"),
        ("update node set vector = x'' where ordinal = 7", "neither a vector nor"),
    ],
)
def test_rows_that_do_not_agree_are_found_in_depth(
    published: Store, doctor: Callable[..., Any], statement: str, told: str
) -> None:
    change(published.data_dir, statement)
    shutil.rmtree(published.data_dir / "indexes")
    code, checks, _ = doctor(published.data_dir, "--deep")
    assert code == 65
    assert checks["database content"]["level"] == "FAIL"
    assert told in checks["database content"]["detail"]
    assert checks["database content"]["fix"].startswith("elt-llm store restore latest")


def test_words_that_do_not_agree_are_found_and_made_anew(
    published: Store, doctor: Callable[..., Any]
) -> None:
    change(published.data_dir, "insert into words(words) values('delete-all')")
    code, checks, _ = doctor(published.data_dir, "--deep")
    assert code == 65
    assert checks["database words"]["fix"].startswith("elt-llm doctor --repair")
    _, _, told = doctor(published.data_dir, "--repair")
    assert told["words"] is True
    shutil.rmtree(published.data_dir / "indexes")
    assert len(Store(published.data_dir).open("rules").search_keyword("kite", 5)) == 5


def test_cached_vectors_that_no_chunk_uses_are_checked_and_deleted(
    published: Store, doctor: Callable[..., Any]
) -> None:
    texts = ["of no chunk", "of none either", "nor this"]
    with published.writer() as writer:
        vectors = HashEmbedding().embed_array(texts)
        writer.put_vectors(HashEmbedding().digest, texts, vectors)
    assert doctor(published.data_dir, "--deep")[1]["database vectors"]["level"] == "OK"
    kept = cached(published.data_dir)
    # One row each is damaged in one column.
    for place, column in enumerate(("key", "data", "data_sum")):
        row = kept[place - 3]
        value = row[place + 1]
        whole = isinstance(value, int)
        other = value ^ 1 if whole else bytes([value[0] ^ 1]) + value[1:]
        statement = f"update vector set {column} = ? where num = ?"  # noqa: S608
        change(published.data_dir, statement, other, row[0])
    code, checks, _ = doctor(published.data_dir, "--deep")
    assert code == 65
    assert checks["database vectors"]["detail"].startswith("3 cached vectors")
    assert checks["database vectors"]["fix"].startswith("elt-llm doctor --repair")
    assert checks["database content"]["level"] == "OK"
    code, checks, told = doctor(published.data_dir, "--deep", "--repair")
    assert (code, told["vectors"]) == (0, 3)
    assert cached(published.data_dir) == kept[:-3]


def cached(root: Path) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(root / "truth.sqlite3")
    rows = connection.execute("select * from vector order by num").fetchall()
    connection.close()
    return rows


def test_a_link_to_nowhere_is_found_in_depth(
    published: Store, doctor: Callable[..., Any]
) -> None:
    change(published.data_dir, "delete from document")
    _, checks, _ = doctor(published.data_dir, "--deep")
    assert "refers to a missing document" in checks["database links"]["detail"]


def test_a_damaged_truth_is_left_alone_and_the_cure_is_named(
    published: Store, doctor: Callable[..., Any]
) -> None:
    path = published.data_dir / "truth.sqlite3"
    path.write_bytes(path.read_bytes()[:50_000])
    before = path.read_bytes()
    code, checks, told = doctor(published.data_dir, "--repair")
    assert code == 65
    assert checks["database"]["level"] == "FAIL"
    assert "there is no backup" in checks["database"]["fix"]
    assert told["rebuilt"] == {}
    assert path.read_bytes() == before
    (published.data_dir / "backups").mkdir()
    shutil.copy(path, published.data_dir / "backups/truth-20260101T000000Z.sqlite3")
    _, checks, _ = doctor(published.data_dir, "--deep")
    assert checks["database"]["fix"].startswith("elt-llm store restore latest")
    assert "1 backups are damaged" in checks["backup damage"]["detail"]
    assert checks["backup"]["level"] == "WARN"


def test_what_was_left_behind_is_found_and_removed(
    published: Store,
    doctor: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Other processes leave folders of their own in the temporary folder of the machine.
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))  # processes that are started too
    indexes = published.data_dir / "indexes"
    (indexes / "rules" / "gen-000002-x.tmp").mkdir()
    (indexes / "nobody").mkdir()
    view = Path(tempfile.mkdtemp(prefix=f"{PREFIX}view-"))
    (view / LOCK).touch()
    _, checks, _ = doctor(published.data_dir)
    assert "gen-000002-x.tmp" in checks["left-overs"]["detail"]
    assert view.name in checks["left-overs"]["detail"]
    assert "nobody" in checks["index folders"]["detail"]
    code, checks, told = doctor(published.data_dir, "--repair")
    assert code == 0
    assert told["removed"] == ["gen-000002-x.tmp", view.name, "nobody"]
    assert checks["left-overs"]["level"] == "OK"
    assert "index folders" not in checks
    assert not view.exists()
    assert told["rebuilt"] == {}


def test_an_index_that_serves_but_lies_is_found_in_depth(
    published: Store, doctor: Callable[..., Any]
) -> None:
    folder = IndexFolder(published.data_dir, "rules")
    generation = folder.path(1)
    for segment in (p for p in (generation / "vectors").iterdir() if p.is_dir()):
        shutil.rmtree(segment)
    folder.seal(generation)  # as if it had been built so
    _, checks, _ = doctor(published.data_dir)
    assert checks["collection rules"]["level"] == "OK"
    code, checks, _ = doctor(published.data_dir, "--deep")
    assert code == 65
    assert "cannot be reached" in checks["index rules"]["detail"]
    assert inspect_in_process(published, "rules")
    _, checks, told = doctor(published.data_dir, "--repair", "--deep")
    assert told["rebuilt"] == {"rules": 2}
    assert checks["index rules"]["level"] == "OK"


def test_the_writer_and_open_files_are_told(
    published: Store, doctor: Callable[..., Any]
) -> None:
    (published.data_dir / "KEY").chmod(0o644)
    with published.writer():
        told: list[dict[str, dict[str, str]]] = []
        asking = threading.Thread(
            target=lambda: told.append(doctor(published.data_dir)[1])
        )
        asking.start()
        asking.join()
    (checks,) = told
    assert "process" in checks["writer"]["detail"]
    assert "is writing" in checks["writer"]["detail"]
    assert "KEY" in checks["files"]["detail"]
    assert checks["files"]["fix"].startswith("chmod")


def test_a_large_delta_is_told(
    published: Store, doctor: Callable[..., Any], many_sentences: list[str]
) -> None:
    more = [f"{sentence} Again." for sentence in many_sentences[:60]]
    put(published, "rules", new_document("b.txt", more), publish=False)
    _, checks, _ = doctor(published.data_dir)
    assert checks["collection rules"]["level"] == "WARN"
    assert "the index lacks 60 changes" in checks["collection rules"]["detail"]


@pytest.mark.parametrize(("delta_fraction", "level"), [(0.1, "WARN"), (0.5, "OK")])
def test_how_large_a_delta_may_be_is_a_setting(
    published: Store,
    doctor: Callable[..., Any],
    many_sentences: list[str],
    tmp_path: Path,
    delta_fraction: float,
    level: str,
) -> None:
    more = [f"{sentence} Again." for sentence in many_sentences[:60]]
    put(published, "rules", new_document("b.txt", more), publish=False)
    path = tmp_path / "delta.yaml"
    path.write_text(f"stores: {{delta_fraction: {delta_fraction}}}\n")
    _, checks, _ = doctor(published.data_dir, "--config", str(path))
    assert checks["collection rules"]["level"] == level


@pytest.mark.parametrize(
    ("writer", "told"),
    [
        ("llm_strategy: openai_like", "localhost:9"),
        ("llm_strategy: broken", "broken"),
    ],
)
def test_a_writer_that_does_not_answer_is_told(
    published: Store, doctor: Callable[..., Any], tmp_path: Path, writer: str, told: str
) -> None:
    path = tmp_path / "writer.yaml"
    server = "openai_like: {base_url: 'http://localhost:9/v1', llm_model: small}"
    path.write_text(f"models: {{{writer}}}\n{server}\n")
    code, checks, _ = doctor(published.data_dir, "--config", str(path))
    assert code != 0
    assert checks["writer"]["level"] == "FAIL"
    assert told in checks["writer"]["detail"]


def test_listing_opens_no_index_unless_asked(
    published: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    root = ["--data-dir", str(published.data_dir), "--json"]
    (published.data_dir / "indexes" / "rules" / "gen-000001" / "ids.json").unlink()
    assert run(elt_llm, ["collections", *root]) == 0
    (row,) = json.loads(capsys.readouterr().out)["collections"]
    assert (row["generation"], row["problem"]) == (1, "")
    assert run(elt_llm, ["collections", "--check", *root]) == 0
    (row,) = json.loads(capsys.readouterr().out)["collections"]
    assert row["generation"] == 0
    assert "answered without the index" in row["problem"]
