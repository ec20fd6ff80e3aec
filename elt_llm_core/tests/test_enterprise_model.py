"""Several models as one, and what an element has by itself and from above."""

import pytest

from elt_llm_core.enterprise.index import ModelIndex
from elt_llm_core.enterprise.joining import (
    join_models,
    match_inventories,
    read_joined_model,
)
from elt_llm_core.enterprise.model import (
    INVENTORY_FORMAT,
    EnterpriseModel,
    ModelElement,
    ModelLocation,
    ModelRelation,
    ModelView,
    RelationEnd,
)
from elt_llm_core.errors import UsageError
from elt_llm_core.graph.graph_questions import GraphQuestions
from elt_llm_core.graph.model_graph import graph_of


def element(key: str, name: str, **more) -> ModelElement:
    return ModelElement(id=key, name=name, location=ModelLocation(key=key), **more)


def relation(key: str, source: str, target: str, *counts: str) -> ModelRelation:
    ends = [
        RelationEnd(element_id=end, name=end.upper(), cardinality=count)
        for end, count in zip((source, target), (*counts, "", "")[:2], strict=True)
    ]
    return ModelRelation(id=key, source=ends[0], target=ends[1])


def model(file: str, *elements, relations=(), views=()) -> EnterpriseModel:
    return EnterpriseModel(
        name=file, source_file=file, format="drawio", elements=elements,
        relations=relations, views=views,
    )  # fmt: skip


def test_what_two_models_say_of_one_fact_sheet_is_one_element():
    drawn = model(
        "a.drawio",
        element("f-1", "CONTRACTS", fact_sheet_id="f-1", role="domain"),
        element("f-2", "Lease", fact_sheet_id="f-2", parent_id="f-1", domain="C"),
        relations=[relation("r", "f-1", "f-2")],
    )
    listed = model(
        "a.xlsx",
        element("f-2", "Lease!", fact_sheet_id="f-2", documentation="A right.",
                properties={"Owner": "Ada"}, status="DRAFT"),
        element("f-9", "Rent", fact_sheet_id="f-9", parent_id="f-2"),
        relations=[relation("r", "f-9", "f-2"), relation("s", "f-9", "gone")],
    )  # fmt: skip
    joined = join_models([drawn, listed])
    assert [e.id for e in joined.elements] == ["f-1", "f-2", "f-9"]
    lease = joined.elements[1]
    assert (lease.name, lease.domain, lease.documentation, lease.status) == (
        "Lease", "C", "A right.", "DRAFT",
    )  # fmt: skip
    assert lease.properties == {"Owner": "Ada"}
    assert len(lease.occurrences) == 1
    assert [r.id for r in joined.relations] == ["r", "a.xlsx#r"]
    assert [(s.id, s.reason) for s in joined.skips] == [
        ("s", "none of the joined models has its end 'GONE'")
    ]


def test_a_fact_sheet_without_an_id_in_the_drawing_is_the_element_of_its_name():
    drawn = model(
        "a.drawio",
        element("1", "Ledger", type="ApplicationComponent"),
        element("2", "Rent", type="Shape"),
        element("3", "Lease", type="Shape"),
        element("4", "Lease", type="Shape"),
        element("5", "Payment", type="BusinessProcess"),
        element("6", "Tenant", type="Shape", fact_sheet_id="t-9"),
    )
    names = ("Ledger", "rent", "Lease", "Payment", "Tenant")
    listed = model(
        "a.xlsx",
        element("A1", "Ledger", type="Application", fact_sheet_id="A1"),
        *(
            element(f"D{n}", name, type="DataObject", fact_sheet_id=f"D{n}")
            for n, name in enumerate(names[1:])
        ),
        relations=[relation("r", "D0", "A1")],
    ).model_copy(update={"format": INVENTORY_FORMAT})
    joined = join_models([listed, drawn])
    assert [(e.id, e.fact_sheet_id) for e in joined.elements] == [
        ("1", "A1"), ("2", "D0"), ("3", ""), ("4", ""), ("5", ""), ("6", "t-9"),
        ("D1", "D1"), ("D2", "D2"),
    ]  # fmt: skip
    assert joined.elements[1].type == "DataObject"
    (known,) = joined.relations
    assert (known.source.element_id, known.target.element_id) == ("2", "1")


def listing(*elements, **more) -> EnterpriseModel:
    listed = model("a.xlsx", *elements, **more)
    return listed.model_copy(update={"format": INVENTORY_FORMAT})


def sheet(key: str, name: str, kind: str = "DataObject", **more) -> ModelElement:
    return element(key, name, type=kind, fact_sheet_id=key, **more)


def test_ids_tell_fact_sheets_apart_only_within_one_register():
    names = {"u-1": "Lease", "u-2": "Rent", "u-3": "Levy"}
    drawn = model("a.drawio", *(sheet(key, name) for key, name in names.items()))
    numbered = listing(sheet("7", "Lease", documentation="A right."))
    assert join_models([drawn, numbered]).elements[0].documentation == "A right."
    # One id is known, so that of the lease is another one; a name is no id.
    same = listing(sheet("u-2", "Rent"), sheet("u-9", "Lease"), sheet("Levy", "Levy"))
    assert [e.id for e in join_models([drawn, same]).elements] == [*names, "u-9"]
    matches = match_inventories([same, drawn])
    assert {key: [e.id for e in drawn] for key, drawn in matches.items()} == {
        "u-2": ["u-2"], "u-9": [], "Levy": ["u-3"],
    }  # fmt: skip


