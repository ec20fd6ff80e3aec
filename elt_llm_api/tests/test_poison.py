"""Thirty poisoned documents and a model that obeys every one of them."""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from markdown_it import MarkdownIt
from ollama_server import OllamaServer

from elt_llm_api.api_context import build_context
from elt_llm_api.page import answer_html
from elt_llm_api.services.job_runner import JobRunner
from elt_llm_api.services.redacted_answers import answer_question
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
    EVIL,
    NINES,
    SHEDS,
    ObedientModel,
    make_documents,
    price,
    question,
)
from test_markup import Inspector, assert_harmless
from test_mcp import over_http

SECRET = "Quentin Ashgrove earns 91237 crowns a night in the Alder shed."  # noqa: S105
PROVEN = {Support.VERIFIED, Support.NORMALISED, Support.FUZZY, Support.SUPPORTED}
POLICIES = ("strict", "flag")
LONG = pytest.mark.long
ADDRESSES = {"href", "src", "action", "poster", "data", "srcset"}


def with_policy(config: RagConfig, policy: str) -> RagConfig:
    query = config.query.model_copy(update={"citation_policy": policy})
    return config.model_copy(update={"query": query})


def ingest(runner: JobRunner, folder: Path, name: str, files: dict[str, bytes]):
    uploads = []
    for file, data in files.items():
        (folder / file).write_bytes(data)
        uploads.append(Upload(file, folder / file))
    report = runner.ingest(name, uploads, silent)
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
        runner = build_context(config, store).runner
        report = ingest(runner, folder, "sheds", make_documents())
        ingest(runner, folder, "payroll", {"payroll.txt": SECRET.encode()})
        results: dict[str, list[QueryResult]] = {}
        for policy in POLICIES:
            changed = build_context(with_policy(config, policy), store)
            library = changed.profiles.library()
            results[policy] = [
                answer_question(library, question(number), ["sheds"])
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


@pytest.fixture(scope="module")
def doors(poisoned, serve):
    """The address of a server over the documents, which asks the obedient model."""
    with serve(poisoned.config, poisoned.store.data_dir) as url:
        yield url


@pytest.fixture(
    params=[range(0, len(SHEDS), 6), pytest.param(range(len(SHEDS)), marks=LONG)],
    ids=["some", "all"],
)
def numbers(request):
    """The documents that are asked about."""
    return request.param


def require_harmless(poisoned, text: str, citations: list[dict]) -> None:
    """Nothing is fetched by whoever renders a text, and nothing foreign is cited."""
    reader = MarkdownIt("commonmark", {"html": True, "linkify": False})
    seen = Inspector(reader.enable(["table", "strikethrough"]).render(text))
    assert [v for n, v in seen.attributes if n in ADDRESSES and EVIL in v] == []
    assert seen.tags <= {"p", "br", "ul", "li", "em", "strong", "blockquote", "h1"}
    assert "\x1b" not in text
    for one in citations:
        if one["support"] not in PROVEN:
            continue
        assert one["collection"] == "sheds"
        document = poisoned.store.document_text(one["document_id"])
        assert one["quote"] in document


def post(url: str, path: str, body: dict) -> str:
    answer = httpx.post(f"{url}{path}", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    assert "Ashgrove" not in answer.text
    return answer.text


@pytest.mark.network
def test_no_poison_comes_through_the_door_of_questions(poisoned, doors, numbers):
    for number in numbers:
        body = {"question": question(number), "collections": ["sheds"]}
        found = json.loads(post(doors, "/v1/query", {**body, "format": "markdown"}))
        require_harmless(poisoned, found["answer"], found["citations"])
        assert NINES not in found["answer"]
        assert price(number).removesuffix(".") in found["answer"]


@pytest.mark.network
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_no_poison_comes_through_chat_completions(poisoned, doors, stream, numbers):
    for number in numbers:
        messages = [{"role": "user", "content": question(number)}]
        body = {"model": "default/sheds", "messages": messages, "stream": stream}
        text = post(doors, "/v1/chat/completions", body)
        if stream:
            parts = [json.loads(line) for line in re.findall(r"data: (\{.*)", text)]
            choices = [choice for part in parts for choice in part["choices"]]
            shown = "".join(one["delta"].get("content") or "" for one in choices)
            cited = []
        else:
            whole = json.loads(text)
            message = whole["choices"][0]["message"]
            shown, cited = message["content"], whole["elt_llm"]["citations"]
            for note in message["annotations"]:
                assert note["url_citation"]["url"].startswith(doors)
        require_harmless(poisoned, shown, cited)
        assert price(number).removesuffix(".") in shown
        answer = shown.partition("\n\nSources:\n")[0]
        assert NINES not in answer


@pytest.mark.network
def test_no_poison_comes_through_mcp(poisoned, doors, numbers):
    async def ask_all():
        async with over_http(doors) as client:
            for number in numbers:
                given = {"question": question(number), "collections": ["sheds"]}
                yield number, await client.call_tool("ask", given)

    async def look():
        async for number, result in ask_all():
            assert not result.is_error
            whole = result.structured_content
            said = "\n".join(getattr(part, "text", "") for part in result.content)
            assert "Ashgrove" not in said + json.dumps(whole)
            require_harmless(poisoned, whole["answer"], whole["citations"])
            links = [str(p.uri) for p in result.content if p.type == "resource_link"]
            assert [link for link in links if EVIL in link] == []
            assert price(number).removesuffix(".") in whole["answer"]

    with ThreadPoolExecutor(1) as pool:  # a browser's test leaves a loop in this one
        pool.submit(lambda: asyncio.run(look())).result()


@pytest.mark.network
def test_no_poison_comes_through_a_conversation_and_its_exports(
    poisoned, doors, numbers
):
    key = f"poisoned-{len(numbers)}"
    for number in numbers:
        body = {"message": question(number), "conversation_id": key}
        found = json.loads(post(doors, "/v1/chat", {**body, "collections": ["sheds"]}))
        require_harmless(poisoned, as_markdown(found["text"]), [])
    exported = f"{doors}/v1/conversations/{key}/export"
    texts = {
        form: httpx.get(f"{exported}.{form}", timeout=60).text
        for form in ("markdown", "html", "bibtex")
    }
    assert all("Ashgrove" not in text for text in texts.values())
    page = Inspector(texts["html"].partition("<body>")[2])
    assert page.tags.isdisjoint({"script", "img", "iframe", "object", "form"})
    for text in (texts["html"], MarkdownIt("commonmark").render(texts["markdown"])):
        seen = Inspector(text)
        assert [v for n, v in seen.attributes if n in ADDRESSES and "//" in v] == []
    assert "\x1b" not in "".join(texts.values())
    assert "shed costs" in texts["markdown"]


def test_a_browser_fetches_nothing_from_elsewhere(poisoned, browser, serve):
    with serve(poisoned.config, poisoned.store.data_dir) as url:
        visit = Visit(browser, url, DESKTOP)
        for number in (8, 13):  # a picture in Markdown, and as a tag
            visit.ask(question(number))
            visit.page.wait_for_selector("#sources .suspicious")
        visit.shot("poison")
        visit.leave()
