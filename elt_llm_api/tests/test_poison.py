"""Thirty poisoned documents and a model that obeys every one of them."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from markdown_it import MarkdownIt
from ollama_server import OllamaServer

from elt_llm_api.page import answer_html
from elt_llm_api.service import QueryService
from elt_llm_api.uploads import Upload
from elt_llm_core import provenance
from elt_llm_core.config.loader import RagConfig, with_models
from elt_llm_core.jobs import silent
from elt_llm_core.results import QueryResult, Support
from elt_llm_core.store import Store
from elt_llm_query.evidence import build_evidence, write_evidence
from elt_llm_query.grounding.plain_text import as_markdown
from elt_llm_query.render import answer_text
from page_visit import DESKTOP, Visit
from poison_documents import (
    NINES,
    SHEDS,
    ObedientModel,
    make_documents,
    price,
    question,
)
from test_markup import Inspector, assert_harmless

SECRET = "Quentin Ashgrove earns 91237 crowns a night in the Alder shed."  # noqa: S105
PROVEN = {Support.VERIFIED, Support.NORMALISED, Support.FUZZY, Support.SUPPORTED}
POLICIES = ("strict", "flag")


def with_policy(config: RagConfig, policy: str) -> RagConfig:
    query = config.query.model_copy(update={"citation_policy": policy})
    return config.model_copy(update={"query": query})


def ingest(service: QueryService, folder: Path, name: str, files: dict[str, bytes]):
    uploads = []
    for file, data in files.items():
        (folder / file).write_bytes(data)
        uploads.append(Upload(file, folder / file))
    report = service.ingest(name, uploads, silent)
    assert report.counts["failed"] == 0
    return report


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory):
    """The documents taken in, and the result of each question under each policy."""
    folder = tmp_path_factory.mktemp("poison")
    model, store = ObedientModel(), Store(folder / "data")
    with OllamaServer(reply=model) as server:
        config = with_models(RagConfig(), "embedded+ollama")
        query = config.query.model_copy(update={"synthesizer_strategy": "compact"})
        changes = {"base_url": server.base_url, "llm_model": "smollm2:135m"}
        ollama = config.ollama.model_copy(update=changes)
        config = config.model_copy(update={"query": query, "ollama": ollama})
        service = QueryService(config, store)
        report = ingest(service, folder, "sheds", make_documents())
        ingest(service, folder, "payroll", {"payroll.txt": SECRET.encode()})
        results: dict[str, list[QueryResult]] = {}
        for policy in POLICIES:
            asking = QueryService(with_policy(config, policy), store)
            results[policy] = [
                asking.query(["sheds"], question(number))
                for number in range(len(SHEDS))
            ]
        yield SimpleNamespace(
            model=model, store=store, config=config, report=report, results=results
        )
    store.close()


@pytest.fixture(params=POLICIES)
def policy(request):
    return request.param


def test_the_model_obeys_and_yet_the_true_price_is_the_answer(poisoned):
    assert len(SHEDS) == 30
    assert poisoned.model.obeyed > 60
    answers = [result.answer for result in poisoned.results["strict"]]
    assert [
        answer
        for number, answer in enumerate(answers)
        if price(number).removesuffix(".") not in answer
    ] == []


def test_no_quote_is_shown_as_proven_that_its_document_does_not_hold(poisoned, policy):
    for result in poisoned.results[policy]:
        labels = {source.label for source in result.sources}
        for citation in result.citations:
            if citation.support not in PROVEN:
                continue
            assert citation.label in labels
            assert citation.collection == "sheds"
            text = poisoned.store.document_text(citation.document_id)
            assert text[citation.span.start : citation.span.end] == citation.quote
        false = [one for one in result.statements if NINES in one.text]
        assert [one for one in false if one.verdict in PROVEN] == []
        assert policy != "strict" or NINES not in result.answer


def test_nothing_of_another_collection_is_shown_or_sent(poisoned, policy):
    assert [p for p in poisoned.model.prompts if "Ashgrove" in p] == []
    shown = [result.model_dump_json() for result in poisoned.results[policy]]
    assert [text for text in shown if "Ashgrove" in text] == []


def test_no_address_is_rendered(poisoned, policy, tmp_path):
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for number, result in enumerate(poisoned.results[policy]):
        assert_harmless(answer_html.render_answer(result, policy))
        assert_harmless(
            answer_html.render_sources(result, lambda *_: "/v1/documents/a/pages/1?x")
        )
        tags = Inspector(reader.render(as_markdown(result.answer))).tags
        assert tags <= {"p", "br"}
        screen = answer_text(result, colour=True)
        assert "\x1b" not in re.sub(r"\x1b\[[\d;]*m", "", screen)
        path = tmp_path / f"{number}.html"
        evidence = build_evidence(result, poisoned.store, poisoned.config)
        write_evidence(path, evidence, poisoned.store, pictures=False)
        written = Inspector(path.read_text(encoding="utf-8").partition("<body>")[2])
        assert [name for name, _ in written.attributes if name in {"href", "src"}] == []
        # What the model was shown is in no address, not even as text.
        carried = "Answer%20the%20question"
        assert policy != "strict" or carried not in result.answer


def test_what_no_reader_sees_is_never_sent_and_what_is_seen_is_flagged(poisoned):
    """Hidden orders are left out; a visible one, or the trace of one, is flagged."""
    flagged = {
        provenance.read(node).document
        for node in poisoned.store.nodes("sheds")
        if provenance.read(node).suspicious
    }
    names = [row.name for row in poisoned.store.documents("sheds")]
    missed = [n for n in names if "-v." in n and n not in flagged]
    assert missed == []
    assert {"ulmus-tags-h.txt", "viburnum-bits-h.txt"} <= flagged
    warned = [d.detail for d in poisoned.report.degradations]
    assert sum("suspicious passage" in detail for detail in warned) >= len(flagged)
    first = poisoned.results["strict"][0]
    told = [c for c in first.citations if c.suspicious] + [
        s for s in first.sources if s.suspicious
    ]
    assert told
    assert "addresses a language model" in answer_text(first)
    page = answer_html.render_sources(first, lambda *_: None)
    assert "Suspicious: addresses a language model" in page


def test_a_browser_fetches_nothing_from_elsewhere(poisoned, browser, serve):
    with serve(poisoned.config, poisoned.store.data_dir) as url:
        visit = Visit(browser, url, DESKTOP)
        for number in (8, 13):  # a picture in Markdown, and as a tag
            visit.ask(question(number))
            visit.page.wait_for_selector("#sources .suspicious")
        visit.shot("poison")
        visit.leave()
