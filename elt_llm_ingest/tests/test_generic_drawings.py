"""Drawings without fact sheets: boxes, tables, classes, labels of edges, pages."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from elt_llm_core.enterprise.index import ModelIndex
from elt_llm_core.enterprise.model import SIDECAR_KIND, EnterpriseModel
from elt_llm_core.errors import LoadError
from elt_llm_ingest.readers.enterprise.drawio import read_model
from elt_llm_ingest.readers.enterprise.edges import (
    cardinality_words,
    parse_cardinality,
)
from ingest_models import SHAPES, drawing, edge, fact, page


def box(cell, label, place=(0, 0, 120, 60), style="rounded=1", parent="1") -> str:
    x, y, width, height = place
    return (
        f'<mxCell id="{cell}" value="{label}" style="{style}" vertex="1" '
        f'parent="{parent}"><mxGeometry x="{x}" y="{y}" width="{width}" '
        f'height="{height}" as="geometry"/></mxCell>'
    )


def line(cell, source, target, style="", value="", labels=()) -> str:
    children = "".join(
        f'<mxCell id="{cell}-{n}" value="{text}" style="edgeLabel" vertex="1" '
        f'parent="{cell}"><mxGeometry x="{x}" relative="1" as="geometry"/></mxCell>'
        for n, (x, text) in enumerate(labels)
    )
    return (
        f'<mxCell id="{cell}" value="{value}" style="{style}" edge="1" parent="1" '
        f'source="{source}" target="{target}"/>{children}'
    )


def model(*pages: str, compressed: bool = False) -> EnterpriseModel:
    data = drawing(*pages, compressed=compressed)
    return read_model(Path("shop.drawio"), data)[0]


def by_name(read: EnterpriseModel) -> dict:
    return {element.name: element for element in read.elements}


TWO = box("2", "Order") + box("3", "Customer", (400, 0, 120, 60))


@pytest.mark.parametrize("compressed", [False, True])
def test_boxes_and_edges_are_elements_and_relations(compressed):
    shapes = TWO + line("4", "2", "3", "endArrow=classic", "placed by")
    read = model(page(shapes), compressed=compressed)
    assert [(e.name, e.role, e.type) for e in read.elements] == [
        ("Order", "entity", "Shape"), ("Customer", "entity", "Shape"),
    ]  # fmt: skip
    (relation,) = read.relations
    assert (relation.source.name, relation.name, relation.target.name) == (
        "Order", "placed by", "Customer",
    )  # fmt: skip
    assert (relation.direction, relation.type, relation.cardinality) == (
        "forward", "", "",
    )  # fmt: skip
    assert read.format == "drawio"
    assert not read.skips


def test_what_stands_in_a_box_belongs_to_it():
    shapes = (
        box("10", "SALES", (0, 0, 600, 400), "swimlane")
        + box("11", "Order", (20, 40, 120, 60), parent="10")
        + box("12", "Backlog", (200, 40, 300, 300), parent="10")
        + box("13", "Offer", (220, 80, 120, 60))  # only drawn inside
        + box("20", "Warehouse", (900, 0, 120, 60))
        + box("21", "Drawn in May", (900, 300, 120, 30), "text;html=1")
    )
    named = by_name(model(page(shapes)))
    places = {n: (e.role, e.domain, e.subtype) for n, e in named.items()}
    assert places == {
        "SALES": ("domain", "SALES", ""),
        "Order": ("entity", "SALES", ""),
        "Backlog": ("subtype", "SALES", ""),
        "Offer": ("entity", "SALES", "Backlog"),
        "Warehouse": ("entity", "", ""),
        "Drawn in May": ("note", "", ""),
    }
    assert named["Offer"].parent_id == named["Backlog"].id


def test_rows_of_a_table_are_attributes_and_edges_end_at_the_table():
    table = (
        box("10", "Order", (0, 0, 200, 100), "shape=table;childLayout=tableLayout")
        + box("11", "", (0, 30, 200, 30), "shape=tableRow", "10")
        + box("12", "PK", (0, 0, 30, 30), "shape=partialRectangle", "11")
        + box("13", "order_id", (30, 0, 170, 30), "shape=partialRectangle", "11")
    )
    lines = line("4", "11", "3", "endArrow=ERzeroToMany;startArrow=ERmandOne")
    read = model(page(table + box("3", "Customer", (400, 0, 120, 60)) + lines))
    assert [e.name for e in read.elements] == ["Order", "Customer"]
    assert read.elements[0].attributes == ("PK", "order_id")
    (relation,) = read.relations
    assert (relation.source.name, relation.cardinality) == ("Order", "1..1-0..*")
    assert (relation.direction, read.skips) == ("none", ())


def test_members_of_a_class_are_attributes():
    shape = (
        box("10", "Order", (0, 0, 160, 90), "swimlane;childLayout=stackLayout")
        + box("11", "+ total: Money", (0, 26, 160, 26), "text;html=1", "10")
        + box("12", "", (0, 52, 160, 8), "line", "10")
        + box("13", "List&lt;String&gt; tags", (0, 60, 160, 26), "text", "10")
    )
    (element,) = model(page(shape)).elements
    assert element.attributes == ("+ total: Money", "List<String> tags")


def test_labels_of_an_edge_are_its_name_its_counts_and_the_names_of_its_ends():
    labels = [(-0.9, "1"), (0.8, "0..n"), (0, "places"), (0.7, "orders")]
    relation = model(page(TWO + line("4", "2", "3", labels=labels))).relations[0]
    assert (relation.name, relation.cardinality) == ("places", "1..1-0..*")
    assert (relation.source.role, relation.target.role) == ("", "orders")
    moved = model(page(TWO + line("4", "2", "3", labels=[(0.9, "ships")])))
    assert moved.relations[0].name == "ships"
    ratio = model(page(TWO + line("4", "2", "3", value="1:n"))).relations[0]
    assert (ratio.name, ratio.cardinality) == ("", "1..1-0..*")
    number = model(page(TWO + line("4", "2", "3", value="12"))).relations[0]
    assert (number.name, number.cardinality) == ("12", "")


@pytest.mark.parametrize(
    ("style", "direction"),
    [
        ("", "forward"),  # draw.io draws an arrow where the style names none
        ("endArrow=none", "none"),
        ("startArrow=open;endArrow=none", "backward"),
        ("startArrow=block;endArrow=open", "both"),
        ("startArrow=diamondThin;endArrow=none", "none"),
        ("edgeStyle=elbowEdgeStyle;endArrow=ERone", "none"),
    ],
)
def test_where_an_arrow_points(style, direction):
    (relation,) = model(page(TWO + line("4", "2", "3", style))).relations
    assert (relation.direction, relation.type, relation.name) == (direction, "", "")


@pytest.mark.parametrize(
    ("style", "ends", "kind"),
    [
        ("endArrow=block;endFill=0", ("Order", "Customer"), "Specialization"),
        ("endArrow=none;startArrow=blockThin;startFill=0", ("Customer", "Order"),
         "Specialization"),
        ("endArrow=block;endFill=0;dashed=1", ("Order", "Customer"), "Realization"),
        ("endArrow=block;endFill=1", ("Order", "Customer"), ""),
    ],
)  # fmt: skip
def test_a_hollow_triangle_is_the_specialization_of_uml(style, ends, kind):
    (read,) = model(page(TWO + line("4", "2", "3", style))).relations
    assert (read.source.name, read.target.name, read.type) == (*ends, kind)
    labels = [(0.9, "0..*")]
    (counted,) = model(page(TWO + line("4", "2", "3", style, labels=labels))).relations
    (named,) = model(page(TWO + line("4", "2", "3", style, value="owns"))).relations
    assert (counted.type, named.type, named.name) == ("", "", "owns")


@pytest.mark.parametrize(
    ("text", "cardinality", "words"),
    [
        ("1", "1..1", "exactly one"), ("*", "0..*", "zero or more"),
        ("n", "0..*", "zero or more"), ("0..1", "0..1", "at most one"),
        ("(1,n)", "1..*", "one or more"), ("[2..5]", "2..5", "between 2 and 5"),
        ("3", "3..3", "exactly 3"), ("2...*", "2..*", "2 or more"),
        ("5..2", "", ""), ("many", "", ""), ("1 each", "", ""), ("", "", ""),
    ],
)  # fmt: skip
def test_a_cardinality_is_read(text, cardinality, words):
    assert parse_cardinality(text) == cardinality
    if cardinality:
        assert cardinality_words(cardinality) == words


def test_spellings_of_a_domain_on_two_pages_are_one_domain():
    def lane(name, text):
        frame = box("9", name, (0, 0, 400, 300), "swimlane;startSize=30")
        return page(frame + box("2", text, (20, 50, 120, 50), parent="9"))

    read = model(lane("Harbour", "Berth"), lane("HARBOUR ", "berth"))
    assert [(e.name, e.role, len(e.occurrences)) for e in read.elements] == [
        ("Harbour", "domain", 1),
        ("Berth", "entity", 1),
    ]
    assert [len(view.element_ids) for view in read.views] == [2, 2]


def test_pages_are_views_and_a_thing_on_two_pages_is_one_element():
    again = TWO + line("4", "2", "3", "", "placed by")
    read = model(page(again), page(again + box("9", "Stock", (0, 400, 90, 40))))
    assert [e.name for e in read.elements] == ["Order", "Customer", "Stock"]
    assert [len(e.occurrences) for e in read.elements] == [1, 1, 0]
    assert [len(r.occurrences) for r in read.relations] == [1]
    assert [len(v.element_ids) for v in read.views] == [2, 3]
    assert {v.relation_ids for v in read.views} == {(read.relations[0].id,)}


def test_two_boxes_of_one_name_on_a_page_are_two_elements():
    shapes = box("2", "End") + box("3", "End", (300, 0, 120, 60))
    read = model(page(shapes), page(shapes))
    assert [(e.name, len(e.occurrences)) for e in read.elements] == [
        ("End", 1), ("End", 1),
    ]  # fmt: skip


def test_objects_carry_attributes_documentation_and_placeholders():
    shape = (
        '<UserObject label="%system%: &lt;b&gt;B&lt;/b&gt;illing" placeholders="1" '
        'system="ERP" tooltip="Sends invoices." owner="Finance" id="2">'
        '<mxCell vertex="1" parent="1" style="rounded=1"/></UserObject>'
    )
    (element,) = model(page(shape)).elements
    assert (element.name, element.documentation) == ("ERP: Billing", "Sends invoices.")
    assert element.properties == {"owner": "Finance", "system": "ERP"}


def test_attributes_of_the_drawing_say_nothing_of_the_thing():
    shape = (
        '<object type="factSheet" factSheetType="Application" factSheetId="a-1" '
        'label="Billing" layoutType="auto" autoSize="1" collapsed="0" '
        'lx-settings="{}" stroke-width="2" fillColor="#fff" shape="round" '
        'editable="no" owner="Finance" id="2">'
        '<mxCell vertex="1" parent="1" style="rounded=1"/></object>'
    )
    (element,) = model(page(shape)).elements
    assert element.properties == {
        "editable": "no", "owner": "Finance", "shape": "round",
    }  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        quote(page(TWO)),
        page(TWO).replace("<", "&lt;").replace(">", "&gt;"),
    ],
)
def test_pages_whose_xml_is_text(body):
    data = f'<mxfile><diagram name="P">{body}</diagram></mxfile>'.encode()
    assert len(read_model(Path("a.drawio"), data)[0].elements) == 2


def test_a_value_that_is_an_object():
    cell = (
        '<mxCell id="2" vertex="1" parent="1"><Object label="Order" owner="Sales" '
        'as="value"/></mxCell>'
    )
    (element,) = model(page(cell)).elements
    assert (element.name, element.properties) == ("Order", {"owner": "Sales"})


def test_edges_without_two_ends_and_shapes_without_a_name_are_reported():
    shapes = TWO + box("5", "") + line("6", "2", "") + line("7", "5", "2")
    read = model(page(shapes))
    assert [(s.kind, s.reason) for s in read.skips] == [
        ("relation", "its end is not connected"),
        (
            "relation",
            "its start is connected to a shape that was omitted (it has no name)",
        ),
        ("element", "it has no name"),
    ]  # fmt: skip
    with pytest.raises(LoadError, match="no shape with a name"):
        model(page(box("2", "")))


def test_a_related_plain_shape_beside_fact_sheets_is_an_element():
    shapes = SHAPES + box("50", "Bank") + box("51", "Legend") + edge(
        "90", "13", "50", "ERone", "ERmany", "paid to"
    )  # fmt: skip
    read = model(page(shapes))
    assert by_name(read)["Bank"].type == "Shape"
    assert "Legend" not in by_name(read)
    assert ("Legend", "it is not a fact sheet, and no edge is connected to it") in [
        (s.name, s.reason) for s in read.skips
    ]


def test_direct_relations_are_apart_from_inherited_ones(reading):
    shapes = SHAPES + edge("90", "21", "11", "ERone", "ERmany", "sign") + edge(
        "91", "13", "22", "ERzeroToMany", "ERmandOne", "let to"
    )  # fmt: skip
    documents = reading.parse(Path("m.drawio"), drawing(page(shapes)))
    (typed,) = [s for s in documents[0].sidecars if s.kind == SIDECAR_KIND]
    read = EnterpriseModel.model_validate_json(json.dumps(typed.content))
    assert read == read_model(Path("m.drawio"), drawing(page(shapes)))[0]
    index = ModelIndex(read)
    lease, _ = index.elements_named("ground  LEASE")
    assert [r.name for r in index.direct_relations(lease.id)] == ["let to"]
    inherited = index.inherited_relations(lease.id)
    assert [(i.relation.name, i.from_element.name) for i in inherited] == [
        ("sign", "CONTRACTS")
    ]
    assert [e.name for e in index.ancestors(lease.id)] == [
        "Property & Leases", "CONTRACTS",
    ]  # fmt: skip
    assert "Ground Lease let to Tenant." in documents[0].text


def test_fact_sheets_on_several_pages_keep_every_place():
    read = model(page(SHAPES), page(SHAPES + fact("41", "Spare", "1", (0, 0, 9, 9))))
    seen = [e for e in read.elements if e.name == "Tenant"]
    assert [(len(seen), len(seen[0].occurrences))] == [(1, 1)]
    assert seen[0].occurrences[0].page == 2
