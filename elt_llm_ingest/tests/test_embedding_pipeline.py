"""Vectors: checked, bisected, quarantined, shared batches, one model check."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from elt_llm_core.errors import EmbedError, ModelError, ModelUnavailableError
from elt_llm_core.jobs import Pace
from elt_llm_core.results import DegradationKind
from elt_llm_core.store.database.vectors import vector_key
from elt_llm_ingest import window
from elt_llm_ingest.sandbox.client import ReadingProcess
from elt_llm_ingest.vectorizer import BATCH, PROBES, Vectorizer
from ingest_world import CountingEmbedding, World, told

QUARANTINED = DegradationKind.CHUNK_QUARANTINED


@pytest.fixture
def world(tmp_path, without_index):
    made = World(tmp_path)
    yield made
    made.store.close()


def rules(count: int, bad: int = -1) -> str:
    """A section a rule, so that each is a chunk; one of them says POISON."""
    said = ("POISON" if n == bad else f"fee{n}" for n in range(count))
    return "\n\n".join(
        f"# Rule {n}\n\nThe {word} of berth {n} is due." for n, word in enumerate(said)
    )


def spoil_row(value):
    def change(texts, rows):
        for place, text in enumerate(texts):
            if "POISON" in text:
                rows[place] = value
        return rows

    return change


def drop_row(texts, rows):
    return rows[:-1] if any("POISON" in text for text in texts) else rows


def refuse(texts, rows):
    if any("POISON" in text for text in texts):
        raise EmbedError("the server blames the text")
    return rows


def widen(texts, rows):
    wrong = any("POISON" in text for text in texts)
    return np.ones((len(texts), 7), dtype=np.float32) if wrong else rows


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (spoil_row(np.nan), "NaN or infinity"),
        (spoil_row(np.inf), "NaN or infinity"),
        (spoil_row(0.0), "length zero"),
        (drop_row, "returned vectors of shape (0, 256)"),
        (widen, "returned vectors of shape (1, 7)"),
        (refuse, "blames the text"),
    ],
    ids=["nan", "inf", "zero", "few", "wide", "refused"],
)
def test_one_bad_text_costs_one_vector(world, change, reason):
    world.write("rules.md", rules(40, bad=17))
    world.embedder.spoil(change)
    report = world.run()
    assert (report.counts["added"], report.counts["embedded"]) == (1, 39)
    (said,) = told(report, QUARANTINED)
    assert said.startswith("rules.md: partial: 1 of 40 chunks has no vector: ")
    assert reason in said
    assert report.exit_code == 2
    (row,) = world.store.quarantined_chunks("harbour")
    assert "POISON" in world.ids()[row.node_id]


def test_a_quarantined_chunk_alone_is_tried_again(world):
    world.write("rules.md", rules(10, bad=3))
    world.embedder.spoil(refuse)
    world.run()
    again = world.run()
    assert (again.counts["updated"], again.exit_code) == (1, 2)
    assert all("POISON" in text for text in world.embedder.texts)
    world.embedder.spoil(None)
    healed = world.run()
    assert (healed.counts["embedded"], healed.exit_code) == (1, 0)
    assert world.store.quarantined_chunks("harbour") == []
    assert world.run().counts["unchanged"] == 1


def test_plain_characters_may_help(world):
    def dislike(texts, rows):
        if any("\N{LATIN SMALL LIGATURE FI}" in text for text in texts):
            raise EmbedError("unknown character")
        return rows

    world.write("a.md", "A \N{LATIN SMALL LIGATURE FI}ne is due in June.\n")
    world.embedder.spoil(dislike)
    report = world.run()
    assert (report.counts["embedded"], report.exit_code) == (1, 0)
    assert "A fine is due in June." in world.embedder.texts


def test_a_model_that_makes_no_vector_at_all_stops_the_run(world):
    world.write("rules.md", rules(3))
    world.embedder.spoil(lambda _, rows: rows * np.nan)
    with pytest.raises(ModelError, match="no vector for any text") as caught:
        world.run()
    assert caught.value.exit_code == 69


def test_a_model_that_goes_away_is_no_bad_text(world):
    for n in range(3):
        world.write(f"{n}.md", rules(300).replace("due", f"due in week {n}"))

    def leave(texts, rows):
        if len(world.embedder.calls) > 20:
            raise ModelUnavailableError("http://localhost:1", "refused")
        return rows

    world.embedder.spoil(leave)
    with pytest.raises(ModelUnavailableError) as caught:
        world.run()
    assert "the same command resumes" in caught.value.hint
    done = len(world.embedder.texts) - len(world.embedder.calls[-1])
    assert world.names() == ["0.md"]
    world.embedder.spoil(None)
    report = world.run()
    assert (report.counts["added"], report.counts["unchanged"]) == (2, 1)
    assert report.counts["embedded"] == 900 - done
    assert world.store.quarantined_chunks("harbour") == []


def test_small_files_share_batches(world, clock):
    for n in range(3 * BATCH):
        world.write(f"{n:03}.txt", f"Note {n} is about berth {n}.")
    report = world.run()
    assert report.counts["added"] == 3 * BATCH
    # The first are few, so that something is stored soon.
    sizes = [len(call) for call in world.embedder.calls]
    assert sizes == [8, 16, BATCH, BATCH, 8]
    lengths = [len(text) for text in world.embedder.texts]
    assert lengths == sorted(lengths)
    assert world.run().counts["unchanged"] == 3 * BATCH


def test_a_batch_has_a_most_of_characters(world):
    embedder = CountingEmbedding(max_tokens=100_000)
    with world.store.writer() as writer:
        Vectorizer(writer, embedder).embed([f"{n} " + "word " * 6000 for n in range(3)])
    assert [len(call) for call in embedder.calls] == [1, 1, 1]


def test_a_text_that_the_model_would_cut_is_not_sent(world):
    embedder = CountingEmbedding(max_tokens=20)
    long = "word " * 21
    with world.store.writer() as writer:
        vectors = Vectorizer(writer, embedder)
        vectors.embed(["short", long])
        assert vectors.failed == {long: "it has 21 tokens and the model reads 20"}
        assert vectors.find_missing(["short", long]) == []
    assert embedder.texts == ["short"]


def test_a_model_that_cannot_do_batches_is_asked_one_by_one(world):
    def mix(texts, rows):
        return rows[::-1].copy() if len(texts) > 1 else rows

    world.write("rules.md", rules(5))
    world.embedder.spoil(mix)
    report = world.run()
    assert [len(call) for call in world.embedder.calls] == [1] * 5
    (said,) = told(report, DegradationKind.DOCUMENT_WARNING)
    assert "one at a time" in said


def test_a_damaged_cached_vector_is_made_again_and_told(world):
    world.write("rules.md", rules(5))
    world.run()
    (text, *_) = world.embedder.texts
    with closing(sqlite3.connect(world.store.data_dir / "truth.sqlite3")) as database:
        key = vector_key(world.embedder.digest, text)
        (data,) = database.execute(
            "select data from vector where key = ?", (key,)
        ).fetchone()
        flipped = bytes([data[0] ^ 1]) + data[1:]  # still a vector of length one
        database.execute("update vector set data = ? where key = ?", (flipped, key))
        database.commit()
    report = world.run(collection="again")
    assert world.embedder.texts == [text]
    told = [d.detail for d in report.degradations]
    assert told == ["1 cached vectors were damaged and were computed again"]
    assert world.run(collection="third").degradations == ()


def test_a_model_is_checked_once(world):
    world.write("a.md", rules(2))
    world.run()
    assert [list(PROBES)] == [c for c in world.embedder._calls if len(c) == len(PROBES)]
    world.write("b.md", rules(3))
    world.run()
    assert not set(PROBES) & {t for call in world.embedder._calls for t in call}


def test_what_is_embedded_takes_no_more_time(world, monkeypatch):
    monkeypatch.setattr(Pace, "time_left", lambda *_: "about 35 s left")
    world.write("a.md", rules(20))
    world.run()
    embedded = [what for what in world.heard if what[0] == "embed"]
    assert embedded
    assert all((done < total) == bool(left) for _, done, total, left in embedded)


class Clock:
    """Time that passes only when somebody says so; in the place of `time`."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(window, "time", made)
    return made


