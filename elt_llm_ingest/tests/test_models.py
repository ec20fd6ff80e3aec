"""draw.io models and inventories: nothing is lost silently."""

import base64
import json
import zlib
from pathlib import Path

import pytest

from elt_llm_core.document import BlockKind
from elt_llm_core.enterprise.model import EnterpriseModel, ModelElement
from elt_llm_core.errors import LoadError
from elt_llm_ingest.readers.enterprise.documents import model_tables
from ingest_models import (
    ARROWS,
    ROWS,
    SHAPES,
    drawing,
    edge,
    inventory,
    page,
)


def content(reading, data: bytes) -> dict:
    documents = reading.parse(Path("model.drawio"), data)
    return documents[0].sidecars[0].content


@pytest.mark.parametrize("compressed", [False, True])
def test_all_three_encodings_of_domains(reading, compressed):
    found = content(reading, drawing(page(SHAPES), compressed=compressed))
    placed = [(e["domain"], e["subtype"], e["entity_name"]) for e in found["entities"]]
    assert placed == [
        ("CHANNELS", "", "E-mail"),
        ("CONTRACTS", "Inner Box", "Deep"),
        ("CONTRACTS", "Property & Leases", "Ground Lease"),
        ("PEOPLE", "", "Ground Lease"),
        ("PEOPLE", "", "Tenant"),
    ]
    assert [d["name"] for d in found["domains"]] == ["CHANNELS", "CONTRACTS", "PEOPLE"]
    assert [(s["name"], s["kind"]) for s in found["skipped"]] == [
        ("Tutor", "element"), ("Stray", "element"),
    ]  # fmt: skip
    lease = found["entities"][2]
    assert lease["domain_fact_sheet_id"] == "f-11"
    assert lease["subtype_fact_sheet_id"] == "f-12"


@pytest.mark.parametrize("arrow", sorted(ARROWS))
def test_every_arrow_becomes_a_cardinality(reading, arrow):
    shapes = SHAPES + edge("90", "21", "11", arrow, "ERzeroToMany", "owns")
    documents = reading.parse(Path("m.drawio"), drawing(page(shapes)))
    (relation,) = documents[0].sidecars[0].content["relationships"]
    assert relation == {
        "source_entity": "PEOPLE", "source_domain": "PEOPLE",
        "target_entity": "CONTRACTS", "target_domain": "CONTRACTS",
        "cardinality": f"{ARROWS[arrow]}-0..*",
        "source_cardinality": ARROWS[arrow], "target_cardinality": "0..*",
        "relationship_type": "", "label": "owns", "direction": "none",
    }  # fmt: skip
    assert documents[1].part == "relationships"
    assert documents[1].text.startswith(
        "PEOPLE owns CONTRACTS. Each PEOPLE has zero or more CONTRACTS (0..*)."
    )


def test_edges_in_are_relationships_and_skips(reading):
    shapes = SHAPES + "".join(
        edge(f"9{i}", source, target, "ERone", "")
        for i, (source, target) in enumerate(
            [("10", "20"), ("13", "22"), ("40", "11"), ("", "11"), ("99", "11")]
        )
    )
    found = content(reading, drawing(page(shapes)))
    pairs = [(r["source_entity"], r["target_entity"]) for r in found["relationships"]]
    assert pairs == [("CONTRACTS", "PEOPLE"), ("Ground Lease", "Tenant")]
    assert found["relationships"][0]["cardinality"] == "1..1-?"
    assert sum(s["kind"] == "relation" for s in found["skipped"]) == 3


