"""Lists of which all items, or their number, are asked for; contents; exceptions."""

from collections.abc import Iterator

import pytest

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.results import Status
from elt_llm_core.strategy import Models
from elt_llm_query import Library
from elt_llm_query.analysis.counted_items import counts_items
from elt_llm_query.analysis.excepted import asks_for_exception
from elt_llm_query.analysis.question import analyse
from query_world import World

RULES = """# Library rules

## Loans
Members may borrow at most:
a) four books for three weeks,
b) two tapes for a week,
c) one map for a day.

The card box contains tickets and stamps.

The reading room is open daily except Sundays from 9 to 20.

## Boxes
The repair box contains:
a) a roll of tape;
b) a bone folder;
c) two brushes.

The repair box is kept behind the desk. The map case stands beside the door.

## Courses
The library offers the following courses:
- the binding course, which lasts two days;
- the writing course, which lasts a week.
"""
ITEMS = ("four books", "two tapes", "one map")


@pytest.fixture(scope="module")
def library(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Library]:
    """A library with rules that have lists."""
    folder = tmp_path_factory.mktemp("lists")
    rules = folder / "rules.md"
    rules.write_text(RULES, encoding="utf-8")
    models = Models(world.models.embedder)
    with Library(folder / "data", config=RagConfig(), models=models) as opened:
        opened.add([rules], collection="rules")
        yield opened


def test_a_list_is_quoted_whole_unless_the_question_names_an_item(
    library: Library,
) -> None:
    every = library.ask("What is the most I can borrow?").answer
    assert all(item in every for item in ITEMS)
    assert "at most" in every
    one = library.ask("How many tapes may members borrow?").answer
    assert [item in one for item in ITEMS] == [False, True, False]
    assert "at most" in one


def test_the_number_of_items_is_answered_by_the_list(library: Library) -> None:
    answer = library.ask("How many courses does the library offer?").answer
    assert "binding course" in answer
    assert "writing course" in answer


def test_where_a_thing_is_does_not_tell_what_is_in_it(library: Library) -> None:
    answer = library.ask("What does the repair box contain?").answer
    assert "bone folder" in answer
    assert "behind the desk" not in answer
    assert "stamps" in library.ask("What does the card box contain?").answer
    assert library.ask("What does the map case contain?").status is Status.INSUFFICIENT


def test_an_exception_answers_whether_it_is_so(library: Library) -> None:
    answer = library.ask("Is the reading room open on Sundays?").answer
    assert "daily except Sundays" in answer


@pytest.mark.parametrize(
    ("question", "sentence", "excepts"),
    [
        ("Is the sauna open on Sundays?", "The sauna is open except on Sundays.", True),
        (
            "Are guide dogs admitted?",
            "Animals are not admitted, apart from guide dogs.",
            True,
        ),
        (
            "Is the clubhouse open on Sundays?",
            "The sauna in the clubhouse is open daily except Sundays.",
            False,
        ),
        ("Is it open except on Sundays?", "It is open except on Sundays.", False),
        (
            "Is the sauna open on Mondays?",
            "The sauna is open except on Sundays.",
            False,
        ),
    ],
)
def test_only_what_a_sentence_excepts_is_an_exception(question, sentence, excepts):
    weights = analyse(question).weights
    assert asks_for_exception(weights, question, sentence) is excepts


@pytest.mark.parametrize(
    ("question", "lead", "counts"),
    [
        ("How many kinds of courses are there?", "We offer these courses:", True),
        ("How many criteria must be met?", "The following criteria apply:", True),
        ("How many rescue boats are there?", "The rescue boat carries:", False),
        ("How many boats may a pupil use?", "Boats must carry:", False),
    ],
)
def test_a_lead_in_names_what_its_items_are(question, lead, counts):
    assert counts_items(question, lead) is counts
