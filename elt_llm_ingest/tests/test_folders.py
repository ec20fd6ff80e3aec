"""Folders: copies, what is no longer there, what is no file; names that are shared."""

import os

import pytest

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import LoadError, UsageError
from elt_llm_core.jobs import JobContext
from elt_llm_core.results import DegradationKind
from elt_llm_core.store import Store, editing
from elt_llm_ingest.discovery import make_plan
from elt_llm_ingest.ingest import IngestJob
from elt_llm_ingest.loaders import read_bytes

PAGE = "<!doctype html><html><body><p>A fee is due in June.</p></body></html>"


@pytest.fixture
def store(tmp_path):
    with_data = Store(tmp_path / "data")
    yield with_data
    with_data.close()


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


@pytest.fixture
def take(store, models, files, without_index):
    def run():
        job = IngestJob(paths=[str(files)], collection="harbour")
        report = job.build(models)(JobContext(RagConfig(), store))
        kind = DegradationKind.DOCUMENT_WARNING
        return [d.detail for d in report.degradations if d.kind is kind]

    return run


def test_a_shared_name_is_not_enough_to_remove(files, store, take):
    for name in ("one", "two"):
        (files / name).mkdir()
        (files / name / "guide.md").write_text(f"# Guide {name}\n\nText.\n")
    take()
    with pytest.raises(UsageError, match=r"one/guide\.md, .*two/guide\.md") as caught:
        editing.select_documents(store, "harbour", ["guide.md"])
    assert "address or the id" in str(caught.value)
    uri = (files / "two" / "guide.md").as_uri()
    (row,) = editing.select_documents(store, "harbour", [uri])
    assert row.uri == uri


def test_of_copies_the_file_with_the_right_name_is_taken(files, store, take):
    (files / "z.html").write_text(PAGE)
    (files / "b.txt").write_text(PAGE)
    (files / "a.html").symlink_to(files / "z.html")
    noted = take()
    assert [row.name for row in store.documents("harbour")] == ["z.html"]
    assert noted == [
        f"{name}: the same file as z.html, which was ingested"
        for name in ("b.txt", "a.html")
    ]


def test_a_document_gone_from_its_folder_is_told(files, store, take):
    (files / "a.md").write_text("# A\n\nText.\n")
    (files / "b c.md").write_text("# B\n\nMore.\n")
    assert take() == []
    (files / "b c.md").unlink()
    (told,) = take()
    assert told == (
        "b c.md is no longer in the folder and is still searched; remove it with: "
        "elt-llm remove 'b c.md' --collection harbour"
    )
    assert len(store.documents("harbour")) == 2


def test_a_pipe_is_not_read(files):
    pipe = files / "pipe.md"
    os.mkfifo(pipe)
    (named,) = make_plan([str(pipe)]).failed
    assert "not a regular file" in str(named)
    inside = make_plan([str(files)])
    assert inside.items == []
    assert "not a regular file" in str(inside.failed[0])
    with pytest.raises(LoadError, match="not a regular file"):
        read_bytes(pipe)