def test_an_entity_is_one_block_with_its_place(reading):
    shapes = SHAPES + edge("90", "21", "11", "ERone", "ERmany")
    entities, _ = reading.parse(Path("m.drawio"), drawing(page(shapes)))
    block = next(b for b in entities.blocks if b.attributes["name"] == "Tenant")
    assert block.kind is BlockKind.FACT_SHEET
    assert entities.text[block.start : block.end] == (
        "Tenant\nDomain: PEOPLE\nType: DataObject\nFact sheet: f-22\n"
        "PEOPLE is related to CONTRACTS."
    )
    (box,) = block.boxes
    width = entities.pages[0].width
    assert box.left * width == pytest.approx(700 + 30 - 20, abs=0.1)
    assert (box.right - box.left) * width == pytest.approx(100, abs=0.1)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'<!DOCTYPE a [<!ENTITY b "c">]><mxfile>&b;</mxfile>', "document type"),
        (b"<mxfile><diagram>////</diagram></mxfile>", "compressed page is damaged"),
        (b"<mxfile></mxfile>", "no page"),
        (b"<mxfile><diagram>", "damaged"),
        (drawing(page("")), "no shape with a name"),
    ],
)
def test_bad_drawings(reading, data, reason):
    with pytest.raises(LoadError, match=reason):
        reading.parse(Path("m.drawio"), data)


def test_a_compressed_page_has_a_limit(reading):
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(bytes(60_000_000)) + packer.flush()
    data = b"<mxfile><diagram>" + base64.b64encode(packed) + b"</diagram></mxfile>"
    with pytest.raises(LoadError, match="more than 50 MB"):
        reading.parse(Path("m.drawio"), data)


def test_an_inventory_is_told_from_its_columns(reading):
    (document,) = reading.parse(Path("estate.xlsx"), inventory(ROWS))
    texts = [document.text[b.start : b.end] for b in document.blocks]
    assert texts == [
        "Ground Lease\nType: DataObject\nLevel: 3\nStatus: DRAFT\nRight to a ground.",
        "Payroll to Bank\nType: Interface\nLevel: 1\nStatus: APPROVED",
    ]
    sidecar = next(s for s in document.sidecars if s.kind == "inventory")
    assert sidecar.content["metadata"]["total_fact_sheets"] == 2
    assert sidecar.content["fact_sheets"]["e-1"] == {
        "id": "e-1", "type": "Interface", "name": "Payroll to Bank", "description": "",
        "level": "1", "status": "APPROVED",
    }  # fmt: skip
    assert len(document.warnings) == 2


def test_the_shipped_pack_reads_as_its_gold_says(reading):
    from importlib.util import find_spec

    spec = find_spec("elt_llm_consumer")
    packs = (
        Path(next(iter(spec.submodule_search_locations))) / "packs" if spec else None
    )
    golds = sorted(packs.glob("*/gold.json")) if packs else []
    if not golds:
        pytest.skip("no pack is installed")
    gold = json.loads(golds[0].read_text())["model"]
    path = golds[0].parent / "model.drawio"
    found = content(reading, path.read_bytes())
    placed = {(e["entity_name"], e["domain"], e["subtype"]) for e in found["entities"]}
    assert placed == {(e["name"], e["domain"], e["subtype"]) for e in gold["entities"]}
    assert len(found["relationships"]) == len(gold["relationships"])
    assert sorted(d["name"] for d in found["domains"]) == sorted(gold["domains"])
    assert len(found["skipped"]) == len(gold["skipped"])
    keys = ("source_cardinality", "target_cardinality")
    stated = [tuple(r[key] for key in keys) for r in found["relationships"]]
    assert stated == [tuple(r[key] for key in keys) for r in gold["relationships"]]
    assert {r["relationship_type"] for r in found["relationships"]} == {""}


def test_an_element_without_a_letter_in_its_name_is_a_skip_of_the_tables():
    elements = tuple(
        ModelElement(id=key, name=name, type="DataObject")
        for key, name in (("1", "Crane"), ("2", "..."))
    )
    model = EnterpriseModel(
        name="m", source_file="m.xml", format="archimate_exchange", elements=elements
    )
    tables = model_tables(model)
    assert [row["entity_name"] for row in tables["entities"]] == ["Crane"]
    assert [(row["id"], row["name"]) for row in tables["skipped"]] == [("2", "...")]
    assert tables["metadata"]["format"] == "archimate_exchange"
