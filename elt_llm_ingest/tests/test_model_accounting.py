"""Nothing is lost in silence: what is drawn is read, or reported, whatever the file."""

from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from elt_llm_core.enterprise.index import ModelIndex
from elt_llm_core.errors import LoadError
from elt_llm_ingest.readers.enterprise.canvas import Canvas
from elt_llm_ingest.readers.enterprise.drawio import read_model
from elt_llm_ingest.readers.enterprise.drawio_cells import diagrams
from elt_llm_ingest.readers.enterprise.edges import ARROWS
from elt_llm_ingest.readers.enterprise.shapes import read_pages
from ingest_models import drawing, page

IDS = [str(number) for number in range(2, 12)]
STYLES = [
    "", "group", "fillColor=#fff;group;", "swimlane", "text;html=1", "shape=table",
    "shape=table;childLayout=tableLayout", "shape=tableRow", "shape=partialRectangle",
    "swimlane;childLayout=stackLayout", "line", "shape=image",
]  # fmt: skip
NAMES = ["", "Lease", "Tenant", "CONTRACTS", "&lt;b&gt;Lease&lt;/b&gt;", "1", "0..*"]
NUMBERS = st.sampled_from(["", "0", "-40", "20", "100", "250", "600", "nan", "1e400"])


@st.composite
def cells(draw) -> str:
    """A cell of any kind; ids may repeat, parents may be in a ring."""
    cell, parent = draw(st.sampled_from(IDS)), draw(st.sampled_from(["1", "0", *IDS]))
    label, style = draw(st.sampled_from(NAMES)), draw(st.sampled_from(STYLES))
    kind = draw(st.sampled_from(["fact", "fact", "box", "box", "edge", "edge", "bare"]))
    place = (
        f'<mxGeometry x="{draw(NUMBERS)}" y="{draw(NUMBERS)}" width="{draw(NUMBERS)}" '
        f'height="{draw(NUMBERS)}" as="geometry"/>'
    )
    if kind == "edge":
        ends = draw(st.tuples(*[st.sampled_from(["", "99", *IDS])] * 2))
        heads = draw(st.tuples(*[st.sampled_from(["", "none", *sorted(ARROWS)])] * 2))
        return (
            f'<mxCell id="{cell}" value="{label}" edge="1" parent="{parent}" '
            f'source="{ends[0]}" target="{ends[1]}" '
            f'style="startArrow={heads[0]};endArrow={heads[1]}"/>'
        )
    if kind == "bare":
        return f'<object label="{label}" type="factSheet" id="{cell}"/>'
    inner = f'<mxCell vertex="1" parent="{parent}" style="{style}">{place}</mxCell>'
    if kind == "fact":
        sheet = draw(st.sampled_from(["", "f-1", "f-2", "f-3"]))
        return (
            f'<object type="factSheet" factSheetId="{sheet}" label="{label}" '
            f'id="{cell}">{inner}</object>'
        )
    return f'<UserObject label="{label}" id="{cell}">{inner}</UserObject>'


@settings(max_examples=400, deadline=None)
@given(st.lists(st.lists(cells(), max_size=14), min_size=1, max_size=3), st.booleans())
def test_shapes_and_edges_in_are_elements_relations_and_skips(bodies, compressed):
    data = drawing(*(page("".join(body)) for body in bodies), compressed=compressed)
    canvases = [Canvas(diagram) for diagram in diagrams("m.drawio", data)]
    try:
        model, _ = read_model(Path("m.drawio"), data)
    except LoadError:
        drawn = [c for v in canvases for c in (*v.facts(), *v.plain_shapes())]
        assert not any(cell.label for cell in drawn)
        return
    kinds = Counter(skip.kind for skip in model.skips)
    edges = sum(len(canvas.edges()) for canvas in canvases)
    read = sum(1 + len(relation.occurrences) for relation in model.relations)
    assert edges == read + kinds["relation"]
    places = {
        (place.page, place.key)
        for element in model.elements
        for place in (element.location, *element.occurrences)
    }
    pages = read_pages(canvases)
    for canvas, shapes in zip(canvases, pages, strict=True):
        number = canvas.diagram.number
        tied = canvas.tied_ids()
        for cell in (*canvas.facts(), *canvas.plain_shapes()):
            if cell.is_fact_sheet or cell.label or cell.id in tied:
                assert (
                    (number, cell.id) in places
                    or cell.id in shapes.stands_for
                    or cell.id in shapes.skips
                ), (cell, shapes)
    assert kinds["element"] == sum(len(shapes.skips) for shapes in pages)
    _check_references(model)


def _check_references(model) -> None:
    index = ModelIndex(model)
    assert len(index.elements) == len(model.elements)
    assert len(index.relations) == len(model.relations)
    for relation in model.relations:
        assert {relation.source.element_id, relation.target.element_id} <= set(
            index.elements
        )
    for element in model.elements:
        assert element.name
        assert element.parent_id == "" or element.parent_id in index.elements
        assert element not in index.ancestors(element.id)
    for view in model.views:
        assert set(view.element_ids) <= set(index.elements)
        assert set(view.relation_ids) <= set(index.relations)
