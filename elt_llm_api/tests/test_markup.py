"""Nothing that came from outside becomes a tag, an attribute or a foreign address."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from starlette.datastructures import QueryParams

from elt_llm_api.job_registry import Job
from elt_llm_api.page import answer_html, list_html, rendering
from elt_llm_api.page.addresses import PageAddress
from elt_llm_api.page.rendering import ENVIRONMENT, local_url
from elt_llm_api.problems import problem_body
from elt_llm_api.products import ProductTable, StyledText
from elt_llm_core.errors import UsageError
from elt_llm_core.job_records import JobState
from elt_llm_core.jobs import JobReport
from elt_llm_core.profile_notes import ProfileNote
from elt_llm_core.results import (
    LinkedFigure,
    Status,
)
from elt_llm_core.store import CollectionCard, DocumentRow
from elt_llm_query.grounding.plain_text import as_markdown, readable_markdown
from samples import result_of

TEMPLATES = sorted(Path(rendering.__file__).parent.glob("templates/*.html"))
PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<svg/onload=alert(1)>",
    "<svg><script>alert&#40;1&#41;</script>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "javascript:alert(1)",
    "[click](javascript:alert(1))",
    "[click](https://evil.example/?q=secret)",
    "![x](https://evil.example/leak.png)",
    "![x][1]\n\n[1]: https://evil.example/leak.png",
    "[S1]: https://evil.example/\n\n[S1]",
    "<https://evil.example/>",
    "https://evil.example/",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href=//evil.example>x</a>",
    "<img src=`x` onerror=alert(1)>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=alert(1)>",
    "<style>@import 'https://evil.example/x.css';</style>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href=https://evil.example/>",
    "<form action=https://evil.example><input name=q></form>",
    "<object data=https://evil.example/x></object>",
    "<embed src=https://evil.example/x>",
    "<video><source onerror=alert(1)></video>",
    "<input autofocus onfocus=alert(1)>",
    "' onmouseover='alert(1)",
    '" onmouseover="alert(1)" x="',
    "</article><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "<!--<img src='--><img src=x onerror=alert(1)>'>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#x3C;script&#x3E;alert(1)&#x3C;/script&#x3E;",
    "${alert(1)}",
    "{{constructor.constructor('alert(1)')()}}",
    "\x00<scr\x00ipt>alert(1)</scr\x00ipt>",
    "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e",
    "| a |\n|---|\n| <script>alert(1)</script> |",
)
MODULE = '<script type="module" src="{{ script|local_url }}"></script>'
ADDRESS = re.compile(r'\b(?:href|src|action|formaction)=("[^"]*"|\S*)')
HARMLESS = frozenset(
    {"a", "article", "b", "blockquote", "br", "button", "caption", "code", "del"}
    | {"details", "section"}
    | {"div", "em", "figure", "h2", "h3", "h4", "header", "hr", "img", "li", "mark"}
    | {"ol", "p", "pre", "q", "span", "strong", "summary", "table", "tbody", "td", "th"}
    | {"thead", "tr", "ul", "input"}
)


class Inspector(HTMLParser):
    """Collects every tag and attribute as a browser would see them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


def assert_harmless(html: str) -> None:
    seen = Inspector(html)
    assert seen.tags <= HARMLESS
    for name, value in seen.attributes:
        assert not name.startswith("on"), name
        assert name != "srcdoc"
        if name in {"href", "src"}:
            assert value.startswith(("/v1/", "#")), value


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_field_of_an_answer_becomes_markup(payload):
    result = result_of(payload)
    assert_harmless(answer_html.render_answer(result))
    assert_harmless(
        answer_html.render_sources(result, lambda *_: "/v1/documents/a/pages/1.jpg?x")
    )
    refused = result.model_copy(update={"status": Status.INSUFFICIENT})
    assert_harmless(answer_html.render_answer(refused))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_field_of_a_job_or_table_becomes_markup(payload, tmp_path):
    job = Job("1", payload, tmp_path, stage=payload, detail=payload)
    assert_harmless(list_html.render_job_progress(job))
    made = tmp_path / "made.csv"
    made.write_text("x")
    job.report = JobReport(job="x", counts={payload: 1}, files={payload: str(made)})
    job.problem = problem_body(UsageError(payload, payload))
    job.state = JobState.FAILED
    assert_harmless(list_html.render_job_result(job))
    cells = (
        payload,
        StyledText(payload, "dim"),
        [(StyledText(payload), StyledText(payload))],
    )
    product = ProductTable(payload, (payload,) * 3, (cells,) * 11)
    assert_harmless(list_html.render_product([product]))
    card = CollectionCard(
        name=payload,
        embedder=payload,
        embedder_digest="d",
        dimension=1,
        chunker=payload,
    )
    row = DocumentRow(
        document_id="d",
        collection="c",
        uri="u",
        part="",
        name=payload,
        title=payload,
        sha256="0",
        mime="x",
        parser="p",
        config_key="k",
        page_count=1,
        nodes=1,
        warnings=(payload,),
    )
    assert_harmless(list_html.render_collections([card], {payload: [row]}))


