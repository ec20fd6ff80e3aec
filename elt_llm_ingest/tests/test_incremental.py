"""Nothing is done twice: reads and embeddings are counted."""

import subprocess
import sys
from dataclasses import dataclass

import pytest

from elt_llm_core.errors import CollectionMismatchError, IngestError, UsageError
from elt_llm_core.provenance import attributes
from elt_llm_core.results import DegradationKind
from elt_llm_ingest.change_detection import loader_version
from elt_llm_ingest.discovery import make_plan
from elt_llm_ingest.readers import registry
from ingest_models import SHAPES, drawing, edge, page
from ingest_world import CountingEmbedding, World, count_reads, told

WARNING = DegradationKind.DOCUMENT_WARNING
TEXT = "# Guide {n}\n\nA fee of {n} is due in June.\n\n## Fines\n\nA fine of {n}.\n"


@pytest.fixture
def world(tmp_path, without_index, monkeypatch):
    made = World(tmp_path)
    count_reads(made, monkeypatch)
    yield made
    made.store.close()


@pytest.fixture
def filled(world):
    for n in range(5):
        world.write(f"g{n}.md", TEXT.format(n=n))
    world.run()
    return world


def work(world) -> tuple[int, int]:
    """How many files were read, and texts embedded, by the last run."""
    return len(world.parsed), len(world.embedder.texts)


def test_unchanged_files_are_neither_read_nor_embedded(filled):
    assert filled.run().counts["unchanged"] == 5
    assert work(filled) == (0, 0)


def test_of_an_edited_document_the_changed_chunk_is_embedded(filled):
    before = filled.ids()
    filled.write("g3.md", TEXT.format(n=3).replace("A fine of 3", "A fine of 33"))
    report = filled.run()
    assert (report.counts["updated"], report.counts["unchanged"]) == (1, 4)
    assert work(filled) == (1, 1)
    assert filled.parsed == ["g3.md"]
    after = filled.ids()
    assert len(before.keys() & after.keys()) == len(before) - 1


def test_a_renamed_file_costs_a_read_only(filled):
    (filled.files / "g1.md").rename(filled.files / "z1.md")
    report = filled.run()
    assert (report.counts["renamed"], report.counts["unchanged"]) == (1, 4)
    assert work(filled) == (1, 0)
    assert filled.names() == ["g0.md", "g2.md", "g3.md", "g4.md", "z1.md"]
    assert filled.run().counts["unchanged"] == 5


def test_a_file_that_moved_out_of_the_folder_is_recognised(filled, tmp_path):
    (tmp_path / "other").mkdir()
    moved = (filled.files / "g1.md").rename(tmp_path / "other" / "g1.md")
    assert filled.run(moved).counts["renamed"] == 1
    assert [r.uri for r in filled.store.documents("harbour")][-1] == moved.as_uri()
    assert len(filled.names()) == 5


def test_what_a_rename_that_was_cut_off_left_goes_with_the_next_run(filled):
    old = filled.files / "g1.md"
    new = filled.write("z1.md", old.read_text())
    filled.run(new)  # named, so it is a document of its own
    old.unlink()
    assert filled.run().counts["removed"] == 1
    assert filled.names() == ["g0.md", "g2.md", "g3.md", "g4.md", "z1.md"]


def test_a_moved_file_that_cannot_be_read_any_more_stays_where_it_was(filled):
    (filled.files / "g1.md").rename(filled.files / "z1.md")
    ingest = filled.config.ingest.model_copy(update={"parse_timeout": 0.0001})
    filled.config = filled.config.model_copy(update={"ingest": ingest})
    assert filled.run().counts["failed"] == 1
    assert "g1.md" in filled.names()


def test_a_copy_in_a_folder_is_told_and_stays_one_document(filled):
    filled.write("sub/g0.md", TEXT.format(n=0))
    for _ in range(2):
        report = filled.run()
        assert report.counts["unchanged"] == 6
        assert told(report, WARNING) == [
            "g0.md: the same file as g0.md, which was ingested"
        ]
        assert work(filled) == (0, 0)
    (filled.files / "g0.md").unlink()
    assert filled.run().counts["renamed"] == 1
    assert len(filled.names()) == 5


def test_a_copy_that_is_named_is_a_document_of_its_own(filled):
    copy = filled.write("copy.md", TEXT.format(n=0))
    report = filled.run(copy)
    assert report.counts["added"] == 1
    (note,) = told(report, DegradationKind.DOCUMENT_WARNING)
    assert note.startswith("copy.md: the same content as g0.md (file://")
    assert work(filled) == (1, 0)
    assert filled.run().counts["unchanged"] == 6