def test_a_small_file_is_stored_within_seconds_of_being_read(world, clock, monkeypatch):
    for n in range(20):
        world.write(f"{n:02}.md", f"# Berth {n}\n\nA fee of {n} is due.\n")
    read = ReadingProcess.read
    stored = []

    def slowly(self, path, data, loader=""):
        stored.append(len(world.store.documents("harbour")) if stored else 0)
        clock.now += 0.3
        return read(self, path, data, loader)

    monkeypatch.setattr(ReadingProcess, "read", slowly)
    world.run()
    # What was read more than the second ago, and what was read in the meantime.
    assert all(number - done <= 5 for number, done in enumerate(stored))
    assert len(world.names()) == 20


def test_the_first_files_are_stored_before_many_are_read(world, clock):
    """A run that is cut off early has stored something, however fast files are read."""
    for n in range(60):
        world.write(f"{n:02}.md", f"# Berth {n}\n\nA fee of {n} is due.\n")

    def refuse_after_the_first(texts, rows):
        if len(world.embedder.calls) > 1:
            raise ModelUnavailableError("hash", "the server is gone")
        return rows

    world.embedder.spoil(refuse_after_the_first)
    with pytest.raises(ModelUnavailableError):
        world.run()
    assert world.names() == [f"{n:02}.md" for n in range(8)]


def test_a_slow_model_is_given_few_texts_at_a_time(world, clock):
    for n in range(20):
        world.write(f"{n:02}.md", rules(10).replace("due", f"due in week {n}"))

    def slowly(texts, rows):
        clock.now += 0.2 * len(texts)
        return rows

    world.embedder.spoil(slowly)
    world.run()
    sizes = [len(call) for call in world.embedder.calls]
    assert sizes[0] == 8  # nothing is known of the model yet
    assert max(sizes[4:]) <= 8
    assert sum(sizes) == 200


def test_a_fast_model_is_given_many_texts_at_a_time(world, clock, monkeypatch):
    made = []
    make = Vectorizer.embed
    monkeypatch.setattr(
        Vectorizer, "embed", lambda self, t: (made.append(len(t)), make(self, t))[1]
    )
    world.write("rules.md", rules(1000))
    world.run()
    assert made[:6] == [8, 16, 32, 64, 128, 256]
    assert max(made) == window.SLICE
