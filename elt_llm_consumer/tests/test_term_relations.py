"""Broader, narrower, related and conflicting terms, over two documents."""

import json
from pathlib import Path

import pytest

from elt_llm_consumer.definitions.definition_pipeline import find_definitions
from elt_llm_consumer.definitions.term_relations import relate_terms
from elt_llm_consumer.exchange.glossary_terms import RelationKind
from elt_llm_consumer.exchange.product_terms import glossary_of_rows
from elt_llm_core.jobs import JOBS

FIRST = """\
# 1 Definitions
1.1 "Lease" means a contract that grants the use of a ground.
1.2 "Ground Lease" means a contract for a term of years.
1.3 "Sub-tenant" means any tenant who holds from a Tenant under a Ground Lease.
1.4 "Tenant" means a person who holds a Lease.
1.5 "Notice" means a letter from the clerk.
1.6 "Pass" means any permit that has a date.
1.7 "Permit" means any pass that has a seal.
1.8 Write to the Reporting Officer (RO).
"""
SECOND = """\
# 1 Interpretation
1.1 "Tenant" means a company that pays rent for a ground.
1.2 "Notice" means a letter  from the Clerk.
1.3 Plans are kept in the Regional Office (RO).
"""


@pytest.fixture
def terms(make):
    """The definitions of both documents, and term to their relations."""
    documents = [make(FIRST, "First"), make(SECOND, "Second")]
    definitions = [
        one
        for document in documents
        for one in find_definitions(document.text, document.blocks)
    ]
    relations = relate_terms(definitions)
    by_term = {}
    for one, relation in zip(definitions, relations, strict=True):
        by_term.setdefault(one.term, []).append(relation)
    return definitions, by_term


def test_a_term_is_a_kind_of_what_its_last_words_and_its_definition_name(terms):
    _, by_term = terms
    assert by_term["Ground Lease"][0].broader == ("Lease",)
    assert by_term["Lease"][0].narrower == ("Ground Lease",)
    assert by_term["Lease"][0].broader == ()
    assert by_term["Sub-tenant"][0].broader == ("Tenant",)
    assert [one.narrower for one in by_term["Tenant"]] == [("Sub-tenant",)] * 2


def test_terms_of_a_definition_are_related_unless_they_are_broader(terms):
    _, by_term = terms
    assert by_term["Sub-tenant"][0].related == ("Ground Lease",)
    assert by_term["Tenant"][0].related == ("Lease",)


def test_terms_that_are_kinds_of_each_other_are_related(terms):
    _, by_term = terms
    for one, other in (("Pass", "Permit"), ("Permit", "Pass")):
        (relation,) = by_term[one]
        assert (relation.broader, relation.narrower) == ((), ())
        assert relation.related == (other,)


def test_other_words_are_a_conflict_and_the_same_words_are_none(terms):
    definitions, by_term = terms
    first, second = by_term["Tenant"]
    (other,) = first.conflicts
    assert definitions[other].definition.startswith("a company")
    assert [definitions[n].term for n in second.conflicts] == ["Tenant"]
    assert all(one.conflicts == () for one in by_term["Notice"])


@pytest.mark.parametrize(
    ("more", "conflicts"),
    [
        ("a fine of 50 crowns", [(1,), (0,)]),
        ("a fine of 5.50 crowns", [(1,), (0,)]),
        ("a fine of 5,000 crowns", [(1,), (0,)]),
        ("a fine of 5 crowns, at most 7.5 a week", [(), ()]),
    ],
)
def test_a_number_within_a_longer_number_is_a_conflict(make, more, conflicts):
    definitions = [
        one
        for fine in ("a fine of 5", more)
        for document in [make(f'# 1 Definitions\n1.1 "Late Fine" means {fine}.\n')]
        for one in find_definitions(document.text, document.blocks)
    ]
    assert [one.conflicts for one in relate_terms(definitions)] == conflicts


def test_a_short_form_with_two_long_forms_is_a_conflict(terms):
    _, by_term = terms
    assert [len(one.conflicts) for one in by_term["RO"]] == [1, 1]


def test_documents_that_differ_stand_side_by_side(store, make, add, context, models):
    add(store, "two", make(FIRST, "First"))
    add(store, "two", make(SECOND, "Second"))
    job = JOBS.load("glossary", {"collections": ("two",)})
    report = job.build(models)(context)
    content = json.loads(Path(report.files["glossary_json"]).read_text())
    one, two = (row for row in content if row["term"] == "Tenant")
    for row, other in ((one, two), (two, one)):
        (conflict,) = row["conflicts"]
        assert conflict["definition"] == other["definition"]
        assert conflict["document"] == other["document"] != row["document"]
        assert (conflict["start"], conflict["end"]) == (other["start"], other["end"])
    (sub,) = (row for row in content if row["term"] == "Sub-tenant")
    assert (sub["broader"], sub["related"]) == (["Tenant"], ["Ground Lease"])
    (term,) = (
        one
        for one in glossary_of_rows(content, "two").terms
        if one.name == "Sub-tenant"
    )
    assert [(one.kind, one.target) for one in term.relations] == [
        (RelationKind.BROADER, ("Tenant",)),
        (RelationKind.RELATED, ("Ground Lease",)),
    ]
