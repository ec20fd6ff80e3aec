"""The words of a page are kept small and read as rows."""

from hypothesis import given
from hypothesis import strategies as st

from elt_llm_core.document import FINE, Page, Words, to_fine_units

ROWS = [(0, 4, 0.1, 0.2, 0.30001, 1.0), (5, 9, 0.0, 0.00001, 0.99999, 0.40312)]


def small(rows):
    return Words([n for s, e, *box in rows for n in (s, e, *map(to_fine_units, box))])


def test_rows_come_back_as_they_went_in():
    words = small(ROWS)
    assert list(words) == ROWS == words
    assert (words[0], words[-1]) == (ROWS[0], ROWS[-1])
    assert words[:1] == ROWS[:1]
    assert len(words) == len(ROWS)
    assert words == small(ROWS) != small(ROWS[:1])


def test_a_page_is_the_same_in_json_and_back():
    page = Page(number=1, width=10, height=10, words=ROWS)
    kept = Page.model_construct(**{**dict(page), "words": small(ROWS)})
    assert kept.model_dump_json() == page.model_dump_json()
    assert Page.model_validate_json(kept.model_dump_json()) == page


@given(st.floats(0, 1))
def test_a_fraction_is_rounded_as_round_does(value):
    assert to_fine_units(value) / FINE == round(value, 5)


def test_a_tie_is_rounded_as_round_does():
    for count in range(1600):
        assert to_fine_units(count / 1600) / FINE == round(count / 1600, 5)
