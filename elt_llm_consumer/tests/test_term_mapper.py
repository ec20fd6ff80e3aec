"""Terms and entities: one score of many signals; what is ambiguous is never guessed."""

from functools import partial

import pytest

from elt_llm_consumer.definitions.extract import extract_definitions
from elt_llm_consumer.linking.mapping_features import (
    SHARED,
    MappedTerm,
    PairSignals,
    to_mapped_term,
)
from elt_llm_consumer.linking.model_entities import Entity
from elt_llm_consumer.linking.similarity import embed_texts
from elt_llm_consumer.linking.term_mapper import NOT_MAPPED, OTHER_SENSE, TermMapper
from elt_llm_core.config.loader import load_config
from elt_llm_core.document import Block
from elt_llm_core.models.factory import build_models
from elt_llm_core.testing import HashEmbedding

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
    assert "same thing with probability " in match.rationale
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


def test_aliases_work_both_ways():
    mapper = TermMapper([Entity(name="Lease")], aliases={"tenancy": ["lease"]})
    match = mapper.map_term(MappedTerm("Tenancy"))
    assert match.entity == Entity(name="Lease")


def test_the_order_of_entities_does_not_matter():
    other = TermMapper(ENTITIES[::-1], aliases=ALIASES)
    for name in ("Survey", "occupier", "Lease"):
        assert other.map_term(MappedTerm(name)) == MAPPER.map_term(MappedTerm(name))


def test_two_terms_may_mean_one_entity():
    names = ("Tenant", "occupier")
    found = [MAPPER.map_term(MappedTerm(name)).entity for name in names]
    assert found[0] == found[1] == ENTITIES[-1]


SALT = MappedTerm(
    "salt", (), "the form of a medicine that an acid makes of it so that it dissolves"
)
ROADS = Entity(name="Salt", domain="ROADS", description="Road salt spread in winter")
DRUGS = Entity(name="Salts", domain="DRUGS", description="Soluble form of a medicine")


@pytest.fixture(scope="module")
def embed():
    return partial(embed_texts, build_models(load_config(environ={})))


def test_a_description_of_another_sense_is_listed_with_the_reason(embed):
    match = TermMapper([ROADS], embed=embed).map_term(SALT)
    assert (match.entity, match.ambiguous) == (None, ("Salt (ROADS)",))
    assert match.rationale.startswith(f"{OTHER_SENSE}: Salt (ROADS), same thing with")
    assert "its description hardly fits the definition: meaning 0." in match.rationale


@pytest.mark.parametrize(
    ("name", "aliases"),
    [
        ("PurchaseOrder", {}),
        ("Purchase Order (PO)", {}),
        ("Acquisition", {"Acquisition": ["purchase order"]}),
    ],
)
def test_a_spelling_or_alias_in_another_sense_is_not_mapped(embed, name, aliases):
    other = Entity(name=name, domain="A", description="Rank of a knight of the crown")
    own = Entity(name=name, domain="B", description="Request for goods from a seller")
    term = MappedTerm("purchase order", (), "the form by which a shop asks for goods")
    match = TermMapper([other], aliases, embed).map_term(term)
    assert (match.entity, match.unlike) == (None, (other,))
    assert TermMapper([other, own], aliases, embed).map_term(term).entity == own


def test_the_description_tells_namesakes_apart(embed):
    match = TermMapper([ROADS, DRUGS], embed=embed).map_term(SALT)
    assert match.entity == DRUGS
    assert "its description fits the definition: meaning 0." in match.rationale


def test_a_terse_description_loses_no_entity(embed):
    fee = Entity(name="Affiliation Fee", description="Yearly sum paid by a club.")
    definition = (
        "the yearly sum that an Aerie pays to the Federation to remain a member"
    )
    match = TermMapper([fee], embed=embed).map_term(
        MappedTerm("Affiliation Fee", (), definition)
    )
    assert (match.entity, match.confidence) == (fee, "high")


def test_without_a_description_the_embedder_changes_nothing(embed):
    plain = [one.model_copy(update={"description": ""}) for one in ENTITIES]
    term = MappedTerm("Tenants", (), "whoever holds a lease")
    matches = [TermMapper(plain, embed=e).map_term(term) for e in (embed, None)]
    assert matches[0] == matches[1]
    assert matches[0].entity == plain[-1]
    assert "description" not in matches[0].rationale


def test_words_that_only_refer_to_a_definition_are_not_compared():
    text = '"Lease" has the meaning given in section 19 of the Act.'
    (lease,) = extract_definitions(
        text, [Block(kind="paragraph", start=0, end=len(text))]
    )
    assert to_mapped_term(lease) == MappedTerm("Lease")


def test_shared_words_of_the_texts_are_a_signal():
    embed = HashEmbedding().embed_array
    signals = PairSignals(ENTITIES[:1], embed=embed)
    shared = []
    for definition in ("", "the colour of a boat", "the right of a tenant to use land"):
        (pair,) = signals.propose(MappedTerm("Ground Lease", (), definition))
        shared.append(pair[1][SHARED])
    assert shared[0] == shared[1] == 0
    assert shared[2] > 0


def test_derived_words_are_other_words():
    entities = [Entity(name="Authenticator"), Entity(name="Authentication")]
    rows = dict(PairSignals(entities).propose(MappedTerm("Authenticators")))
    assert rows[entities[0]]["name: but for the plural"] == 1
    assert rows[entities[1]]["name: same lemmas"] == 0
