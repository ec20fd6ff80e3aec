"""Relations of entities: drawn, inherited and stated; inverse names and conflicts."""

import pytest

from elt_llm_consumer.cardinalities import invert_cardinality
from elt_llm_consumer.catalog_relations import EntityRelations, invert_type
from elt_llm_consumer.cataloguer import Cataloguer
from elt_llm_consumer.corpus import Handbook
from elt_llm_consumer.linking.mentions import MentionIndex
from elt_llm_consumer.linking.model_entities import Edge, EdgePlace, Entity, EntityModel
from elt_llm_consumer.linking.similarity import SemanticIndex
from elt_llm_consumer.stated_relations import find_stated_relations
from elt_llm_core.config.sections import ConsumerSection

CREW = Entity(name="Crew", domain="RACING", subtype="Entry", fact_sheet_id="c")
KITE = Entity(name="Kite", domain="GEAR", fact_sheet_id="k")
HEAT = Entity(name="Heat", domain="RACING", fact_sheet_id="h")
JUDGE = Entity(name="Line Judge", domain="PEOPLE", fact_sheet_id="j")
DOMAIN, GEAR = EdgePlace(role="domain"), EdgePlace(domain="GEAR")
TEXT = """\
# 1 Rules
1.1 Every Crew flies exactly one Kite in a Heat.
1.2 A Crew must sail at least two Heats. A Kite may not carry a Crew.
1.3 Crew means the people with a Kite.
1.4 The Kite of a Crew is small. A long Heat tires the Crew.
1.5 A Heat is abandoned by the Crew, and a Crew that has a Kite may leave.
1.6 The Line Judge must watch every Kite. The Senior Line Judge must count the Kites.
"""


@pytest.fixture
def relate(context, add, make, models):
    """The relations of a model's edges and of the text."""

    def build(*edges):
        add(context.store, "rules", make(TEXT))
        entities = tuple(sorted((CREW, KITE, HEAT, JUDGE), key=lambda one: one.order))
        model = EntityModel(entities=entities, edges=edges)
        handbook = Handbook(context.store, ("rules",))
        semantics = SemanticIndex(handbook, models)
        return Cataloguer(handbook, model, {}, semantics, ConsumerSection())

    return build


def stated(cataloguer):
    rows = cataloguer.relation_table()
    return {
        (row["entity_a"], row["relationship_type"], row["entity_b"]): row
        for row in rows
        if row["source"] == "HANDBOOK"
    }


def test_a_sentence_relates_its_subject_to_its_object(relate):
    rows = stated(relate())
    assert {key: row["cardinality"] for key, row in rows.items()} == {
        ("crew", "flies", "kite"): "",  # one in a heat, not one at all
        ("crew", "sail", "heat"): "?-2..*",
        ("heat", "is abandoned by", "crew"): "",
        ("heat", "tires", "crew"): "",
        ("line judge", "watch", "kite"): "",
    }
    row = rows["crew", "flies", "kite"]
    assert row["in_model"] == "no"
    (evidence,) = row["evidence"]
    assert evidence["quote"] == "Every Crew flies exactly one Kite in a Heat."
    assert evidence["support"] == "verified"


def test_what_the_model_says_too_is_told_and_a_conflict_named(relate):
    rows = stated(
        relate(
            Edge(source="Kite", target="Crew", cardinality="0..*-1..1", kind="carries"),
            Edge(source="Crew", target="Heat", cardinality="1..1-0..1"),
        )
    )
    kite = rows["crew", "flies", "kite"]
    assert (kite["in_model"], kite["conflict"]) == ("yes", "")
    heat = rows["crew", "sail", "heat"]
    assert heat["in_model"] == "yes"
    assert (
        heat["conflict"] == "how many of heat: the model says 0..1; the text says 2..*"
    )


def test_groups_that_are_related_are_no_relation_of_the_entities(relate):
    rows = stated(
        relate(
            Edge(
                source="RACING", source_place=DOMAIN, target="GEAR", target_place=DOMAIN
            )
        )
    )
    assert rows["crew", "flies", "kite"]["in_model"] == "group"
    assert rows["crew", "sail", "heat"]["in_model"] == "no"


