"""Questions to a drawing and an inventory that list the same things."""

from pathlib import Path

import pytest
from openpyxl import Workbook

from elt_llm_core.config.loader import load_config
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import Status, Support
from elt_llm_core.store import Store
from elt_llm_query import query_collections


def box(cell: str, name: str, parent: str, x: int) -> str:
    return (
        f'<mxCell id="{cell}" value="{name}" style="rounded=0" vertex="1" '
        f'parent="{parent}"><mxGeometry x="{x}" y="40" width="80" height="40" '
        'as="geometry"/></mxCell>'
    )


DRAWING = (
    '<mxfile><diagram name="Harvest"><mxGraphModel><root>'
    '<mxCell id="0"/><mxCell id="1" parent="0"/>'
    '<mxCell id="g" value="ORCHARD" style="swimlane" vertex="1" parent="1">'
    '<mxGeometry x="0" y="0" width="600" height="200" as="geometry"/></mxCell>'
    f"{box('a', 'Apple Tree', 'g', 20)}{box('b', 'Picking Order', 'g', 180)}"
    f"{box('c', 'Crate', 'g', 340)}"
    '<mxCell id="e" value="lists" style="endArrow=classic" edge="1" parent="1" '
    'source="b" target="a"/>'
    "</root></mxGraphModel></diagram></mxfile>"
)
SHEETS = {
    "Applications": [
        ("ID", "Application", "Owner"),
        ("A1", "Pick Planner", "Una Vale"),
        ("A2", "Crate Scan", "Ivo Lind"),
    ],
    "Data objects": [
        ("ID", "Data object", "Owner", "Depends on"),
        ("D1", "Apple Tree", "Una Vale", None),
        ("D2", "Picking Order", "Ivo Lind", "Apple Tree"),
        ("D3", "Invoice", "Ivo Lind", "Picking Order"),
    ],
}


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Asks the drawing and the workbook, in one collection."""
    folder = tmp_path_factory.mktemp("joined")
    drawing, workbook = folder / "orchard.drawio", folder / "orchard.xlsx"
    drawing.write_text(DRAWING, encoding="utf-8")
    book = Workbook()
    book.remove(book.worksheets[0])
    for title, rows in SHEETS.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append([*row])
    book.save(workbook)
    config = load_config(environ={})
    models, store = build_models(config), Store(folder / "data")
    paths: list[str] = [str(path) for path in (Path(drawing), Path(workbook))]
    JOBS.load("ingest", {"paths": paths, "collection": "orchard"}).build(models)(
        JobContext(config, store)
    )
    yield lambda q: query_collections(
        ["orchard"], q, store=store, config=config, models=models
    )
    store.close()


def test_shapes_that_an_inventory_lists_are_counted_with_the_others(ask):
    result = ask("How many entities are in the ORCHARD domain?")
    assert result.status is Status.ANSWERED
    assert result.answer.startswith("3 in ORCHARD: Apple Tree, Picking Order, Crate.")
    assert {c.document for c in result.citations} == {"orchard.drawio"}


def test_a_relation_of_an_inventory_is_proved_by_its_row(ask):
    result = ask("What depends on Picking Order?")
    assert result.status is Status.ANSWERED
    assert "Invoice" in result.answer
    (citation,) = result.citations
    assert citation.document == "orchard.xlsx"
    assert {"Invoice", "Picking Order"} <= {*citation.quote.split("\t")}
    assert citation.support is Support.VERIFIED


def test_a_list_of_a_type_is_refused_beside_shapes_without_a_type(ask):
    result = ask("Which data objects are in the ORCHARD domain?")
    assert result.status is not Status.ANSWERED
    assert "Without a type in ORCHARD: Crate." in result.answer


def test_a_shape_that_an_inventory_lists_has_the_type_of_its_fact_sheet(ask):
    result = ask("How many data objects are there in the model?")
    assert "3 in the model: Apple Tree, Picking Order, Invoice." in result.answer
