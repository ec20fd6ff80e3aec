"""The main job as a stranger runs it, in a process that cannot leave this machine."""

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
import yaml

PACKS = Path(__file__).parents[2] / "elt_llm_consumer/src/elt_llm_consumer/packs"
FIELD_GOLD = Path(__file__).parents[2] / "benchmarks/catalog_fields/gold.tsv"
GUARDED = """
import sys
from elt_llm_core.testing.sockets import no_network
from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
with no_network():
    sys.exit(run(elt_llm))
"""


def elt_llm(
    *arguments: str, seed: str = "0", cwd: Path
) -> subprocess.CompletedProcess[str]:
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("ELT_LLM_", "COV_"))
    }
    return subprocess.run(
        [sys.executable, "-c", GUARDED, *arguments],
        capture_output=True,
        text=True,
        timeout=220,
        check=False,
        cwd=cwd,
        env={**environment, "PYTHONHASHSEED": seed, "PYTHONWARNINGS": "default"},
    )


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("main job")


@pytest.fixture(scope="module")
def demo(workplace: Path) -> dict[str, Any]:
    done = elt_llm("demo", "--data-dir", "data", "--json", cwd=workplace)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.fixture(scope="module")
def pages() -> Iterator[list[str]]:
    (file,) = PACKS.glob("*/handbook.pdf")
    pdf = pypdfium2.PdfDocument(file)
    yield [plain(page.get_textpage().get_text_range()) for page in pdf]
    pdf.close()


def plain(text: str) -> str:
    return " ".join(text.split())


def test_the_report_has_the_promised_shape(demo: dict[str, Any]) -> None:
    assert set(demo) == {"seconds", "collections", "answers", "files", "degradations"}
    # The sample's model holds shapes that belong nowhere, and the reader says so.
    kinds = {d["kind"] for d in demo["degradations"]}
    assert kinds == {"document_warning"}
    assert demo["seconds"] > 0
    assert len(demo["answers"]) == 4
    for answer in demo["answers"]:
        assert {"question", "status", "answer", "citations"} <= set(answer)
        for citation in answer["citations"]:
            promised = {"label", "document", "page", "section", "quote", "support"}
            assert promised | {"boxes"} <= set(citation)


def test_three_questions_are_answered_and_one_is_refused(demo: dict[str, Any]) -> None:
    *answered, refused = demo["answers"]
    for answer in answered:
        assert answer["status"] == "answered"
        assert answer["citations"]
    assert refused["status"] == "insufficient"
    assert refused["citations"] == []


def test_every_handbook_quote_stands_on_its_page(
    demo: dict[str, Any], pages: list[str]
) -> None:
    quotes = [
        c
        for answer in demo["answers"]
        for c in answer["citations"]
        if c["document"] == "handbook.pdf"
    ]
    assert quotes
    for citation in quotes:
        assert plain(citation["quote"]) in pages[citation["page"] - 1]
        assert citation["boxes"]
        assert all(0 <= box["left"] < box["right"] <= 1 for box in citation["boxes"])


def test_the_answers_are_those_of_the_gold(demo: dict[str, Any]) -> None:
    (file,) = PACKS.glob("*/gold.json")
    gold = {q["question"]: q for q in json.loads(file.read_text("utf-8"))["questions"]}
    for answer in demo["answers"]:
        expected = gold[answer["question"]]
        assert answer["status"] == expected["status"]
        for words in expected["answer_contains"]:
            assert words.lower() in answer["answer"].lower()


