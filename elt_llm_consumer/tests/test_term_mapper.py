"""Terms and entities: one score of many signals; what is ambiguous is never guessed."""

import pytest

from elt_llm_consumer.linking.mapping_features import MappedTerm, PairSignals
from elt_llm_consumer.linking.model_entities import NOT_MAPPED, Edge, Entity
from elt_llm_consumer.linking.term_mapper import TermMapper

ENTITIES = [
    Entity(name="Ground Lease", domain="CONTRACTS", description="A lease of land"),
    Entity(name="Survey", domain="ASSETS"),
    Entity(name="Survey", domain="SAFETY"),
    Entity(name="Estate Management Board", domain="PEOPLE"),
    Entity(name="PurchaseOrder", domain="CONTRACTS"),
    Entity(name="Organisation Chart", domain="PEOPLE"),
    Entity(name="Encashment of Deposits", domain="CONTRACTS"),
    Entity(name="Paternity Leave", domain="PEOPLE"),
    Entity(name="Tenant", domain="PEOPLE"),
]
ALIASES = {"Tenant": ["occupier"]}
MAPPER = TermMapper(ENTITIES, aliases=ALIASES)


@pytest.mark.parametrize(
    ("term", "synonyms", "entity", "confidence", "signal"),
    [
        ("Ground Lease", (), "Ground Lease", "high", "name: as written"),
        ("ground leases", (), "Ground Lease", "high", "name: but for the plural"),
        ("Purchase Order", (), "PurchaseOrder", "medium", "name: implied spelling"),
        ("Occupiers", (), "Tenant", "medium", "name: alias"),
        ("Board", ("Estate Management Board",), "Estate Management Board", "medium",
         "name: synonym of the handbook"),
        ("Purchase Order (PO)", (), "PurchaseOrder", "medium", "name: implied"),
        ("organization chart", (), "Organisation Chart", "medium", "name: letters"),
    ],
)  # fmt: skip
def test_a_term_is_mapped_and_the_signals_are_named(
    term, synonyms, entity, confidence, signal
):
    match = MAPPER.map_term(MappedTerm(term, synonyms))
    assert match.entity is not None
    assert (match.entity.name, match.confidence) == (entity, confidence)
    assert "same thing with probability 0." in match.rationale
    assert signal in match.rationale


def test_namesakes_are_listed_and_none_is_chosen():
    match = MAPPER.map_term(MappedTerm("Survey"))
    assert match.entity is None
    assert match.ambiguous == ("Survey (ASSETS)", "Survey (SAFETY)")
    assert match.rationale.startswith("Not mapped: ambiguous, 2 entities fit")


@pytest.mark.parametrize("term", ["Maternity Leave", "Lease", "Release", "Board", ""])
def test_what_is_only_related_is_not_mapped(term):
    match = MAPPER.map_term(MappedTerm(term))
    assert (match.entity, match.confidence) == (None, "low")
    assert match.rationale.startswith(NOT_MAPPED)


def test_two_terms_may_mean_one_entity():
    names = ("Tenant", "occupier")
    found = [MAPPER.map_term(MappedTerm(name)).entity for name in names]
    assert found[0] == found[1] == ENTITIES[-1]


def signals(term: MappedTerm, edges: tuple[Edge, ...] = ()) -> dict[str, float]:
    (pair,) = PairSignals(ENTITIES[:1], edges).propose(term)
    return dict(pair[1])


def test_texts_and_the_graph_are_signals():
    plain = signals(MappedTerm("Ground Lease"))
    assert plain["text: shared words"] == plain["graph: neighbours in the definition"]
    said = MappedTerm("Ground Lease", (), "the right of a tenant to use land")
    edge = Edge(source="Ground Lease", target="Tenant")
    assert signals(said)["text: shared words"] > 0
    assert signals(said)["graph: neighbours in the definition"] == 0
    assert signals(said, (edge,))["graph: neighbours in the definition"] > 0


def test_derived_words_are_other_words():
    entities = [Entity(name="Authenticator"), Entity(name="Authentication")]
    rows = dict(PairSignals(entities).propose(MappedTerm("Authenticators")))
    assert rows[entities[0]]["name: but for the plural"] == 1
    assert rows[entities[1]]["name: same lemmas"] == 0
