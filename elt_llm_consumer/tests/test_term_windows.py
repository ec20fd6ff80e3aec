"""Words beside a term, names that are cut, and the labels behind the weights."""

from collections import Counter
from pathlib import Path

import pytest

from elt_llm_consumer.definitions.definition_pipeline import find_definitions
from elt_llm_consumer.definitions.definition_records import text_units
from elt_llm_consumer.definitions.proposals import find_candidates
from elt_llm_consumer.definitions.term_windows import describe_window
from elt_llm_consumer.definitions.terms import find_folded, fold
from elt_llm_consumer.definitions.usage import Usage
from elt_llm_core.document import Block, BlockKind

ANY = 0.0  # a threshold that keeps every candidate
LABELS = Path(__file__).parents[2] / "benchmarks" / "glossary_labels.tsv"


def window(text, term):
    """The kinds of words beside a term in its first candidate."""
    blocks = [Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text))]
    units = text_units(text, blocks)
    candidates = find_candidates(text, blocks, units, Usage(text, blocks, units))
    one = next(c for c in candidates if fold(c.definition.term) == fold(term))
    row = describe_window(one, fold(one.definition.term))
    return {name for name, value in row.items() if value}


@pytest.mark.parametrize(
    ("text", "term", "expected"),
    [
        ("The mooring is a place for boats on the river.", "mooring",
         {"before: article", "after: be", "then: article", "opens and be"}),
        ("Moorings must be kept free of weeds by the owner.", "Moorings",
         {"before: start", "after: must", "then: be"}),
        ("A place for boats on the river is called a mooring.", "mooring",
         {"before: article", "after: point"}),
        ("Boats lie at a mooring (i.e. a place with a ring).", "mooring",
         {"before: article", "after: bracket"}),
    ],
)  # fmt: skip
def test_kinds_of_words_beside_a_term(text, term, expected):
    names = window(text, term) - {"place: position of the term"}
    assert names == expected


def test_phrase_is_found_in_whole_words_and_any_number():
    text = "Actors act. Two acts of the rules are void."
    start, end = find_folded("act of the rule", text)
    assert text[start:end] == "acts of the rules"
    assert find_folded("rule act", text) is None
    assert find_folded("", text) is None


def defined(text):
    """The terms that any candidate of a one-paragraph text gives."""
    blocks = [Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text))]
    return [one.term for one in find_definitions(text, blocks, ANY)]


@pytest.mark.parametrize(
    "text",
    [
        "12 : Other values are read and kept but nobody on the pier needs them.",
        "/moor : Places for boats : 3.4.1. Purpose",
    ],
)
def test_footnotes_and_lines_of_contents_define_nothing(text):
    assert defined(text) == []
    assert defined("epoch : A number that grows with each list.") == ["epoch"]


def test_terms_that_are_cut_at_a_bracket_are_none():
    text = (
        "Salts of the sea (calcium) Tablets are sold, and the (Calcium) Tablets of the "
        "sea are kept in a dry place with the others."
    )
    assert not [one for one in defined(text) if one.count("(") != one.count(")")]


def test_labels_are_many_and_of_unlike_documents():
    rows = [line.split("\t") for line in LABELS.read_text("utf-8").splitlines()]
    assert {len(row) for row in rows} == {5}
    assert {label for _, label, *_ in rows} == {"right", "weak", "wrong"}
    assert max(len(opening) for *_, opening in rows) <= 40
    judged = Counter(path for path, label, *_ in rows if label != "weak")
    assert sum(judged.values()) >= 3500
    assert sum(number >= 90 for number in judged.values()) >= 12