def test_known_labels_become_links_and_unknown_ones_stay_text():
    result = result_of("Clubs register.")
    html = answer_html.render_answer(
        result.model_copy(update={"answer": "Clubs register. [S1] Others do not. [S7]"})
    )
    assert '<a href="#src-1" class="cite"' in html
    assert 'aria-label="Source 1, Clubs register. page 1"' in html
    assert "[S7]" in html
    assert "src-7" not in html


VERBATIM = (
    "2. PROBATION",
    "7) x",
    "+ 3 days",
    "    four blanks",
    "a\n\n\nb",
    "# 12 *stars* _under_ `tick`",
    "| a | b |\n|---|---|",
    "Setext\n===",
    "www.evil.example http://evil.example a@evil.example",
    "1. one\n2. two\n3) three\n- four\n* five",
    "[S1](https://evil.example)",
    "[S1]: https://evil.example",
    "[S1][F2](x)",
    "---\n\n***\n\n___",
)


@pytest.mark.parametrize("text", [*VERBATIM, *PAYLOADS])
def test_an_answer_is_shown_letter_for_letter(text):
    html = answer_html.render_answer(
        result_of(text).model_copy(update={"answer": text})
    )
    found = re.search(r'<div class="answer-text">(.*?)</div>', html, re.DOTALL)
    shown = re.sub(r"</?a\b[^>]*>", "", found[1])
    assert unescape(shown) == text


@pytest.mark.parametrize("text", [*VERBATIM, *PAYLOADS])
@pytest.mark.parametrize("rules", ["commonmark", "gfm"])
@pytest.mark.parametrize("write", [as_markdown, readable_markdown])
def test_markdown_of_an_answer_shows_its_text_and_nothing_else(text, rules, write):
    reader = MarkdownIt("commonmark", {"html": True})
    if rules == "gfm":
        reader.enable(["table", "strikethrough"])
    html = reader.render(write(text))
    assert Inspector(html).tags <= {"p", "br"}
    shown = unescape(re.sub(r"<[^>]*>", "", html)).replace("\xa0", " ")
    # CommonMark itself replaces NUL and drops blank lines.
    assert shown.split() == text.replace("\x00", "\ufffd").split()


@settings(max_examples=600, deadline=None)
@given(st.text(alphabet=r"ab1 *_`~[]()<>!#+-=|:.\&;@/$^{}" + '"\n', max_size=40))
def test_no_text_becomes_markup(text):
    reader = MarkdownIt("commonmark", {"html": True})
    reader.enable(["table", "strikethrough"])
    for write in (as_markdown, readable_markdown):
        html = reader.render(write(text))
        assert Inspector(html).tags <= {"p", "br"}
        shown = unescape(re.sub(r"<[^>]*>", "", html)).replace("\xa0", " ")
        assert shown.split() == text.split()


@pytest.mark.parametrize("policy", ["strict", "flag", "lenient"])
@pytest.mark.parametrize("status", [Status.PARTIAL, Status.VALIDATION_FAILED])
def test_the_banner_says_what_the_policy_did(policy, status):
    result = result_of("Dogs go free.")
    kept = result.model_copy(update={"status": status, "removed": ()})
    if policy == "strict":
        kept = result.model_copy(update={"status": status})
    html = answer_html.render_answer(kept, policy)
    taken_out = policy == "strict" and status is Status.PARTIAL
    assert ("was taken out" in html) == taken_out
    shown = policy != "strict" or status is Status.PARTIAL
    assert ('class="answer-text"' in html) == shown
    if policy != "strict":
        assert "This profile shows" in html


@pytest.mark.parametrize(
    "url", ["https://x", "//x", "javascript:x", "/\\x", "data:text/html,x", "/a b", ""]
)
def test_a_template_refuses_a_foreign_address(url):
    with pytest.raises(ValueError, match="stay on this server"):
        local_url(url)
    citation = result_of("x").citations[0]
    result = result_of("x").model_copy(update={"citations": (citation,)})
    if url:
        with pytest.raises(ValueError, match="stay on this server"):
            answer_html.render_sources(result, lambda *_: url)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_gives_up_its_escaping(template):
    """Variables are in quoted attributes or text; addresses are checked."""
    source = template.read_text(encoding="utf-8")
    # The frame of the workspace loads one file of ours; nothing else may be a script.
    source = source.replace(MODULE, 'src="{{ script|local_url }}"')
    assert not re.search(r"\|\s*safe\b|autoescape|Markup|<script|<style", source)
    for attribute in ADDRESS.findall(source):
        # An address without a variable is one of ours as it is written.
        fixed = re.fullmatch(r'"(?:#|/(?!/))[\w./#-]*"', attribute)
        assert fixed or re.match(r'"\{\{ [\w.]+\|local_url \}\}"', attribute), attribute
    assert not re.search(r"=\s*\{\{", source)
    assert not re.search(r"\bon\w+=", source)


