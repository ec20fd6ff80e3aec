"""Names: whole words, plural folded, the spellings and aliases of a name."""

import pytest

from elt_llm_consumer.definitions.terms import (
    PhraseIndex,
    fold,
    normalise,
    spellings,
    variants,
)

ALIASES = {"ground lease": ["tenancy", "lease"], "tenant": ["occupier", "lease"]}


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("PurchaseOrder", ("Purchase Order",)),
        ("PDFFile", ("PDF File",)),
        ("Harbour Control Point (HCP)", ("HCP", "Harbour Control Point")),
        ("HCP (Harbour Control Point)", ("HCP", "Harbour Control Point")),
        # "IT" and "WHO" are words, and short ones stand for many things.
        ("Information Technology (IT)", ("Information Technology",)),
        ("World Harbour Office (WHO)", ("World Harbour Office",)),
        ("Invoice (draft)", ()),
        ("purchase_order", ()),
        ("OAuth", ()),
        ("McDonald", ()),
    ],
)
def test_the_spellings_that_a_name_implies(name, others):
    assert spellings(name) == others


def test_a_name_of_a_model_is_found_as_people_write_it():
    text = "A purchase order is signed by the master."
    (found,) = PhraseIndex(["PurchaseOrder", *variants("PurchaseOrder", {})]).find(text)
    assert text[found.start : found.end] == "purchase order"


def test_mentions_are_whole_words():
    index = PhraseIndex(["act", "lease", "ground lease", "R&D"])
    text = "An active contract: two Ground Leases, the Act's release, R & D."
    assert [text[m.start : m.end] for m in index.find(text)] == [
        "Ground Leases",
        "Act's",
        "R & D",
    ]


def test_normal_forms():
    assert normalise("  The Ground\u00a0LEASE ") == "ground lease"
    assert fold("Parties") == fold("party")
    assert fold("Series") == "series"
    assert fold("Business") == "business"


def test_variants():
    assert variants("Ground Lease", ALIASES) == ("lease", "tenancy")
    assert variants("Lease", ALIASES) == ("ground lease", "tenant")
