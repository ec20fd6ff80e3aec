"""A file is one document, however its path is spelled."""

import os

import pytest

from elt_llm_core.errors import UsageError
from elt_llm_core.files.file_addresses import FileAddresses
from elt_llm_core.results import DegradationKind
from elt_llm_core.store import editing
from elt_llm_ingest.discovery import make_plan
from elt_llm_ingest.runner import IngestFile, _drop_unlisted
from ingest_world import World, count_reads, told

WARNING = DegradationKind.DOCUMENT_WARNING
TEXT = "# Berths\n\nA berth is let by the week.\n\n## Fees\n\nThe fee is {n} a week.\n"


@pytest.fixture
def world(tmp_path, without_index, monkeypatch):
    made = World(tmp_path)
    count_reads(made, monkeypatch)
    yield made
    made.store.close()


def uris(world: World) -> list[str]:
    return [row.uri for row in world.store.documents("harbour")]


def spelled(world: World, name: str) -> str:
    """The address of a file as an earlier version stored it, from a folder beside."""
    (world.files / "beside").mkdir(exist_ok=True)
    return f"{world.files.as_uri()}/beside/../{name}"


@pytest.mark.parametrize("path", ["../files/a.md", "../files/sub/../a.md", "./a.md"])
def test_two_spellings_of_a_path_are_one_document(world, monkeypatch, path):
    file = world.write("a.md", TEXT.format(n=4))
    world.write("sub/b.md", TEXT.format(n=5))
    monkeypatch.chdir(world.files)
    assert world.run(path).counts["added"] == 1
    assert uris(world) == [file.as_uri()]
    report = world.run(file)
    assert (report.counts["unchanged"], report.degradations) == (1, ())


def test_a_path_through_a_linked_folder_is_the_same_document(world, tmp_path):
    file = world.write("a.md", TEXT.format(n=4))
    (tmp_path / "link").symlink_to(world.files)
    for path in (tmp_path / "link" / "a.md", tmp_path / "link", file, world.files):
        world.run(path)
    world.run(tmp_path / "link" / "*.md")
    assert uris(world) == [file.as_uri()]
    # `..` behind a link leads to the folder above the link's target.
    (world.files / "deep").mkdir()
    (tmp_path / "deep").symlink_to(world.files / "deep")
    assert world.run(tmp_path / "deep" / ".." / "a.md").counts["unchanged"] == 1


def test_a_link_to_a_file_is_a_document_of_its_own_name(world, tmp_path):
    first = world.write("first.md", TEXT.format(n=4))
    second = world.write("second.md", TEXT.format(n=5))
    link = tmp_path / "latest.md"
    link.symlink_to(first)
    world.run(link)
    link.unlink()
    link.symlink_to(second)
    assert world.run(link).counts["updated"] == 1
    assert uris(world) == [link.as_uri()]


def test_a_document_of_an_earlier_version_is_recognised(world):
    file = world.write("a.md", TEXT.format(n=4))
    old = spelled(world, "a.md")
    world.run(file, uris=[old])
    ids = world.ids().keys()
    assert world.run(file).counts["unchanged"] == 1
    assert world.run().counts["unchanged"] == 1
    world.write("a.md", TEXT.format(n=44))
    assert world.run(file).counts["updated"] == 1
    assert uris(world) == [old]
    assert len(ids & world.ids().keys()) == len(ids) - 1


def test_its_file_is_looked_for_at_the_resolved_address(world):
    file = world.write("a.md", TEXT.format(n=4))
    world.write("b.md", TEXT.format(n=5))
    world.run(file, uris=[spelled(world, "a.md")])
    (world.files / "beside").rmdir()
    assert world.run(prune=True).counts.get("removed", 0) == 0
    file.unlink()
    assert world.run(prune=True).counts["removed"] == 1
    assert world.names() == ["b.md"]


def test_an_ingest_file_does_not_drop_it(world):
    file = world.write("a.md", TEXT.format(n=4))
    world.write("b.md", TEXT.format(n=5))
    world.run()
    world.run(file, uris=[spelled(world, "a.md")], collection="old")
    cfg = IngestFile(collection_name="old", file_paths=[str(file)])
    _drop_unlisted(world.store, cfg, cfg.file_paths)
    assert [row.name for row in world.store.documents("old")] == ["a.md"]
    cfg = IngestFile(collection_name="harbour", file_paths=[str(file)])
    _drop_unlisted(world.store, cfg, cfg.file_paths)
    assert world.names() == ["a.md"]


def test_what_an_earlier_version_doubled_is_told_with_the_command(world):
    file = world.write("a.md", TEXT.format(n=4))
    old = spelled(world, "a.md")
    world.run(file)
    world.run(file, uris=[old])
    (note,) = told(world.run(file), WARNING)
    assert note == (
        f"a.md: the same file is stored as {old} too; remove that document with: "
        f"elt-llm remove {old} --collection harbour"
    )
    rows = editing.select_documents(world.store, "harbour", [old])
    assert [row.uri for row in rows] == [old]


def test_documents_are_selected_by_the_path_of_their_file(world, monkeypatch):
    file = world.write("a.md", TEXT.format(n=4))
    world.write("sub/a.md", TEXT.format(n=5))
    world.run()
    world.run(file, uris=[spelled(world, "a.md")], collection="old")
    monkeypatch.chdir(world.files / "sub")
    for name in ("../a.md", str(file), spelled(world, "a.md")):
        (row,) = editing.select_documents(world.store, "harbour", [name])
        assert row.uri == file.as_uri()
        (row,) = editing.select_documents(world.store, "old", [name])
        assert row.uri == spelled(world, "a.md")


@pytest.mark.parametrize("name", ["a b.md", "50 %.md", "ä#?.md", os.fsdecode(b"\xe9")])
def test_addresses_are_those_of_pathlib(tmp_path, name):
    folder = tmp_path / "fünf %"
    path = folder / name
    addresses = FileAddresses()
    assert addresses.of_path(path) == path.as_uri()
    assert addresses.of_address(path.as_uri()) == path.as_uri()
    crooked = f"{folder.as_uri()}/x/../{path.as_uri().rpartition('/')[2]}"
    assert addresses.of_address(crooked) == path.as_uri()
    assert addresses.of_address("upload:///a/../b.md") == "upload:///a/../b.md"


def test_a_link_that_leads_in_a_circle_is_a_missing_file(tmp_path):
    (tmp_path / "round").symlink_to(tmp_path / "round")
    plan = make_plan([str(tmp_path / "round" / "a.md")])
    assert [error.reason for error in plan.failed] == [
        "there is no such file or folder"
    ]


@pytest.mark.parametrize(
    "name", ["~nobody.md", "file://[x/a", "in\0side/a.md", "file://other/in/a.md"]
)
def test_a_name_of_no_file_is_no_document(world, name):
    world.run(world.write("a.md", "Boats pay at the pier."))
    with pytest.raises(UsageError, match="has no document"):
        editing.select_documents(world.store, "harbour", [name])
