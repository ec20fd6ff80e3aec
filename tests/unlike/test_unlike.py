"""Every command over documents that have nothing in common.

A command ends with an exit code that is documented, its files fit their schemas, every
quote stands in the source in reading order, and no row of a product is absurd.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from unlike_documents import DATA, INVENTORY, ROW, Document, stands_in

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.product import schema
from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.store import Store

GOOD, PARTIAL, NOTHING = 0, 2, 65
LONGEST_DEFINITION = 80  # words; a longer one has swallowed what stands behind it
LONGEST_TERM = 10
SCHEMAS = {
    "glossary_json": "glossary",
    "undefined_terms": "undefined",
    "catalog_json": "catalog",
    "relationships_json": "relationships",
    "coverage_json": "coverage",
}
LITTLE = (
    patterns.NOT_FIRST
    | patterns.NOT_LAST
    | patterns.NOT_INSIDE
    | patterns.SMALL
    | patterns.ARTICLES
    | {"please", "kindly", "bitte"}
)
MARK = re.compile(
    r"\(?(?:\d+(?:[a-z]\d*)*[.)]|\d+(?:\.\d+)+\.?|(?:[a-z]|[ivx]{1,4})[.)])(?:\s|$)"
)
EACH = pytest.mark.parametrize(
    "document",
    [
        pytest.param(
            one,
            id=one.name,
            marks=[
                pytest.mark.data,
                pytest.mark.skipif(
                    not (DATA / one.path).is_file(),
                    reason=f"ELT_LLM_EVAL_DATA has no {one.path}",
                ),
            ]
            if one.is_data
            else [],
        )
        for one in ROW
    ],
)


class Desk:
    """A data root with one collection a document, and the commands on it."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.capture = capture

    def run(self, *arguments: str) -> tuple[int, Any]:
        """Exit code and JSON of a command. No command may end unforeseen."""
        self.capture.readouterr()
        told = ("--data-dir", str(self.data), "--json", "--quiet")
        code = run(elt_llm, [*arguments, *told])
        out, err = self.capture.readouterr()
        assert "Traceback" not in err
        assert "unexpected" not in err
        return code, json.loads(out) if out.strip() else None

    def taken(self, document: Document) -> int:
        """Take a document in, once a session; the exit code."""
        file = document.file(self.folder)
        code, _ = self.run("ingest", str(file), "--collection", document.name)
        return code


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("unlike")


@pytest.fixture(scope="module")
def codes() -> dict[str, int]:
    """How the ingest of each document ended."""
    return {}


@pytest.fixture
def desk(
    folder: Path,
    codes: dict[str, int],
    document: Document,
    capsys: pytest.CaptureFixture[str],
) -> Desk:
    made = Desk(folder, capsys)
    if document.name not in codes:
        codes[document.name] = made.taken(document)
    return made


def with_model(desk: Desk) -> str:
    """The collection of an inventory, taken in when first needed."""
    file = desk.folder / "inventory.csv"
    if not file.exists():
        file.write_text(INVENTORY, encoding="utf-8")
        assert desk.run("ingest", str(file), "--collection", "inventory")[0] == GOOD
    return "inventory"


def expected(document: Document, codes: dict[str, int]) -> tuple[int, ...]:
    """The exit codes of a command on the collection of a document."""
    return (GOOD, PARTIAL) if codes[document.name] == GOOD else (NOTHING,)


@EACH
def test_a_document_is_taken_in_or_refused_with_a_reason(desk, document, codes):
    if document.name == "headings":  # nothing but names of sections: no text
        assert codes[document.name] in (GOOD, NOTHING)
    else:
        assert codes[document.name] == GOOD


@EACH
@pytest.mark.parametrize("product", ["glossary", "catalog", "coverage"])
def test_a_product_is_whole_and_sane(desk, document, codes, product):
    model = ("--model", with_model(desk)) if product != "glossary" else ()
    code, report = desk.run(product, "--collection", document.name, *model)
    assert code in expected(document, codes)
    if code == NOTHING:
        assert report["error"]["code"] == "STO002"
        return
    contents = {}
    for name, path in report["files"].items():
        if name in SCHEMAS:
            contents[name] = json.loads(Path(path).read_text(encoding="utf-8"))
            jsonschema.validate(contents[name], schema(SCHEMAS[name]))
    assert report["counts"]["failed"] == 0
    assert (code == PARTIAL) == bool(report["counts"]["failed"])
    pages = document.pages(desk.folder)
    lost = [q for q in quotes(contents) if not on_page(q, pages)]
    assert lost == []
    assert [row for row in terms(contents) if is_absurd(*row)] == []