def test_a_fact_sheet_is_the_thing_of_its_name_in_each_file_but_not_of_another_kind():
    drawn = model(
        "a.drawio", sheet("u-1", "Lease"), sheet("u-0", "RENTS", role="domain")
    )
    exchange = model(
        "b.xml",
        element("x-1", "Rent", type="BusinessObject"),
        element("x-2", "Roster", type="ApplicationComponent"),
    )
    names = ("Lease", "Rent", "Roster", "Rents")
    listed = listing(*(sheet(name, name) for name in names))
    matches = match_inventories([drawn, exchange, listed])
    assert {key: [e.id for e in drawn] for key, drawn in matches.items()} == {
        "Lease": ["u-1"], "Rent": ["x-1"], "Roster": [], "Rents": ["u-0"],
    }  # fmt: skip


def test_a_property_keeps_the_place_that_states_it():
    drawn = model("a.drawio", sheet("u-1", "Lease", properties={"colour": "red"}))
    listed = listing(
        sheet("9", "Lease", properties={"Owner": "Ada", "colour": "blue"}, status="OLD")
    )
    (lease,) = join_models([drawn, listed]).elements
    assert {name: at.key for name, at in lease.stated_at.items()} == {
        "Owner": "9", "status": "9",
    }  # fmt: skip
    answer = GraphQuestions(graph_of(join_models([drawn, listed]))).answer(
        "Who is the owner of Lease?"
    )
    assert [ref.location.key for ref in answer.proof] == ["9"]


def test_a_taken_id_of_another_thing_gets_its_file_and_references_follow():
    one = model("a.xml", element("x", "Actor"))
    two = model(
        "b.xml", element("x", "Role"), element("y", "Part", parent_id="x"),
        relations=[relation("r", "x", "y")],
        views=[ModelView(id="v", name="V", element_ids=("x", "y"))],
    )  # fmt: skip
    joined = join_models([one, two, two])
    assert [e.id for e in joined.elements] == ["x", "b.xml#x", "y"]
    assert joined.elements[2].parent_id == "b.xml#x"
    assert joined.relations[0].source.element_id == "b.xml#x"
    assert joined.views[0].element_ids == ("b.xml#x", "y")
    assert join_models([one]) == one


def test_relations_of_relations_fall_with_them():
    read = model(
        "a", element("x", "X"),
        relations=[
            relation("on", "x", "r"), relation("r", "x", "gone"),
            relation("loop", "x", "x", "1..1", ""),
        ],
    )  # fmt: skip
    joined = join_models([read])
    assert [r.id for r in joined.relations] == ["loop"]
    assert joined.relations[0].cardinality == "1..1-?"
    assert sorted(s.id for s in joined.skips) == ["on", "r"]


def test_spellings_of_a_domain_are_one_domain():
    drawn = model(
        "a.drawio",
        element("d", "Audience", role="domain", fact_sheet_id="f-1"),
        element("1", "Ticket", domain="Audience", subtype="Sales  desk"),
    )
    other = model(
        "b.drawio",
        element("e", "AUDIENCE", role="domain"),
        element("2", "Visit", domain="AUDIENCE", parent_id="e", subtype="SALES DESK"),
        element("3", "Cage", domain="Animals", subtype="SALES DESK"),
        relations=[relation("r", "2", "e")],
    )
    listed = model(
        "c.xlsx", element("4", "Guide", domain=" audience ")
    ).model_copy(update={"format": INVENTORY_FORMAT})  # fmt: skip
    third = model(
        "d.drawio", element("x", "Audience", role="domain", fact_sheet_id="f-9")
    )
    for models in ([drawn, other, third, listed], [listed, drawn, other, third]):
        joined = join_models(models)
        entities = {e.name: e for e in joined.elements if e.role == "entity"}
        assert {e.domain for e in entities.values()} == {"Audience", "Animals"}
        assert entities["Visit"].subtype == "Sales  desk"
        assert entities["Cage"].subtype == "SALES DESK"
        assert graph_of(joined).summary().domains == {"Audience": 3, "Animals": 1}
        # The group of b.drawio is that of a.drawio; another fact sheet is another one.
        heads = [e for e in joined.elements if e.role == "domain"]
        assert [e.id for e in heads] == ["d", "x"]
        assert [o.key for o in heads[0].occurrences] == ["e"]
        assert entities["Visit"].parent_id == "d"
        assert joined.relations[0].target.element_id == "d"
        assert not joined.skips


def test_two_domains_of_one_name_in_a_file_take_no_third():
    two = model("a.drawio", *(element(k, "Audience", role="domain") for k in "ab"))
    joined = join_models(
        [two, model("b.drawio", element("c", "audience", role="domain"))]
    )
    assert len(joined.elements) == 3


def test_a_ring_of_parents_ends():
    index = ModelIndex(
        model("a", element("x", "X", parent_id="y"), element("y", "Y", parent_id="x"))
    )
    assert [e.id for e in index.ancestors("x")] == ["y"]
    assert [e.id for e in index.children("x")] == ["y"]
    assert index.ancestors("none") == []


def test_a_collection_without_a_model(store):
    with pytest.raises(UsageError, match="no enterprise model in no collection"):
        read_joined_model(store, [])
