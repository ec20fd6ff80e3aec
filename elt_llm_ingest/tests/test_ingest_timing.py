"""A dry run tells how long an ingest would take, and when it cannot."""

import json

import pytest

from elt_llm_core.jobs import Expected
from elt_llm_ingest import timing
from elt_llm_ingest.cli import summary_text
from elt_llm_ingest.timing import (
    ENOUGH,
    MOST,
    describe_duration,
    read_speed,
    record_speed,
)
from ingest_world import World

TEXT = "\n\n".join(
    f"# Rule {n}\n\nBoat {n} pays a fee of {n} crowns." for n in range(90)
)


@pytest.fixture
def world(tmp_path, without_index):
    return World(tmp_path)


def test_what_a_run_took_is_remembered_and_foretells_the_next(world):
    world.write("one.md", TEXT)
    before = world.run(dry_run=True)
    assert before.expected is not None
    assert before.expected.embedding is None
    assert not (world.files.parent / "data").exists()
    assert "is not known before the first" in summary_text(
        before, "harbour", dry_run=True
    )
    taken = world.run()
    assert taken.expected is None
    speed = read_speed(world.store.data_dir, world.embedder.digest)
    assert speed.characters == sum(map(len, world.embedder.texts))
    world.write("two.md", TEXT.replace("crowns", "pounds"))
    report = world.run(dry_run=True)
    size = sum(map(len, texts_of(world, report)))
    assert report.expected.embedding == pytest.approx(speed.seconds_for(size))
    assert "It would take about 5 s." in summary_text(report, "harbour", dry_run=True)
    assert read_speed(world.store.data_dir, "another model") is None


def texts_of(world: World, report) -> list[str]:
    """What the dry run would have embedded: the run that follows embeds it."""
    world.run()
    assert sum(item.to_embed for item in report.items) == len(world.embedder.texts)
    return world.embedder.texts


def test_nothing_to_do_takes_no_time_and_tells_none(world):
    world.write("one.md", TEXT)
    world.run()
    assert world.run(dry_run=True).expected is None


def test_newer_runs_count_more_and_short_ones_not_at_all(tmp_path):
    record_speed(tmp_path, "m", ENOUGH - 1, 9.0)
    assert read_speed(tmp_path, "m") is None
    record_speed(tmp_path, "m", 2 * MOST, 20.0)
    first = read_speed(tmp_path, "m")
    assert (first.characters, first.seconds) == (MOST, 10.0)
    record_speed(tmp_path, "m", MOST, 30.0)
    assert read_speed(tmp_path, "m").seconds_for(MOST) == pytest.approx(20.0)


@pytest.mark.parametrize("content", ["", "[1]", '{"m": {"characters": 0}}'])
def test_a_spoilt_file_is_no_knowledge_and_is_written_anew(tmp_path, content):
    (tmp_path / timing.NAME).write_text(content)
    assert read_speed(tmp_path, "m") is None
    record_speed(tmp_path, "m", ENOUGH, 1.0)
    assert set(json.loads((tmp_path / timing.NAME).read_text())) == {"m"}


def test_the_sentence_adds_both(tmp_path):
    assert (
        describe_duration(Expected(reading=30, embedding=150))
        == "It would take about 3 min."
    )
    assert describe_duration(Expected(reading=30)).startswith(
        "Reading would take about 30 s; how"
    )