def test_relations_are_seen_from_either_end_and_direct_ones_come_first():
    edges = (
        Edge(
            source="RACING",
            source_place=DOMAIN,
            target="GEAR",
            target_place=DOMAIN,
            cardinality="0..*-1..*",
        ),
        Edge(source="Crew", target="Kite", cardinality="1..1-0..2", kind="Serving"),
        Edge(
            source="Entry",
            source_place=EdgePlace(domain="RACING", role="subtype"),
            target="GEAR",
            target_place=DOMAIN,
        ),
    )
    relations = EntityRelations(edges)
    rows = relations.of(CREW)
    assert [(r["origin"], r["target_entity"], r["role"]) for r in rows] == [
        ("direct", "Kite", "source"),
        ("inherited", "GEAR", "source"),
        ("inherited", "GEAR", "source"),
    ]
    assert rows[0]["inverse_type"] == "is served by"
    seen = relations.of(KITE)[0]
    assert (seen["relationship_type"], seen["inverse_type"]) == (
        "is served by",
        "Serving",
    )
    assert (seen["cardinality"], seen["inverse_cardinality"]) == (
        "0..2-1..1",
        "1..1-0..2",
    )


def test_an_entity_of_the_same_name_elsewhere_has_its_own_relations():
    other = KITE.model_copy(update={"domain": "TOYS"})
    edges = (Edge(source="Crew", target="Kite", target_place=GEAR),)
    assert EntityRelations(edges).of(KITE)
    assert EntityRelations(edges).of(other) == []


def drawn(source, target, source_place=None, target_place=None, **more):
    places = [place or EdgePlace() for place in (source_place, target_place)]
    return Edge(
        source=source,
        target=target,
        source_place=places[0],
        target_place=places[1],
        **more,
    )


def test_an_entity_that_has_the_name_of_its_domain_passes_nothing_on():
    gear = Entity(name="Gear", domain="GEAR")
    within = EdgePlace(domain="GEAR")
    edges = (
        drawn("Gear", "Kite", within, within, kind="holds"),
        drawn("GEAR", "RACING", DOMAIN, DOMAIN, kind="serves"),
        drawn("GEAR", "Kite", DOMAIN, within, kind="shows"),
    )
    relations = EntityRelations(edges)
    rows = [(r["origin"], r["relationship_type"]) for r in relations.of(gear)]
    assert rows == [
        ("direct", "holds"),
        ("inherited", "serves"),
        ("inherited", "shows"),
    ]
    rows = [(r["origin"], r["target_entity"]) for r in relations.of(KITE)]
    assert rows == [("direct", "Gear"), ("direct", "GEAR"), ("inherited", "RACING")]


def test_groups_and_namesakes_are_told_apart_by_their_fact_sheets():
    here = Entity(name="Sail", domain="GEAR", domain_fact_sheet_id="g1")
    kite = KITE.model_copy(update={"domain": "TOYS"})
    edges = (
        drawn("Gear", "Heat", EdgePlace(fact_sheet_id="g1"), kind="above"),
        drawn("GEAR", "Heat", EdgePlace(fact_sheet_id="g2", role="domain")),
        drawn("Kite", "Kite", EdgePlace(fact_sheet_id="k"), kind="follows"),
        drawn("Kite", "Heat", EdgePlace(fact_sheet_id="k2"), kind="other"),
    )
    relations = EntityRelations(edges)
    assert [r["relationship_type"] for r in relations.of(here)] == ["above"]
    kites = {(r["target_entity"], r["relationship_type"]) for r in relations.of(kite)}
    assert kites == {("Kite", "follows"), ("Kite", "follows (inverse)")}


def test_a_sentence_on_a_group_of_the_same_name_is_not_in_the_model(relate):
    rows = stated(relate(drawn("Crew", "Kite", DOMAIN, DOMAIN)))
    assert rows["crew", "flies", "kite"]["in_model"] == "no"


