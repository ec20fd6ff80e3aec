"""A new edition from another folder is reported, and replaces the old one on demand."""

import pytest

from elt_llm_core.errors import IngestError, UsageError
from elt_llm_core.results import DegradationKind
from elt_llm_ingest.cli import summary_text
from elt_llm_ingest.editions import SAME, overlap
from ingest_world import World, told

WARNING = DegradationKind.DOCUMENT_WARNING
RULES = [
    f"## Rule {n}\n\nA vessel of class {n} pays the harbour office {n * 7} crowns for "
    f"each tide that it lies at pier {n % 5}, and leaves when the master is told to.\n"
    for n in range(1, 31)
]
OTHER = "\n".join(
    f"## Shift {n}\n\nThe crew of crane {n} begins at {n % 24} and is relieved by crew "
    f"{n + 1}; the foreman notes the hours of both in the book of the quay.\n"
    for n in range(1, 31)
)


@pytest.fixture
def world(tmp_path, without_index):
    made = World(tmp_path)
    yield made
    made.store.close()


def edition(changed: int) -> str:
    """The rules, the first of them in other words."""
    new = [rule.replace("pays", "owes").replace("tide", "day") for rule in RULES]
    return "\n".join(new[:changed] + RULES[changed:])


@pytest.fixture
def old(world):
    path = world.write("2025/rules.md", edition(0))
    world.run(path)
    return path


def uris(world: World) -> list[str]:
    return [row.uri for row in world.store.documents("harbour")]


def test_a_new_edition_is_told_with_the_command_that_replaces(world, old):
    new = world.write("2026/rules.md", edition(2))
    report = world.run(new)
    (note,) = told(report, WARNING)
    assert report.counts["added"] == 1
    assert "% of its text is also in the document of the same name from" in note
    assert old.as_uri() in note
    assert note.endswith(f": elt-llm ingest {new} --collection harbour --replace")
    assert note in summary_text(report, "harbour")
    assert report.exit_code == 0
    assert len(uris(world)) == 2


def test_a_dry_run_tells_of_it_too(world, old):
    report = world.run(world.write("2026/rules.md", edition(2)), dry_run=True)
    assert "--replace" in told(report, WARNING)[0]


def test_the_command_replaces_what_was_added_beside(world, old):
    new = world.write("2026/rules.md", edition(2))
    world.run(new)
    report = world.run(new, replace=True)
    assert (report.counts["unchanged"], report.counts["replaced"]) == (1, 1)
    assert uris(world) == [new.as_uri()]
    assert "1 unchanged, 1 replaced, 0 failed" in summary_text(report, "harbour")


def test_a_new_edition_replaces_at_once(world, old):
    new = world.write("2026/rules.md", edition(2))
    forecast = world.run(new, replace=True, dry_run=True)
    assert [(i.outcome, i.uri) for i in forecast.items] == [
        ("replaced", old.as_uri()),
        ("added", new.as_uri()),
    ]
    report = world.run(new, replace=True)
    assert (report.counts["added"], report.counts["replaced"]) == (1, 1)
    (note,) = told(report, WARNING)
    assert f"it replaces {old.as_uri()}" in note
    assert uris(world) == [new.as_uri()]


def test_a_folder_of_new_editions_keeps_what_did_not_change(world, old):
    same = world.write("2026/rules.md", edition(0))
    world.write("2026/cranes.md", OTHER)
    report = world.run(same.parent, replace=True)
    assert report.counts["replaced"] == 1
    assert uris(world) == [(same.parent / "cranes.md").as_uri(), same.as_uri()]


def test_a_stored_file_that_is_gone_stays_if_the_new_one_cannot_be_read(world, old):
    old.unlink()
    world.write("2026/rules.md", "")
    world.write("2026/cranes.md", OTHER)
    report = world.run(world.files, replace=True, prune=True)
    assert report.counts["failed"] == 1
    assert old.as_uri() in uris(world)


def test_a_new_edition_that_cannot_be_read_replaces_nothing(world, old):
    new = world.write("2026/rules.md", "")
    with pytest.raises(IngestError):
        world.run(new, replace=True)
    assert uris(world) == [old.as_uri()]


def test_other_documents_of_the_name_are_left_alone(world, old):
    report = world.run(world.write("cranes/rules.md", OTHER))
    assert told(report, WARNING) == []
    report = world.run(world.write("2026/others.md", edition(2)))
    assert told(report, WARNING) == []


def test_files_of_one_run_do_not_replace_each_other(world, old):
    world.write("2026/rules.md", edition(2))
    report = world.run(world.files, replace=True)
    assert "replaced" not in report.counts
    assert len(uris(world)) == 2


def test_two_files_that_would_replace_one_document_are_refused(world, old):
    paths = [world.write(f"{year}/rules.md", edition(2)) for year in (2026, 2027)]
    with pytest.raises(UsageError, match=r"two of the files are called 'rules\.md'"):
        world.run(*paths, replace=True)


def test_an_upload_is_no_file_to_pass_again(world, old):
    new = world.write("2026/rules.md", edition(2))
    (note,) = told(world.run(new, uris=["upload:///rules.md"]), WARNING)
    assert note.endswith(f": elt-llm remove {old.as_uri()} --collection harbour")


@pytest.mark.parametrize(("every", "is_same"), [(20, True), (11, True), (5, False)])
def test_how_much_may_differ(every, is_same):
    words = [f"word{n}" for n in range(3000)]
    changed = [w if n % every else f"new{n}" for n, w in enumerate(words)]
    assert (overlap(" ".join(words), " ".join(changed)) >= SAME) is is_same


def test_texts_shorter_than_a_run():
    assert overlap("a fee", "A fee") == 1.0
    assert overlap("a fee", "no fee") == 0.0
    assert overlap("", "") == 0.0
