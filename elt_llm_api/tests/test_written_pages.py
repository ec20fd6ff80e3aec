"""Pages that are written to files: nothing is cut off, on a desktop and on a phone."""

import json
from pathlib import Path

import pytest

import elt_llm_consumer
from elt_llm_core.results import QueryResult, QueryTrace, Status
from elt_llm_core.store import Store
from elt_llm_query.evidence import EvidenceDocument, EvidenceFile, write_evidence
from page_visit import PHONE

pytestmark = [pytest.mark.browser, pytest.mark.network]
SMALL_DESKTOP = {"width": 1366, "height": 768}
SITE = Path(elt_llm_consumer.__file__).parent / "product_pages" / "catalog_site.html"
RELATION = {
    "relationship_type": "is settled by",
    "target_entity": "Payment Of The Quarter",
    "cardinality": "1..1-0..*",
    "provenance": "direct",
    "conflict": "",
}
ROW = {
    "entity_name": "Bill",
    "domain": "BILLING",
    "subtype": "",
    "source": "MODEL_ONLY",
    "review_status": "NEEDS_CLARIFICATION",
    "mapping_rationale": "the handbook has the name, perhaps of another thing; " * 6,
    "leanix_description": "",
    "handbook_term": "",
    "edited": {},
    "evidence": {},
    "relationships": [RELATION],
}


@pytest.mark.parametrize("size", [SMALL_DESKTOP, PHONE])
def test_the_catalogue_shows_its_reasons_and_relations_whole(browser, tmp_path, size):
    data = json.dumps({"title": "Catalogue", "rows": [ROW]})
    page = browser.new_page(viewport=size)
    (tmp_path / "site.html").write_text(SITE.read_text().replace("__CATALOGUE__", data))
    page.goto((tmp_path / "site.html").as_uri())
    for part in ("main p.badge", "main table"):
        box = page.locator(part).bounding_box()
        assert page.locator(part).evaluate("e => e.scrollWidth <= e.clientWidth")
        assert box["x"] + box["width"] <= size["width"]
    page.close()


def test_proof_fits_on_a_phone(browser, tmp_path):
    result = QueryResult(
        question="Who pays?",
        status=Status.ANSWERED,
        answer="The tenant.",
        trace=QueryTrace(query_id="q", config_hash="c"),
    )
    document = EvidenceDocument(
        document_id="d", collection="rules", name="handbook_of_everything.pdf",
        uri="file:handbook.pdf", sha256="0123456789abcdef" * 4,
        text_sha256="0" * 64, parser="test 1",
    )  # fmt: skip
    evidence = EvidenceFile(
        format="1", result=result, settings={}, models={"embedder": "a/" * 60},
        documents=(document,),
    ).add_digest()  # fmt: skip
    store = Store(tmp_path / "data")
    write_evidence(tmp_path / "proof.html", evidence, store, pictures=False)
    store.close()
    page = browser.new_page(viewport=PHONE)
    page.goto((tmp_path / "proof.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.close()
