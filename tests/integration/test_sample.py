"""The shipped sample pack: made by its script, and telling the truth about itself."""

import json
import re
import subprocess
import sys
from pathlib import Path

import openpyxl
import pypdfium2
import pytest
import yaml
from defusedxml import ElementTree

ROOT = Path(__file__).resolve().parents[2]
PACK = ROOT / "elt_llm_consumer/src/elt_llm_consumer/packs/kite-regatta"
SHAPES = {
    "quoted_straight",
    "quoted_curly",
    "bold",
    "plain",
    "shall_mean",
    "defined_as",
    "dash",
    "reference",
    "acronym",
    "table",
    "table_dash",
}


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.fixture(scope="module")
def pages() -> list[str]:
    document = pypdfium2.PdfDocument(PACK / "handbook.pdf")
    try:
        found = []
        for page in document:
            text = page.get_textpage()
            found.append(plain(text.get_text_range()))
            text.close()
            page.close()
        return found
    finally:
        document.close()


@pytest.fixture(scope="module")
def gold() -> dict:
    return json.loads((PACK / "gold.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cells() -> list:
    tree = ElementTree.parse(PACK / "model.drawio", forbid_dtd=True)
    return list(tree.getroot().iter())


def test_the_committed_pack_is_what_the_script_writes():
    script = ROOT / "scripts/sample/make_sample.py"
    done = subprocess.run(
        [sys.executable, str(script), "--check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={"PYTHONHASHSEED": "7", "PATH": ""},
    )
    assert done.returncode == 0, done.stderr


def test_handbook_has_sixty_pages_with_their_numbers(pages):
    assert len(pages) >= 60
    assert all(str(number) in text for number, text in enumerate(pages[1:], start=2))
    assert (PACK / "handbook.pdf").stat().st_size < 600_000


def test_every_definition_stands_on_its_page(pages, gold):
    assert {row["shape"] for row in gold["terms"]} == SHAPES
    lost = [
        (row["term"], row["page"])
        for row in gold["terms"]
        if plain(row["definition"]) not in pages[row["page"] - 1]
    ]
    assert lost == []
    names = [row["term"] for row in gold["terms"]]
    assert len(names) == len(set(names)) > 70


def test_every_quote_stands_on_its_page(pages, gold):
    asked = [q for q in gold["questions"] if q["document"] == "handbook.pdf"]
    assert [q for q in asked if q["quote"] not in pages[q["page"] - 1]] == []
    kinds = [q["kind"] for q in gold["questions"]]
    assert set(kinds) == {"prose", "table_row", "model", "unanswerable"}
    assert kinds.count("unanswerable") >= 8
    assert len(kinds) >= 24


def test_every_trap_sentence_is_in_the_handbook(pages, gold):
    whole = " ".join(pages)
    assert [trap for trap in gold["not_terms"] if trap not in whole] == []


def test_demo_questions_are_four_of_the_gold_ones(gold):
    pack = yaml.safe_load((PACK / "pack.yaml").read_text(encoding="utf-8"))
    kinds = {q["question"]: q["kind"] for q in gold["questions"]}
    asked = [kinds[question] for question in pack["questions"]]
    assert asked == ["prose", "table_row", "model", "unanswerable"]
    assert all((PACK / item["path"]).is_file() for item in pack["documents"])


def test_model_draws_domains_in_all_three_ways(cells):
    sheets = [node for node in cells if node.get("type") == "factSheet"]
    bare = [
        node
        for node in cells
        if node.tag == "mxCell"
        and node.get("style") == "group"
        and node.get("parent") == "1"
    ]
    inner = [(node, node.find("mxCell")) for node in sheets]
    hidden = [node for node, cell in inner if "group" in cell.get("style")]
    flat = [node for node, cell in inner if cell.get("parent") == "1"]
    assert len(bare) == 7
    assert {node.get("label") for node in hidden} == {"Rigger", "Old Whistle"}
    assert len(flat) > 10


def test_model_counts_agree_with_the_gold(cells, gold):
    sheets = [node for node in cells if node.get("type") == "factSheet"]
    edges = [node for node in cells if node.get("edge") == "1"]
    model = gold["model"]
    lost = [item for item in model["skipped"] if not item["kind"].startswith("edge")]
    subtypes = {(e["domain"], e["subtype"]) for e in model["entities"] if e["subtype"]}
    known = [*model["domains"], *model["entities"], *subtypes, *lost]
    assert len(sheets) == len(known)
    assert len(edges) == len(model["relationships"]) + 1
    geometry = [node for node in cells if node.tag == "mxGeometry"]
    assert any(node.get("x") is None and node.get("width") for node in geometry)


def test_inventory_has_the_export_columns_and_the_models_ids(cells):
    book = openpyxl.load_workbook(PACK / "inventory.xlsx", read_only=True)
    readme, export = book.sheetnames
    rows = list(book[export].iter_rows(values_only=True))
    book.close()
    assert readme == "ReadMe"
    assert rows[0] == (
        "id",
        "type",
        "name",
        "displayName",
        "description",
        "level",
        "status",
        "lxState",
    )
    ids = {row[0] for row in rows[1:]}
    sheets = [node for node in cells if node.get("type") == "factSheet"]
    assert {node.get("factSheetId") for node in sheets} <= ids
    assert len(ids) == len(rows) - 1 >= 120
    assert any(row[4] is None for row in rows[1:])