@EACH
def test_a_question_ends_well_and_quotes_in_reading_order(desk, document, codes):
    code, result = desk.run("query", document.question, "--collection", document.name)
    assert code in expected(document, codes)
    if code == NOTHING:
        return
    assert result["status"] in {"answered", "partial", "insufficient", "no_sources"}
    pages = document.pages(desk.folder)
    cited = [(one["quote"], one["page"]) for one in result["citations"]]
    assert [one for one in cited if not on_page(one, pages)] == []
    code, found = desk.run("search", document.question, "--collection", document.name)
    assert code == GOOD
    assert found["sources"]


@EACH
def test_its_tables_are_listed(desk, document, codes):
    code, listed = desk.run("tables", "list", document.name)
    assert code in expected(document, codes)
    if document.name == "table":
        assert "North 2" not in json.dumps(listed["tables"][0]["columns"])


@EACH
def test_it_can_be_looked_at(desk, document):
    code, shown = desk.run("inspect", str(document.file(desk.folder)))
    assert code == GOOD
    assert shown["documents"]


@pytest.mark.parametrize("document", ROW[:1], ids=["root"])
def test_the_doctor_finds_nothing_wrong(desk, document):
    code, _ = desk.run("doctor")
    assert code == GOOD


@pytest.mark.parametrize("document", ROW[:1], ids=["empty"])
def test_a_collection_without_documents_has_empty_products(desk, document):
    from elt_llm_core.config.loader import load_config
    from elt_llm_core.models.embedder import as_counting
    from elt_llm_core.models.factory import build_models

    store = Store(desk.data)
    with store.writer() as writer:
        embedder = as_counting(build_models(load_config(environ={})).embedder)
        writer.ensure_collection("empty", embedder, "none")
    store.close()
    for product in ("glossary", "catalog", "coverage"):
        model = ("--model", with_model(desk)) if product != "glossary" else ()
        code, report = desk.run(product, "--collection", "empty", *model)
        assert code == GOOD
        for name, path in report["files"].items():
            if name in SCHEMAS:
                content = json.loads(Path(path).read_text(encoding="utf-8"))
                jsonschema.validate(content, schema(SCHEMAS[name]))
    code, result = desk.run("query", document.question, "--collection", "empty")
    assert (code, result["status"]) == (GOOD, "no_sources")
    for command in ("search", "tables"):
        asked = (
            ("list", "empty")
            if command == "tables"
            else ("boat", "--collection", "empty")
        )
        assert desk.run(command, *asked)[0] == GOOD


def quotes(contents: dict[str, Any]) -> Iterator[tuple[str, int | None]]:
    """Every quote of a product with its page."""
    for row in contents.get("glossary_json", []):
        yield row["definition"], row["page"]
    yield from _evidence(contents.get("catalog_json", {}))
    yield from _evidence(contents.get("coverage_json", {}))


def _evidence(content: Any) -> Iterator[tuple[str, int | None]]:
    if isinstance(content, dict):
        if {"quote", "page"} <= content.keys():
            yield content["quote"], content["page"]
        for value in content.values():
            yield from _evidence(value)
    elif isinstance(content, list):
        for value in content:
            yield from _evidence(value)


def on_page(quote: tuple[str, int | None], pages: list[str]) -> bool:
    """Whether a quote stands on its page, or goes on from it to the next."""
    text, page = quote
    known = page is not None and len(pages) > 1
    near = pages[page - 1 : page + 1] if known else pages
    return stands_in(text, "\n".join(near))


def terms(contents: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every term with its definition."""
    for row in contents.get("glossary_json", []):
        yield row["term"], row["definition"]
    for domain in contents.get("catalog_json", {}).values():
        for row in domain["handbook_only"]:
            yield row["handbook_term"], row["formal_definition"]


def is_absurd(term: str, definition: str) -> bool:
    """Whether nobody would call this a term with its definition."""
    words = [word.strip(".,;:").lower() for word in term.split()]
    whole = len(words) > LONGEST_TERM or term.rstrip().endswith((".", "?", "!", ":"))
    return (
        all(word in LITTLE for word in words)
        or words[0] in {"please", "kindly", "bitte"}
        or MARK.match(term.lower()) is not None
        or whole
        or len(definition.split()) > LONGEST_DEFINITION
    )


@pytest.mark.parametrize(
    ("term", "definition", "absurd"),
    [
        ("Please", "the panel of doctors", True),
        ("which", "a ship", True),
        ("9f12a) Results", "a time", True),
        ("The tenant pays the rent.", "within a day", True),
        ("Mooring", "word " * 81, True),
        ("Mooring", "where a boat is made fast", False),
        ("A sample", "some of it", False),
        ("12-lead ECG", "a recording", False),
    ],
)
def test_an_absurd_row_is_seen(term, definition, absurd):
    assert is_absurd(term, definition) is absurd


def test_a_quote_across_columns_is_seen():
    page = "the rent is due on the first day\nof a quarter and no later than that"
    assert stands_in("due on the first day of a quarter", page)
    assert stands_in("first\nand no later", page)
    assert not stands_in("the rent of a quarter is due on", page)
