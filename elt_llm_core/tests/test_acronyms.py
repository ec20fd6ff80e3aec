"""Short forms and long forms, under both matchings."""

import pytest

from elt_llm_core.language.acronyms import Matching, find_acronyms, stands_for


@pytest.mark.parametrize(
    ("short", "long", "capitals", "initials"),
    [
        ("FOO", "Federal Office of Oysters", False, True),
        ("FOOO", "Federal Office of Oysters", True, True),
        ("FO", "Federal Office", True, True),
        ("BofE", "Bank of England", True, False),
        ("SOP", "standard operating procedure", True, True),
        ("UN-HQ", "United Nations Head-Quarters", True, False),
        ("AB", "Boats and Anchors", False, False),
        ("A", "Anchors", False, False),
    ],
)
def test_which_short_form_stands_for_which_long_one(
    short: str, long: str, capitals: bool, initials: bool
) -> None:
    assert stands_for(short, long) is capitals
    assert stands_for(short, long, "initials") is initials


@pytest.mark.parametrize("matching", ["capitals", "initials"])
def test_the_span_holds_the_long_form(matching: Matching) -> None:
    text = "The Small Boat  Club (SBC) and the RYA (Royal Yachting Association) agree."
    pairs = find_acronyms(text, matching)
    assert [(pair.short, pair.long) for pair in pairs] == [
        ("SBC", "Small Boat Club"),
        ("RYA", "Royal Yachting Association"),
    ]
    for pair in pairs:
        assert " ".join(text[pair.start : pair.end].split()) == pair.long


def test_capitals_gives_a_pair_once_and_initials_each_time() -> None:
    text = "Small Boat Club (SBC). Small Boat Club (SBC)."
    assert len(find_acronyms(text)) == 1
    assert len(find_acronyms(text, "initials")) == 2