def test_the_coverage_is_that_of_the_gold(
    demo: dict[str, Any], workplace: Path, pages: list[str]
) -> None:
    """What is defined is strong, what is named is covered, the rest is not."""
    (folder,) = (file.parent for file in PACKS.glob("*/gold.json"))
    gold = json.loads((folder / "gold.json").read_text("utf-8"))
    aliases = yaml.safe_load((folder / "aliases.yaml").read_text("utf-8"))
    defined = {(m["entity"], m["domain"]) for m in gold["mapping"] if m["entity"]}
    text = " ".join(pages)
    report = json.loads((workplace / demo["files"]["coverage_json"]).read_text("utf-8"))
    agreed = []
    for row in report["entities"]:
        names = [row["entity_name"], *aliases.get(row["entity_name"].lower(), ())]
        any_name = rf"\b(?:{'|'.join(map(re.escape, names))})(?:e?s)?\b"
        if (row["entity_name"], row["domain"]) in defined:
            expected = {"STRONG"}
        elif re.search(any_name, text, re.IGNORECASE):
            expected = {"STRONG", "MODERATE"}
        else:
            expected = {"THIN", "ABSENT"}
        agreed.append(row["verdict"] in expected)
    assert len(agreed) == len(gold["model"]["entities"])
    assert sum(agreed) / len(agreed) >= 0.95


def test_the_catalogue_says_of_each_entity_what_the_gold_does(
    demo: dict[str, Any], workplace: Path
) -> None:
    (pack,) = (file.parent.name for file in PACKS.glob("*/gold.json"))
    with FIELD_GOLD.open(encoding="utf-8", newline="") as file:
        judged = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        right = {
            (row["entity"], row["field"], row["opening"])
            for row in judged
            if row["document"] == pack and row["verdict"] == "right"
        }
    made = (workplace / demo["files"]["catalog_flat_json"]).read_text("utf-8")
    filled = [
        [
            (row["entity_name"], field, " ".join(one["quote"].split()[:8])) in right
            for one in quotes
        ]
        for row in json.loads(made)["entities"]
        if row["source"] != "HANDBOOK_ONLY"
        for field, quotes in row["evidence"].items()
        if field != "mention"
    ]
    assert len(filled) > 100
    assert sum(map(all, filled)) / len(filled) >= 0.9
    assert sum(not any(one) for one in filled) / len(filled) <= 0.03


def test_the_products_are_files_people_can_read(
    demo: dict[str, Any], workplace: Path, pages: list[str]
) -> None:
    files = {name: workplace / path for name, path in demo["files"].items()}
    assert {"glossary_csv", "glossary_json", "catalog_json"} <= set(files)
    assert "coverage_json" in files
    with files["glossary_csv"].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 60
    assert all(row["term"] and row["definition"] for row in rows)
    assert any(row["mapped_entity"] for row in rows)
    for row in rows:
        if row["document"] == "handbook.pdf" and row["page"]:
            first = int(row["page"]) - 1
            place = " ".join(pages[first : first + 2])
            start = plain(row["definition"]).removeprefix("'")[:40]
            assert start in place, row["term"]
    assert json.loads(files["catalog_json"].read_text("utf-8"))
    assert json.loads(files["coverage_json"].read_text("utf-8"))["entities"]


def test_a_second_run_elsewhere_gives_the_same_bytes(
    demo: dict[str, Any], workplace: Path
) -> None:
    done = elt_llm("demo", "--data-dir", "again", "--json", seed="77", cwd=workplace)
    assert done.returncode == 0, done.stderr
    again = json.loads(done.stdout)
    assert again["answers"] == demo["answers"]
    for name, path in demo["files"].items():
        one = (workplace / path).read_bytes()
        assert one == (workplace / again["files"][name]).read_bytes(), name


def test_query_gives_the_same_citations_as_the_demo(
    demo: dict[str, Any], workplace: Path
) -> None:
    question = demo["answers"][0]["question"]
    done = elt_llm("query", question, "--data-dir", "data", "--json", cwd=workplace)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["citations"] == demo["answers"][0]["citations"]


def test_a_person_can_read_what_the_demo_prints(
    demo: dict[str, Any], workplace: Path
) -> None:
    done = elt_llm("demo", "--data-dir", "data", cwd=workplace)
    assert done.returncode == 0, done.stderr
    for answer in demo["answers"]:
        assert answer["question"][:30] in done.stdout
    assert "serve" in done.stdout
    assert "glossary" in done.stdout
