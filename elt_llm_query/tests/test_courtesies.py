"""Greetings and thanks are answered politely, in every language, without a search."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.language.languages import LANGUAGES
from elt_llm_core.results import Status, Support
from elt_llm_query import Library
from elt_llm_query.conversation.caller_turns import exchanges_of
from elt_llm_query.conversation.courtesy import (
    TABLE,
    CourtesyKind,
    find_courtesy,
    reply_to,
    without_courtesy,
)
from query_world import World

TEXT = "# Loans\n\nA book is lent for 21 days.\n\nA film is lent for 7 days.\n\n"
TEXT += "A leaflet is a printed sheet.\n\nA berth card is a list of all places.\n"

with TABLE.open(encoding="utf-8", newline="") as lines:
    ROWS = list(csv.DictReader(lines, delimiter="\t"))


@pytest.fixture
def root(world: World, tmp_path: Path) -> Path:
    """A data root with one document."""
    (tmp_path / "loans.md").write_text(TEXT, encoding="utf-8")
    with Library(tmp_path / "data", config=RagConfig(), models=world.models) as made:
        made.add([tmp_path / "loans.md"], collection="loans")
    return tmp_path / "data"


@pytest.fixture
def library(world: World, root: Path) -> Iterator[Library]:
    with Library(root, config=RagConfig(), models=world.models) as opened:
        yield opened


def test_every_language_that_is_served_has_its_phrases_and_replies() -> None:
    assert {row["language"] for row in ROWS} == LANGUAGES.keys()
    assert all(all(row.values()) for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["language"])
def test_each_phrase_is_met_with_a_reply_of_its_kind(row: dict[str, str]) -> None:
    for kind in CourtesyKind:
        for phrase in row[kind.value].split("|"):
            found = find_courtesy(f"{phrase.capitalize()}!")
            assert found is not None, phrase
            # Languages share phrases: "hola" is Spanish and Catalan.
            assert found.kind is kind or found.language != row["language"], phrase
            other = next(r for r in ROWS if r["language"] == found.language)
            assert reply_to(found).endswith((other["invitation"], other["bye"]))


@pytest.mark.parametrize(
    "message",
    [
        "How are you?",
        "Good Friday is when?",
        "thanks giving day",
        "What is a hello message",
        "fine?",
        "PA",
        "hello " * 20,
        "",
        "?!",
    ],
)
def test_what_may_ask_something_is_no_courtesy(message: str) -> None:
    assert find_courtesy(message) is None


def test_thanks_say_more_than_ok() -> None:
    found = find_courtesy("ok, thanks")
    assert found is not None
    assert reply_to(found) == "You are welcome. Ask a question about the documents."


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("Thanks! And the fee?", "And the fee?"),
        ("Hello, thank you. How long is it?", "How long is it?"),
        ("ありがとうございます。料金は", "料金は"),
        ("Good Friday, when is it?", "Good Friday, when is it?"),
        ("Thanks", "Thanks"),
        ("co-op, what is it?", "co-op, what is it?"),
    ],
)
def test_the_question_after_a_courtesy_is_kept(message: str, question: str) -> None:
    assert without_courtesy(message) == question


def test_a_turn_of_thanks_searches_nothing_and_is_no_answer(library: Library) -> None:
    first = library.chat("How many days is a book lent?", "c1")
    assert first.result.status is Status.ANSWERED
    thanks = library.chat("Thank you!", "c1")
    assert thanks.courtesy
    assert thanks.text == "You are welcome. Ask a question about the documents."
    assert (thanks.sources, thanks.result.sources, thanks.unclear) == ((), (), "")
    assert {s.verdict for s in thanks.result.statements} == {Support.NOTICE}
    assert not any(s.name in {"retrieve", "fuse"} for s in thanks.result.trace.stages)
    stored = library.store.conversations.read("c1", "local").messages[-1]
    assert stored.courtesy
    assert (stored.chunks, stored.nearest) == ((), ())
    second = library.chat("And a film?", "c1")
    assert second.searched == "How many days is a film lent?"
    assert second.result.status is Status.ANSWERED


def test_thanks_in_the_conversation_of_a_program_are_passed_over() -> None:
    turns = [("How is oak held?", "So [S1]."), ("thanks", "You are welcome.")]
    _, exchanges = exchanges_of(turns)
    assert [e.asked_back for e in exchanges] == [False, True]


def test_another_name_of_a_thing_is_tried_where_one_finds_nothing(
    world: World, root: Path, tmp_path: Path
) -> None:
    file = tmp_path / "aliases.yaml"
    file.write_text("jetty slip: [quay sheet, berth card]\nleaflet: [boat paper]\n")
    asked = "What is a jetty slip?"
    with Library(root, config=RagConfig(), models=world.models) as plain:
        assert plain.chat(asked, "c1").result.status is Status.INSUFFICIENT
    config = RagConfig.model_validate({"consumer": {"aliases": str(file)}})
    with Library(root, config=config, models=world.models) as named:
        turn = named.chat(asked, "c2")
        assert turn.searched == "What is a berth card?"
        assert turn.result.status is Status.ANSWERED
        assert [s.name for s in turn.result.trace.stages].count("aliases") == 2
        follow_up = named.chat("And a boat paper?", "c2")
        assert follow_up.searched == "What is a leaflet?"
        assert "printed sheet" in follow_up.text
