"""Names and aliases to entities: whole words, plural folded, ambiguity reported."""

import pytest

from elt_llm_consumer.definitions.terms import (
    PhraseIndex,
    fold,
    normalise,
    spellings,
    variants,
)
from elt_llm_consumer.linking.model_entities import Entity, Matcher

ENTITIES = [
    Entity(name="Ground Lease", domain="CONTRACTS", fact_sheet_id="1"),
    Entity(name="Tenant", domain="PEOPLE", fact_sheet_id="2"),
    Entity(name="Survey", domain="ASSETS", fact_sheet_id="3"),
    Entity(name="Survey", domain="SAFETY", fact_sheet_id="4"),
    Entity(name="Terms & Conditions", domain="CONTRACTS", fact_sheet_id="5"),
]
ALIASES = {"ground lease": ["tenancy", "lease"], "tenant": ["occupier", "lease"]}


@pytest.mark.parametrize(
    ("term", "sheet", "confidence"),
    [
        ("Ground Lease", "1", "high"),
        ("ground  leases", "1", "high"),
        ("The Ground Lease", "1", "high"),
        ("Tenancies", "1", "medium"),
        ("Occupier", "2", "medium"),
        ("Terms and Conditions", "5", "high"),
        ("Survey", "3", "medium"),
        ("Lease", "1", "low"),
    ],
)
def test_match(term, sheet, confidence):
    match = Matcher(ENTITIES, ALIASES).match(term)
    assert match.entity is not None
    assert (match.entity.fact_sheet_id, match.confidence) == (sheet, confidence)


@pytest.mark.parametrize("term", ["Release", "Ground", "Leaseholder", ""])
def test_no_match_by_part_of_a_word(term):
    match = Matcher(ENTITIES, ALIASES).match(term)
    assert (match.entity, match.confidence) == (None, "low")


def test_ambiguity_is_told():
    assert Matcher(ENTITIES, ALIASES).match("Survey").ambiguous == ("Survey (SAFETY)",)
    assert Matcher(ENTITIES, ALIASES).match("lease").ambiguous == ("Tenant (PEOPLE)",)


def test_synonym_of_the_handbook():
    match = Matcher(ENTITIES, {}).match("GL", ("Ground Lease",))
    assert match.entity is not None
    assert (match.entity.name, match.confidence) == ("Ground Lease", "medium")


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
    matcher = Matcher([Entity(name="PurchaseOrder"), Entity(name="Berth (BTH)")], {})
    match = matcher.match("purchase orders")
    assert match.entity is not None
    assert (match.entity.name, match.confidence) == ("PurchaseOrder", "medium")
    assert "alias" in match.rationale
    text = "A purchase order is signed by the master."
    (found,) = PhraseIndex(["PurchaseOrder", *variants("PurchaseOrder", {})]).find(text)
    assert text[found.start : found.end] == "purchase order"


def test_aliases_work_both_ways():
    match = Matcher([Entity(name="Lease")], {"tenancy": ["lease"]}).match("Tenancy")
    assert match.entity is not None


def test_order_of_entities_does_not_matter():
    for entities in (ENTITIES, ENTITIES[::-1]):
        found = Matcher(entities, ALIASES).match("lease")
        assert found == Matcher(ENTITIES, ALIASES).match("lease")


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
