"""Every format: what it can hold comes back, equal glossaries give equal bytes."""

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from elt_llm_consumer.exchange.cells import (
    guard_cell,
    join_items,
    join_path,
    split_items,
    split_path,
    unguard_cell,
)
from elt_llm_consumer.exchange.glossary_format import FORMATS, load_format
from elt_llm_consumer.exchange.glossary_terms import Term, plain_text
from elt_llm_consumer.exchange.transfer import write_glossary
from exchange_glossaries import glossaries

NAMES = sorted(FORMATS.known())
# Shrinking a glossary takes minutes; the example as it was drawn tells enough.
SETTINGS = settings(
    max_examples=15,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_format_can_hold_comes_back(name):
    chosen = load_format(name)

    @SETTINGS
    @given(glossaries())
    def round_trip(glossary):
        written = write_glossary(chosen, glossary, leave_out=True)
        assume(written.glossary.terms)
        expected = list(chosen.keep_glossary(written.glossary).terms)
        back = chosen.read(written.content)
        assert list(back.terms) == expected
        assert chosen.write(written.glossary) == written.content
        lost = {loss.field for loss in written.losses}
        changed = {
            field
            for term, kept in zip(
                written.glossary.terms,
                map(chosen.keep, written.glossary.terms),
                strict=True,
            )
            for field in Term.model_fields
            if getattr(term, field) != getattr(kept, field)
        }
        assert lost == changed
        named = back.model_copy(update={"name": glossary.name})
        assert chosen.write(named) == written.content

    round_trip()


@given(st.text())
def test_a_guarded_cell_is_no_formula_and_comes_back(text):
    guarded = guard_cell(text)
    assert not guarded.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert unguard_cell(guarded) == text


@given(st.lists(st.text().map(str.strip).filter(bool)))
def test_items_of_a_cell_come_back(items):
    assert split_items(join_items(items)) == items
    assert list(split_path(join_path(items))) == items


@given(st.text())
def test_plain_text_is_plain_already(text):
    assert plain_text(plain_text(text)) == plain_text(text)
