"""The catalogue: sources, evidence, hierarchy, relationships."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from elt_llm_consumer.catalog import CatalogJob
from elt_llm_consumer.catalog_scope import CatalogScope
from elt_llm_consumer.cataloguer import FORCED, NAMED, Cataloguer
from elt_llm_consumer.corpus import Handbook
from elt_llm_consumer.linking.model_entities import Entity, EntityModel
from elt_llm_consumer.linking.similarity import SemanticIndex
from elt_llm_consumer.product import schema
from elt_llm_core.config.sections import ConsumerSection


@pytest.fixture
def made(context, models, aliases):
    job = CatalogJob(collections=("handbook",), model="estate", aliases=aliases)
    report = job.build(models)(context)
    return report, json.loads(Path(report.files["catalog_json"]).read_text())


def entities(catalog):
    for domain in catalog.values():
        yield from domain["entities"]
        yield from domain["handbook_only"]
        for subtype in domain["subtypes"].values():
            yield from subtype["entities"]


def test_hierarchy_and_sources(made):
    report, catalog = made
    assert {"CONTRACTS", "MONEY", "PEOPLE"} <= set(catalog)
    leases = catalog["CONTRACTS"]["subtypes"]["Leases"]
    assert (catalog["CONTRACTS"]["fact_sheet_id"], leases["fact_sheet_id"]) == (
        "d-1",
        "s-1",
    )
    sources = {e["entity_name"]: e["source"] for e in entities(catalog)}
    assert sources["Ground Lease"] == sources["Tenants"] == "BOTH"
    assert sources["Shared Cost"] == "BOTH"
    assert sources["Boundary Survey"] == "MODEL_ONLY"
    assert sources["Rent Review"] == "HANDBOOK_ONLY"
    assert report.counts["both"] == 3
    assert report.counts["model_only"] == 1


def test_fields_and_their_evidence(made, store):
    _, catalog = made
    (lease,) = catalog["CONTRACTS"]["subtypes"]["Leases"]["entities"]
    assert lease["formal_definition"].startswith("the right to occupy a ground")
    assert "may not be assigned" in lease["governance_rules"]
    assert "expires" in lease["lifecycle_states"]
    assert "Land Act 1990" in lease["regulatory_context"]
    assert lease["leanix_description"] == "Right to occupy a ground."
    (row,) = store.documents("handbook")
    text = store.document_text(row.document_id)
    for entity in entities(catalog):
        for field, quotes in entity["evidence"].items():
            assert entity[field]
            for one in quotes:
                assert text[one["start"] : one["end"]] == one["quote"]
                assert one["support"] == "verified"
        assert not [f for f in entity["evidence"] if not entity[f]]


def test_an_entity_the_handbook_only_names_is_both(context, models, add, make):
    add(
        context.store,
        "handbook",
        make("# 9 News\n9.1 The boundary survey appears ten times a year.", "News"),
    )
    job = CatalogJob(collections=("handbook",), model="estate")
    report = job.build(models)(context)
    catalog = json.loads(Path(report.files["catalog_json"]).read_text())
    survey = next(e for e in entities(catalog) if e["entity_name"] == "Boundary Survey")
    assert (survey["source"], survey["mapping_rationale"]) == ("BOTH", NAMED)
    assert survey["domain_context"] == ("The boundary survey appears ten times a year.")
    assert survey["evidence"]["domain_context"][0]["support"] == "verified"


def test_nothing_found_is_empty(made):
    _, catalog = made
    survey = next(e for e in entities(catalog) if e["entity_name"] == "Boundary Survey")
    assert survey["governance_rules"] == survey["formal_definition"] == ""
    assert (survey["handbook_term"], survey["mapping_confidence"]) == (None, "")


def test_relationships_are_inherited(made):
    report, catalog = made
    (tenants,) = catalog["PEOPLE"]["entities"]
    inherited = {
        "target_entity": "Contracts",
        "relationship_type": "Entity Relationship",
        "inverse_type": "Entity Relationship (inverse)",
        "cardinality": "0..*-1..*",
        "inverse_cardinality": "1..*-0..*",
        "direction": "unidirectional",
        "role": "source",
        "origin": "inherited",
        "provenance": "inherited from People -> Contracts by PEOPLE",
        "conflict": "",
    }
    assert tenants["relationships"] == [inherited]
    lease = catalog["CONTRACTS"]["subtypes"]["Leases"]["entities"][0]
    (from_other_end,) = lease["relationships"]
    assert from_other_end["target_entity"] == "People"
    assert from_other_end["relationship_type"] == "Entity Relationship (inverse)"
    assert from_other_end["cardinality"] == "1..*-0..*"
    assert from_other_end["role"] == "target"
    (row,) = json.loads(Path(report.files["relationships_json"]).read_text())
    assert (row["entity_a"], row["entity_b"]) == ("people", "contracts")
    assert (row["in_model"], row["conflict"], row["evidence"]) == ("yes", "", [])


def test_handbook_only_terms_are_placed(made):
    _, catalog = made
    placed = [e for e in entities(catalog) if e["source"] == "HANDBOOK_ONLY"]
    assert placed
    for one in placed:
        assert one["inferred"] is True
        assert one["inference_reasoning"]
        sure = (one["inference_tier"], one["inference_confidence"]) == (
            "existing",
            "high",
        )
        assert one["review_status"] == ("PENDING" if sure else "NEEDS_CLARIFICATION")


def test_without_a_model(context, models):
    job = CatalogJob(collections=("handbook",))
    report = job.build(models)(context)
    catalog = json.loads(Path(report.files["catalog_json"]).read_text())
    assert {e["source"] for e in entities(catalog)} == {"HANDBOOK_ONLY"}
    assert list(catalog) == ["UNASSIGNED"]
    assert report.counts["handbook_only"] == 7


def test_second_run_asks_the_embedder_nothing(made, context, models, aliases):
    from elt_llm_core.strategy import Models
    from elt_llm_core.testing import HashEmbedding

    class Counting(HashEmbedding):
        def embed_array(self, texts):
            raise AssertionError(texts)

        def _get_query_embedding(self, query):
            raise AssertionError(query)

    first, _ = made
    before = Path(first.files["catalog_json"]).read_bytes()
    job = CatalogJob(collections=("handbook",), model="estate", aliases=aliases)
    report = job.build(Models(embedder=Counting()))(context)
    assert (report.counts["done"], report.counts["failed"]) == (0, 0)
    assert Path(report.files["catalog_json"]).read_bytes() == before
    assert b"/tmp" not in before


@pytest.mark.parametrize(
    "name", ["catalog", "catalog_flat", "coverage", "glossary", "relationships"]
)
def test_schemas_are_schemas(name):
    Draft202012Validator.check_schema(schema(name))


def test_a_forced_entity_whose_term_fits_two_says_so(store, models):
    leases = tuple(Entity(name="Ground Lease", domain=one) for one in "AB")
    handbook = Handbook(store, ["handbook"])
    cataloguer = Cataloguer(
        handbook,
        EntityModel(entities=leases),
        {},
        SemanticIndex(handbook, models),
        ConsumerSection(),
        CatalogScope(forced=("Ground Lease",)),
    )
    row = cataloguer.record(0)
    assert row["mapping_rationale"] == (
        f"{FORCED}; ambiguous: the term 'Ground Lease' fits 2 entities, of which none "
        "is chosen: Ground Lease (A), Ground Lease (B)"
    )
    assert (row["source"], row["review_status"]) == ("BOTH", "NEEDS_CLARIFICATION")


CHOIR = """\
# 1 Singing
1.1 A Section Leader is anyone who beats time for a Voice Part in a rehearsal.
1.2 Each Concert needs exactly one Music Hire Agreement (MHA). The Music Hire Agreement
is the contract that lends the choir its scores.
1.3 A Concert is an evening on which the choir sings before others.
"""


def test_short_forms_and_plain_sentences_serve_the_entities(context, models, add, make):
    add(context.store, "choir", make(CHOIR, "choir"))
    names = ("Concert", "MHA", "Section Leader")
    handbook = Handbook(context.store, ["choir"])
    cataloguer = Cataloguer(
        handbook,
        EntityModel(entities=tuple(Entity(name=one, domain="A") for one in names)),
        {},
        SemanticIndex(handbook, models),
        ConsumerSection(),
    )
    leader = cataloguer.record(names.index("Section Leader"))
    assert leader["handbook_term"] == "Section Leader"
    assert leader["formal_definition"].startswith("anyone who beats time")
    (stated,) = cataloguer.relation_table()
    assert (stated["entity_a"], stated["relationship_type"], stated["entity_b"]) == (
        "concert",
        "needs",
        "mha",
    )
    assert stated["cardinality"] == "?-1..1"


def test_a_term_that_two_entities_fit_is_shown_for_neither(store, models):
    leases = tuple(Entity(name="Ground Lease", domain=one) for one in "AB")
    handbook = Handbook(store, ["handbook"])
    cataloguer = Cataloguer(
        handbook,
        EntityModel(entities=leases),
        {},
        SemanticIndex(handbook, models),
        ConsumerSection(),
    )
    for number in range(len(leases)):
        row = cataloguer.record(number)
        assert (row["handbook_term"], row["formal_definition"]) == (None, "")
        assert (row["source"], row["review_status"]) == ("BOTH", "NEEDS_CLARIFICATION")
        assert "2 entities fit; they are: Ground Lease (A)" in row["mapping_rationale"]