def test_a_copy_of_what_a_file_held_before_its_edit_is_no_copy(filled):
    filled.write("a.md", TEXT.format(n=4))
    filled.write("g4.md", TEXT.format(n=44))
    report = filled.run()
    assert (report.counts["added"], report.counts["updated"]) == (1, 1)


def test_a_copy_of_a_file_that_cannot_be_read_is_tried(world):
    world.write("a.pdf", "%PDF-1.4 broken")
    world.write("b.pdf", "%PDF-1.4 broken")
    with pytest.raises(IngestError, match=r"a\.pdf"):
        world.run()
    assert world.parsed == ["a.pdf", "b.pdf"]


def test_documents_whose_files_are_gone_go_when_told(filled):
    (filled.files / "g2.md").unlink()
    (said,) = told(filled.run(), WARNING)
    assert "elt-llm remove g2.md" in said
    assert len(filled.names()) == 5
    report = filled.run(prune=True)
    assert report.counts["removed"] == 1
    assert told(report, WARNING) == []
    assert filled.names() == ["g0.md", "g1.md", "g3.md", "g4.md"]


def test_a_named_file_that_is_gone_goes_when_told(filled):
    gone = filled.files / "g2.md"
    gone.unlink()
    with pytest.raises(IngestError, match="no such file"):
        filled.run(gone)
    assert filled.run(gone, prune=True).counts["removed"] == 1
    assert len(filled.names()) == 4


def test_an_empty_folder_may_be_a_lost_mount_and_takes_nothing_away(filled):
    for path in filled.files.iterdir():
        path.unlink()
    with pytest.raises(IngestError, match="it contains no readable file"):
        filled.run(prune=True)
    assert len(filled.names()) == 5


def test_another_chunk_size_embeds_only_what_is_cut_otherwise(world):
    world.write("short.md", "# A\n\nA fee is due.\n")
    world.write("long.md", "One two three four five six seven eight nine ten. " * 9)
    world.run()
    chunking = world.config.chunking.model_copy(update={"chunk_size": 32})
    world.config = world.config.model_copy(update={"chunking": chunking})
    assert world.run().counts["updated"] == 2
    assert not [text for text in world.embedder.texts if "fee" in text]
    assert world.embedder.texts


def test_another_loader_version_one_reader_re_reads_its_files_only(world, monkeypatch):
    world.write("a.md", TEXT.format(n=1))
    world.write("b.html", "<!doctype html><html><body><p>A fee.</p></body></html>")
    world.run()
    monkeypatch.setitem(registry.VERSIONS, "html", "changed")
    loader_version.cache_clear()
    report = world.run()
    loader_version.cache_clear()
    assert (report.counts["updated"], report.counts["unchanged"]) == (1, 1)
    assert (world.parsed, world.embedder.texts) == (["b.html"], [])


def test_every_reader_of_ours_has_a_version():
    assert registry.VERSIONS.keys() == registry.MODULES.keys()


def test_other_metadata_and_titles_embed_nothing(world):
    path = world.write("a.md", TEXT.format(n=1))
    world.run(path)
    assert world.run(path, metadata={"year": 2024}).counts["updated"] == 1
    assert work(world) == (1, 0)
    options = {"metadata": {"year": 2024}, "titles": ["Guide"]}
    assert world.run(path, **options).counts["updated"] == 1
    assert work(world) == (1, 0)
    assert world.run(path, **options).counts["unchanged"] == 1
    (row,) = world.store.documents("harbour")
    assert row.title == "Guide"


def test_a_file_has_metadata_of_its_own(world):
    one = world.write("a.md", TEXT.format(n=1))
    other = world.write("b.md", "# B\n\nA fine.")
    given = {"metadata": {"year": 2024, "citation_count": 0}}
    world.run(**given)
    own = {"file_metadata": {str(one): {"citation_count": 7}}}
    assert world.run(**given, **own).counts["updated"] == 1
    assert work(world) == (1, 0)
    assert world.run(**given, **own).counts["unchanged"] == 2
    collection = world.store.open("harbour")
    for path, count in ((one, 7), (other, 0)):
        ids = collection.ids({"document": path.name})
        (node, *_) = collection.nodes(ids).values()
        assert attributes(node) == {"year": 2024, "citation_count": count}
    assert world.run(**given).counts["updated"] == 1
    with pytest.raises(UsageError, match=r"c\.md, which is none of the files"):
        world.run(file_metadata={str(world.files / "c.md"): {"citation_count": 1}})


def test_a_file_of_two_parts_that_was_cut_off_between_them_is_read_again(world):
    shapes = SHAPES + edge("90", "21", "11", "ERone", "ERmany")
    (world.files / "m.drawio").write_bytes(drawing(page(shapes)))
    world.run()
    (_, second) = world.store.documents("harbour")
    with world.store.writer() as writer:
        writer.remove_document(second.document_id)
    assert world.run().counts["updated"] == 1
    assert [r.part for r in world.store.documents("harbour")] == ["", second.part]
    assert world.run().counts["unchanged"] == 1