def test_templates_are_indented_freely():
    source = (
        '<p>\n  {{ a }}\n  {% if b %}\n    <b\n  id="x">y</b>\n  {% endif %}\n</p>\n'
    )
    html = ENVIRONMENT.from_string(source).render(a="1\n 2", b=True)
    assert html == '<p>1\n 2<b id="x">y</b></p>'


def test_a_quote_of_doubtful_order_is_not_plainly_verified():
    result = result_of("words")
    (citation,) = result.citations
    assert "Verified" in answer_html.render_sources(result, lambda *_: None)
    doubtful = citation.model_copy(update={"reading_order": "doubtful"})
    told = answer_html.render_sources(
        result.model_copy(update={"citations": (doubtful,)}), lambda *_: None
    )
    assert "Verified" not in told
    assert "Order doubtful" in told


def test_the_rows_of_one_table_share_a_card():
    result = result_of("words")
    (citation,) = result.citations
    rows = tuple(
        citation.model_copy(update={"label": f"S{n}", "quote": f"row {n}"})
        for n in range(1, 15)
    )
    elsewhere = citation.model_copy(update={"label": "S15", "section": "Appeals"})
    html = answer_html.render_sources(
        result.model_copy(update={"citations": (*rows, elsewhere), "sources": ()}),
        lambda *_: "/v1/documents/a/pages/1.jpg?x",
    )
    assert html.count("<article") == html.count("<img") == 2
    assert [f'id="src-{n}"' in html for n in range(1, 16)] == [True] * 15
    assert [f"row {n}</mark>" in html for n in range(1, 15)] == [True] * 14
    assert 'aria-label="Source 3, words page 1"' in html
    assert "Sources 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, words" in html


def test_what_was_also_looked_at_stands_apart_from_its_place():
    result = result_of("words").model_copy(update={"citations": ()})
    html = answer_html.render_sources(result, lambda *_: None).partition(
        "Also looked at"
    )[2]
    place, _, text = html.partition("</div>")
    assert place.endswith("words · page 1 · words")
    assert text.startswith('\n<div class="words">before words after')
    assert html.count('class="where"') == 1
    assert html.count('class="words"') == 2


def test_an_address_of_the_page_is_taken_with_care():
    sent = "q=" + "x" * 4001 + "&profile=" + "y" * 201 + "&collection=a" * 70
    address = PageAddress.of(QueryParams(sent))
    assert (address.question, address.profile) == ("", "")
    assert len(address.collections) == 64
    whole = PageAddress("Who?  <b>&+%", ("a", "b c"), "best", "key")
    assert PageAddress.of(QueryParams(whole.search[1:])) == whole


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_example_profile_or_address_becomes_markup(payload):
    assert_harmless(list_html.render_examples([payload]))
    assert_harmless(list_html.render_missing([payload]))
    notes = [ProfileNote(payload, payload, payload)] * 2
    assert_harmless(list_html.render_profiles(notes, payload, {payload: payload}))


def test_the_nearest_sections_of_a_refusal_lead_to_their_pages():
    result = result_of("x")
    changes = {"status": Status.INSUFFICIENT, "nearest": result.citations[:1]}
    refused = result.model_copy(update=changes)
    html = answer_html.render_answer(
        refused, page_url=lambda *_: "/v1/documents/a/pages/1.jpg?x"
    )
    assert 'href="/v1/documents/a/pages/1.jpg?x"' in html.partition("Nearest")[2]
    assert "href" not in answer_html.render_answer(refused).partition("Nearest")[2]


def test_conflicting_passages_stand_under_the_answer_with_their_pages():
    html = answer_html.render_answer(
        result_of("x"), page_url=lambda *_: "/v1/documents/a/pages/1.jpg?x"
    )
    shown = html.partition("The sources disagree: x")[2]
    assert shown.count('href="/v1/documents/a/pages/1.jpg?x"') == 2
    assert shown.count("<q>x</q>") == 2
    calm = result_of("x").model_copy(update={"conflicts": ()})
    assert "disagree" not in answer_html.render_answer(calm)


def test_a_card_shows_the_figures_that_its_passage_mentions():
    result = result_of("words")
    (citation,) = result.citations
    figures = (
        LinkedFigure(number="3", node_id="f", page=2, text="Figure 3. <b>Rings</b>"),
        LinkedFigure(number="4", node_id="g", text="Figure 4. A lamp"),
    )
    (source,) = [s for s in result.sources if s.label == citation.label]
    linked = source.model_copy(update={"figures": figures})
    html = answer_html.render_sources(
        result.model_copy(update={"sources": (linked,)}),
        lambda document, page, boxes: f"/v1/documents/{document}/pages/{page}.jpg?x",
    )
    assert 'pages/2.jpg?x" target="_blank" rel="noopener">Figure 3</a>' in html
    assert "Figure 3. &lt;b&gt;Rings" in html
    assert '<span class="badge">Figure 4</span>' in html