def test_two_drawings_that_exclude_one_another_are_a_conflict():
    edges = (
        Edge(source="Crew", target="Kite", cardinality="1..1-1..1", kind="flies"),
        Edge(source="Kite", target="Crew", cardinality="2..*-1..1", kind="flies"),
        Edge(source="Crew", target="Heat", cardinality="1..1-0..1", kind="sails"),
        Edge(source="Crew", target="Heat", cardinality="1..1-2..2", kind="judges"),
    )
    rows = {r["target_entity"]: r["conflict"] for r in EntityRelations(edges).of(CREW)}
    assert rows["Kite"] == "how many of kite: the model says 1..1; the model says 2..*"
    assert rows["Heat"] == ""


@pytest.mark.parametrize(
    ("given", "turned"),
    [("0..*-1..1", "1..1-0..*"), ("?-0..*", "0..*-?"), ("", ""), ("1", "1")],
)
def test_cardinalities_are_turned(given, turned):
    assert invert_cardinality(given) == turned


def test_names_have_an_inverse():
    assert invert_type("Composition") == "is part of"
    assert invert_type("flows to") == "flows from"
    assert invert_type("lends") == "lends (inverse)"
    assert invert_type("") == ""


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "A Crew flies at least one Kite and may sail up to 6 Heats.",
            {("flies", "kite"): "?-1..*", ("sail", "heat"): "?-0..6"},
        ),
        (
            "Each Crew belongs to one Heat; a Heat is long.",
            {("belongs to", "heat"): "?-1..1"},
        ),
        (
            "A Crew may enter several Heats, and a Heat is long.",
            {("enter", "heat"): "?-0..*"},
        ),
        # Two objects of one verb, of which the first need not be an entity.
        (
            "Each Crew has exactly one Kite and at least two Heats.",
            {("has", "kite"): "?-1..1", ("has", "heat"): "?-2..*"},
        ),
        ("A Crew must have one head coach and two Kites.", {("has", "kite"): "?-2..2"}),
        ("A Crew pays a fee for itself and two Kites.", {}),
        ("A Crew has one Kite and two per day.", {("has", "kite"): ""}),
        (
            "A Crew has one Kite and two Heats a day.",
            {("has", "kite"): "", ("has", "heat"): ""},
        ),
        # A count of a day, and another subject.
        ("A Crew sails two Heats and may rest on one day.", {("sails", "heat"): ""}),
        ("A Crew sails two Heats a day; it may rest.", {("sails", "heat"): ""}),
        ("A Crew flies one Kite and may not sail two Heats.", {("flies", "kite"): ""}),
        # An exception behind the clause.
        (
            "A Crew has one Kite but may fly up to 2 Kites.",
            {("has", "kite"): "", ("fly", "kite"): "?-0..2"},
        ),
        ("A Crew has one Kite, but a Crew of men has two.", {("has", "kite"): ""}),
        (
            "A Crew has one Kite, and a crew with spares has both.",
            {("has", "kite"): ""},
        ),
        ("A Crew has one Kite; in gusts it takes a spare.", {("has", "kite"): ""}),
        ("A Crew has one Kite; the jury may allow another.", {("has", "kite"): ""}),
        ("A Crew has one Kite: large ones have up to three.", {("has", "kite"): ""}),
        ("A Crew has one Kite; a spare is kept ashore.", {("has", "kite"): "?-1..1"}),
    ],
)
def test_a_count_holds_where_its_clause_ends(
    context, add, make, models, sentence, expected
):
    add(context.store, "counts", make(f"# 1 Rules\n1.1 {sentence}"))
    handbook = Handbook(context.store, ("counts",))
    index = MentionIndex(handbook.passages, [e.name for e in (CREW, KITE, HEAT)], {})
    made = find_stated_relations(["Crew", "Kite", "Heat"], handbook, index)
    got = {(one.verb, one.target.lower()): one.cardinality for one in made}
    assert got == expected
    assert {one.source for one in made} <= {"Crew"}
