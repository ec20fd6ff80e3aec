"""Drawings of many shapes: with and without domains, of LeanIX and of others."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from elt_llm_core.errors import LoadError
from elt_llm_ingest import cli
from elt_llm_ingest.reading import route_by_prefix
from ingest_models import HEAD, SHAPES, drawing, edge, fact, page

LANDSCAPE = "".join(
    fact(str(100 + n), f"System {n}", "1", (160 * (n % 5), 90 * (n // 5), 120, 60))
    for n in range(19)
)
PLAIN = (
    '<mxCell id="{id}" value="{label}" style="rounded=1" vertex="1" parent="{parent}">'
    '<mxGeometry x="{x}" y="0" width="120" height="60" as="geometry"/></mxCell>'
)
SWIMLANE = (
    '<mxCell id="{id}" value="{label}" style="swimlane;startSize=20" vertex="1" '
    'parent="1"><mxGeometry x="{x}" y="0" width="400" height="300" as="geometry"/>'
    "</mxCell>"
)


def read(reading, *pages: str, compressed: bool = False):
    data = drawing(*pages, compressed=compressed)
    return reading.parse(Path("landscape.drawio"), data)


def content(documents) -> dict:
    return documents[0].sidecars[0].content


def placed(documents) -> list[tuple[str, str, str]]:
    rows = content(documents)["entities"]
    return [(e["domain"], e["subtype"], e["entity_name"]) for e in rows]


@pytest.mark.parametrize("compressed", [False, True])
def test_a_drawing_without_domains_is_read_whole(reading, compressed):
    lines = edge("200", "100", "101", "ERone", "ERmany", "feeds")
    documents = read(reading, page(LANDSCAPE + lines), compressed=compressed)
    assert sorted(placed(documents)) == sorted(
        ("", "", f"System {n}") for n in range(19)
    )
    assert content(documents)["skipped"] == []
    (relation,) = content(documents)["relationships"]
    assert (relation["source_entity"], relation["target_entity"]) == (
        "System 0",
        "System 1",
    )
    blocks = {
        b.attributes["name"]: documents[0].text[b.start : b.end]
        for b in documents[0].blocks
    }
    assert len(blocks) == 19
    assert blocks["System 0"] == (
        "System 0\nType: DataObject\nFact sheet: f-100\nSystem 0 feeds System 1."
    )
    assert "feeds" not in blocks["System 2"]


def test_a_few_boxes_in_a_box_do_not_make_a_drawing_one_of_domains(reading):
    inside = fact("300", "Suite", "1", (2000, 0, 500, 300)) + "".join(
        fact(str(301 + n), f"Part {n}", "1", (2020 + 130 * n, 40, 100, 40))
        for n in range(3)
    )
    documents = read(reading, page(LANDSCAPE + inside))
    assert ("Suite", "", "Part 1") in placed(documents)
    assert ("", "", "System 18") in placed(documents)
    assert len(placed(documents)) == 19 + 3
    assert content(documents)["skipped"] == []


def test_beside_domains_a_stray_box_is_left_out_in_a_sentence(reading):
    documents = read(reading, page(SHAPES))
    assert documents[0].warnings == (
        (
            "element 'Tutor' was left out: it only labels a group, and the group is "
            "named 'PEOPLE'"
        ),
        ("element 'Stray' was left out: it is in no domain and contains no other box"),
    )


def test_each_page_is_judged_by_itself(reading):
    documents = read(reading, page(SHAPES), page(LANDSCAPE))
    names = [name for _, _, name in placed(documents)]
    assert "Stray" not in names
    assert sum(name.startswith("System") for name in names) == 19


def test_a_fact_sheet_outside_the_domains_of_a_page_is_that_of_another_page(reading):
    one = SWIMLANE.format(id="10", label="SALES", x=0) + fact(
        "11", "Order", "10", (20, 40, 100, 40)
    )
    again = fact("31", "Order", "1", (900, 0, 100, 40)).replace("f-31", "f-11")
    other = (
        SWIMLANE.format(id="20", label="STOCK", x=0)
        + fact("21", "Bin", "20", (20, 40, 100, 40))
        + again
        + edge("90", "31", "21", "ERone", "ERmany", "fills")
    )
    for pages in ((one, other), (other, one)):
        documents = read(reading, *map(page, pages))
        assert placed(documents) == [("SALES", "", "Order"), ("STOCK", "", "Bin")]
        assert content(documents)["skipped"] == []
        (relation,) = content(documents)["relationships"]
        assert (relation["source_entity"], relation["source_domain"]) == (
            "Order",
            "SALES",
        )
    # On a page without domains it is that fact sheet, too, and no second one.
    documents = read(reading, page(LANDSCAPE + again), page(one))
    assert placed(documents).count(("SALES", "", "Order")) == 1
    assert ("", "", "Order") not in placed(documents)
    # Two pages disagree on its domain: nothing is guessed.
    third = one.replace("SALES", "LEGAL")
    documents = read(reading, *map(page, (one, third, other)))
    skipped = sorted(s["name"] for s in content(documents)["skipped"])
    assert skipped == ["Order", "Order -> Bin"]


def test_a_swimlane_is_named_by_its_own_title(reading):
    shapes = (
        SWIMLANE.format(id="10", label="SALES", x=0)
        + SWIMLANE.format(id="20", label="&lt;b&gt;STOCK&lt;/b&gt;", x=500)
        + fact("11", "Order", "10", (20, 40, 100, 40))
        + fact("12", "Offer", "10", (20, 90, 100, 40), wrap="UserObject")
        + fact("21", "Bin", "20", (20, 40, 100, 40))
    )
    documents = read(reading, page(shapes))
    assert placed(documents) == [
        ("SALES", "", "Offer"),
        ("SALES", "", "Order"),
        ("STOCK", "", "Bin"),
    ]
    assert content(documents)["skipped"] == []


def test_members_of_a_group_without_a_name_are_read(reading):
    group = (
        '<mxCell id="10" style="group" vertex="1" parent="1"/>'
        '<mxCell id="11" style="rounded=1" vertex="1" parent="10"/>'
    )
    shapes = group + "".join(
        fact(str(20 + n), f"Thing {n}", "11", (10, 50 * n, 100, 40)) for n in range(3)
    )
    assert len(placed(read(reading, page(shapes)))) == 3


def test_an_edge_wrapped_in_an_object_is_a_relationship(reading):
    wrapped = (
        '<object id="90" label="pays"><mxCell edge="1" parent="1" source="100" '
        'target="101" style="endArrow=ERmany"/></object>'
    )
    documents = read(reading, page(LANDSCAPE + wrapped))
    (relation,) = content(documents)["relationships"]
    assert (relation["label"], relation["cardinality"]) == ("pays", "?-0..*")


def test_a_file_without_a_chunk_is_no_success(tmp_path):
    """Of several files it is one that failed; alone, the command says so."""
    bare = fact("10", "", "1", (0, 0, 100, 40)) + fact("11", "", "1", (0, 90, 100, 40))
    (tmp_path / "bare.drawio").write_bytes(drawing(page(bare)))
    (tmp_path / "good.md").write_text("# Rules\n\nA tenant pays the rent.")
    arguments = ["--collection", "mixed", "--data-dir", str(tmp_path / "data")]
    arguments += ["--json", "--quiet"]
    files = [str(tmp_path / name) for name in ("bare.drawio", "good.md")]
    done = CliRunner().invoke(cli.ingest, [*files, *arguments])
    assert done.exit_code == 2, done.output
    report = json.loads(done.stdout)
    assert (report["counts"]["added"], report["counts"]["failed"]) == (1, 1)
    (told,) = report["degradations"]
    assert told["kind"] == "document_failed"
    assert "it contains no text to chunk" in told["detail"]
    assert "it has no name" in told["detail"]
    alone = CliRunner().invoke(cli.ingest, [files[0], *arguments])
    assert isinstance(alone.exception, LoadError)
    assert alone.exception.exit_code == 65


def test_an_inventory_in_csv_is_one_and_keeps_its_columns(reading):
    data = (
        ",".join([*HEAD, "owner"])
        + "\n1,DataObject,Lease,Contracts / Lease,A right.,3,ACTIVE,DRAFT,Ada\n"
        + "2,DataObject,Contracts,Contracts,,1,ACTIVE,DRAFT,Bob\n"
    ).encode()
    (document,) = reading.parse(Path("inventory.csv"), data)
    assert "Ada" in document.text
    sidecar = next(s for s in document.sidecars if s.kind == "inventory")
    sheets = sidecar.content["fact_sheets"]
    assert sheets["1"]["display_name"] == "Contracts / Lease"
    assert "display_name" not in sheets["2"]
    (target,) = route_by_prefix("fa", [document])
    assert target.collection == "fa_documents"
    assert target.document.sidecars == document.sidecars
    (plain,) = reading.parse(Path("prices.csv"), b"id,name,price\n1,Rope,3\n2,Sail,9\n")
    assert [sidecar.kind for sidecar in plain.sidecars] == ["unread_sheet"]