def test_another_embedder_is_refused_for_unchanged_files_too(filled):
    filled.embedder = CountingEmbedding(dimension=64)
    with pytest.raises(CollectionMismatchError, match="--rebuild"):
        filled.run()
    with pytest.raises(UsageError, match=r"4 documents .* be lost: g1\.md"):
        filled.run(filled.files / "g0.md", rebuild=True)
    report = filled.run(rebuild=True)
    assert (report.counts["updated"], report.counts["embedded"]) == (5, 10)
    assert filled.store.card("harbour").dimension == 64


def test_a_dry_run_tells_of_every_file_and_embeds_nothing(filled):
    filled.write("g0.md", TEXT.format(n=0).replace("June", "July"))
    filled.write("new.md", TEXT.format(n=7))
    filled.write("bad.pdf", "%PDF-1.4 broken")
    (filled.files / "g1.md").rename(filled.files / "y1.md")
    (filled.files / "g2.md").unlink()
    before = filled.ids()
    report = filled.run(dry_run=True, prune=True)
    told = {i.name: (i.outcome, i.chunks, i.to_embed) for i in report.items}
    assert told == {
        "bad.pdf": ("failed", 0, 0),
        "g0.md": ("updated", 2, 1),
        "g2.md": ("removed", 0, 0),
        "g3.md": ("unchanged", 0, 0),
        "g4.md": ("unchanged", 0, 0),
        "new.md": ("added", 2, 2),
        "y1.md": ("renamed", 2, 0),
    }
    assert filled.embedder._calls == []
    assert filled.ids() == before
    assert report.exit_code == 2


@dataclass
class _Asked:
    """Asks for the end after so many questions."""

    left: int

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_a_run_that_is_asked_to_stop_keeps_what_is_done(world):
    for n in range(40):
        world.write(f"{n:02}.md", TEXT.format(n=n))
    world.stopped = _Asked(20)
    report = world.run()
    assert (report.stopped, report.exit_code) == (True, 130)
    first = len(world.embedder.texts)
    assert 1 <= len(world.names()) < 40
    world.stopped = _Asked(1000)
    report = world.run()
    assert report.stopped is False
    assert first + len(world.embedder.texts) == 80
    assert len(world.names()) == 40


def test_patterns_and_addresses(world, tmp_path):
    world.write("a/one.md", "One.")
    world.write("a/b/two.md", "Two.")
    world.write("a/b/.hidden.md", "No.")
    world.write("a/b/three.txt", "Three.")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "four.md").write_text("Four.")
    (world.files / "a" / "link").symlink_to(outside)
    plan = make_plan([f"{world.files}/**/*.md"])
    assert [item.name for item in plan.items] == ["two.md", "one.md"]
    assert "is a link to a place outside" in plan.notes[0]
    (item,) = make_plan([(world.files / "a" / "one.md").as_uri()]).items
    assert (item.name, item.named) == ("one.md", True)
    (error,) = make_plan([f"{world.files}/*.docx"]).failed
    assert "no readable file matches" in str(error)
    with pytest.raises(UsageError, match="another machine, 'server'"):
        make_plan(["file://server/share/a.md"])


def test_a_pattern_speaks_for_its_own_files_only(world):
    world.write("a.md", "One.")
    world.write("b.txt", "Two.")
    world.write("c.md", "Three.")
    world.run()
    (world.files / "a.md").unlink()
    (world.files / "b.txt").unlink()
    assert world.run(f"{world.files}/**/*.md", prune=True).counts["removed"] == 1
    assert world.names() == ["b.txt", "c.md"]


COLD = """
import sys
from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
code = run(elt_llm)
late = {"llama_index", "chromadb", "onnxruntime", "docling_core"} & sys.modules.keys()
sys.exit(code or (f"imported {late}" if late else 0))
"""


def test_an_unchanged_run_imports_nothing_heavy(world):
    world.write("a.md", "A fee.")
    command = [sys.executable, "-c", COLD, "ingest", str(world.files), "--quiet"]
    options = ["--collection", "harbour", "--data-dir", str(world.store.data_dir)]
    first = subprocess.run(
        [*command, *options], capture_output=True, text=True, timeout=120, check=False
    )
    assert "imported" in first.stderr
    again = subprocess.run(
        [*command, *options], capture_output=True, text=True, timeout=120, check=False
    )
    assert (again.returncode, again.stderr) == (0, "")
    assert "1 unchanged" in again.stdout
