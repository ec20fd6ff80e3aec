"""Turns over a real data root: kept with what they cite, numbered over the whole."""

import asyncio
import html.parser
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from elt_llm_core.cli import elt_llm
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.conversation import MARK, Conversation, Message, Speaker
from elt_llm_core.errors import (
    CollectionNotFoundError,
    ConversationNotFoundError,
    ForeignConversationError,
    UsageError,
)
from elt_llm_core.results import Citation, Span, Status, Support
from elt_llm_query import Library
from elt_llm_query.conversation.export import (
    export_bibtex,
    export_conversation,
    export_html,
    export_markdown,
    format_of,
)
from elt_llm_query.conversation.source_numbers import (
    answer_message,
    number_sources,
    numbered_sources,
    plain_text,
    show_text,
)
from query_world import CONTENT, World, fill

PERIOD = "What is the loan period of a book?"
FEE = "What is the fee for an overdue book?"


@pytest.fixture
def library(world: World, tmp_path: Path) -> Library:
    """A library of its own, with the models of the session."""
    opened = Library(tmp_path / "data", config=RagConfig(), models=world.models)
    fill(opened.store, world.models, CONTENT)
    return opened


def cite(chunk: str, quote: str, document: str = "d.txt", **attributes) -> Citation:
    return Citation(
        label=chunk,
        document=document,
        document_id=document,
        collection="c",
        page=3,
        section="S",
        quote=quote,
        support=Support.VERIFIED,
        score=1.0,
        node_id=chunk,
        span=Span(start=0, end=9),
        attributes=attributes,
    )


def answer(text: str, *citations: Citation) -> Message:
    return Message(
        role=Speaker.ASSISTANT,
        text=text,
        status=Status.ANSWERED,
        citations=citations,
        chunks=tuple(c.node_id for c in citations),
    )


def conversation(*messages: Message, title: str = "") -> Conversation:
    return Conversation(
        conversation_id="c1",
        owner="ann",
        title=title,
        created="2026-01-01T00:00:00+00:00",
        last_used="2026-01-02T00:00:00+00:00",
        messages=messages,
    )


def question(text: str) -> Message:
    return Message(role=Speaker.USER, text=text)


A, B, C = "a" * 32, "b" * 32, "c" * 32


def test_a_source_keeps_its_number_over_the_turns() -> None:
    messages = [
        answer(f"One [chunk:{A}]. Two [chunk:{B}].", cite(A, "one"), cite(B, "two")),
        answer(f"One [chunk:{A}]. Three [chunk:{C}].", cite(A, "1"), cite(C, "three")),
    ]
    numbers = number_sources(messages)
    assert numbers == {A: 1, B: 2, C: 3}
    assert show_text(messages[1].text, numbers) == "One [1]. Three [3]."
    sources = numbered_sources(conversation(*messages))
    assert [(s.number, s.chunk, s.quotes) for s in sources] == [
        (1, A, ("one", "1")),
        (2, B, ("two",)),
        (3, C, ("three",)),
    ]


def test_a_mark_of_no_cited_chunk_is_not_shown() -> None:
    assert show_text(f"A [chunk:{B}].", {A: 1}) == "A ."
    assert plain_text(f"A [chunk:{B}].") == "A."


def test_the_turns_of_a_library_are_kept_and_numbered(library: Library) -> None:
    first = library.chat(PERIOD)
    assert first.result.status is Status.ANSWERED
    assert "21 days" in first.text
    assert "[1]" in first.text
    second = library.chat(FEE, first.conversation_id)
    again = library.chat(PERIOD, first.conversation_id)
    assert "[2]" in second.text
    assert again.text == first.text
    assert [turn.message_id for turn in (first, second, again)] == [1, 3, 5]
    assert [s.number for s in second.sources] == [2]
    assert "20 cents" in second.sources[0].quotes[0]
    held = library.store.conversations.read(first.conversation_id, "local")
    assert [m.text for m in held.messages[::2]] == [PERIOD, FEE, PERIOD]
    for message in held.messages[1::2]:
        assert not re.search(r"\[[SF]\d+\]", message.text)
        assert MARK.search(message.text)
        for statement in message.statements:
            cut = message.text[statement.start : statement.end]
            assert cut == statement.text
            assert all(c.label == c.node_id for c in statement.citations)


def test_the_kept_answer_is_the_answer(library: Library) -> None:
    result = library.ask(PERIOD)
    message = answer_message(result)
    labels = {source.node_id: source.label for source in result.sources}
    text = MARK.sub(lambda m: f"[{labels[m[1]]}]", message.text)
    assert text == result.answer
    assert message.documents == (result.citations[0].document_id,)


def test_a_turn_that_fails_leaves_nothing(library: Library) -> None:
    first = library.chat(PERIOD)
    with pytest.raises(CollectionNotFoundError):
        library.chat(FEE, first.conversation_id, "nowhere")
    with pytest.raises(UsageError):
        library.chat(FEE, first.conversation_id, where={"colour": "red"})
    with pytest.raises(UsageError):
        library.chat("???", "new")
    kept = library.store.conversations
    assert len(kept.read(first.conversation_id, "local").messages) == 2
    with pytest.raises(ConversationNotFoundError):
        kept.read("new", "local")


def test_the_conversation_of_another_is_refused(library: Library) -> None:
    library.chat(PERIOD, "c1", owner="ann")
    with pytest.raises(ForeignConversationError):
        library.chat(FEE, "c1", owner="bob")
    assert len(library.store.conversations.read("c1", "ann").messages) == 2


def test_a_refusal_is_a_turn_too(library: Library) -> None:
    turn = library.chat("Who repairs the lift?", "c1")
    assert turn.result.status is Status.INSUFFICIENT
    assert turn.sources == ()
    message = library.store.conversations.read("c1", "local").messages[1]
    assert message.status is Status.INSUFFICIENT
    assert message.nearest == tuple(
        c.model_copy(update={"label": c.node_id}) for c in turn.result.nearest
    )


def test_turns_in_an_event_loop(library: Library) -> None:
    turn = asyncio.run(library.achat(PERIOD, "c1"))
    assert "21 days" in turn.text


EVIL = '<script>alert(1)</script> [x](javascript:a) ![i](h) `c` **b** \\input{x} "q"'


def evil() -> Conversation:
    return conversation(
        question(EVIL),
        answer(f"{EVIL} [chunk:{A}]\n# head\n1. one", cite(A, EVIL, document=EVIL)),
        title=EVIL,
    )


class Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))


def test_nothing_from_outside_is_markup_of_the_page() -> None:
    page = export_html(evil())
    parser = Tags()
    parser.feed(page)
    assert {tag for tag, _ in parser.tags}.isdisjoint({"script", "img", "b", "iframe"})
    links = [attrs["href"] for tag, attrs in parser.tags if tag == "a"]
    assert links == ["#source-1"]
    assert "default-src 'none'" in page


def test_nothing_from_outside_is_markup_of_markdown() -> None:
    text = export_markdown(evil())
    bare = re.sub(r"\\[^\w\s]", "", text)
    assert not re.search(r"[`<\[]|!\[|\*\*b", bare)
    assert text.count("\n# ") == 0
    assert "\n\\# head" in text
    assert "\n1\\. one" in text
    assert "\\[1\\]" in text


@given(st.text(max_size=60), st.text(max_size=30))
def test_every_bibtex_field_is_balanced(title: str, author: str) -> None:
    entry = export_bibtex(
        conversation(answer("x", cite(A, "q", "d", title=title, authors=author)))
    )
    assert entry.startswith("@misc{d-1,\n")
    plain = re.sub(r"\\[{}\\$&#_%]", "", entry)
    depth = 0
    for character in plain:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0


def test_bibtex_has_one_entry_a_document() -> None:
    known = {
        "journal": "J. Kites & Sails",
        "authors": "Ann Roe; Bo Li",
        "date": "2024-05-01",
        "doi": "10.1/x_y",
    }
    held = conversation(
        answer(
            "x",
            cite(A, "q", "Kites.xml", **known),
            cite(B, "q", "Kites.xml", **known),
            cite(C, "q", "other.html", stated_title="Other kites"),
        )
    )
    assert export_bibtex(held) == (
        "@article{kites-xml-1,\n"
        "  title = {Kites.xml},\n"
        "  author = {Ann Roe and Bo Li},\n"
        "  year = {2024},\n"
        "  journal = {J. Kites \\& Sails},\n"
        "  doi = {10.1/x\\_y},\n"
        "  note = {cited as [1], [2], page 3},\n"
        "}\n"
        "\n"
        "@misc{other-html-3,\n"
        "  title = {Other kites},\n"
        "  note = {cited as [3], page 3},\n"
        "}\n"
    )


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(UsageError, match=r"\.md, \.html, \.bib"):
        format_of(Path("a.docx"))
    with pytest.raises(UsageError, match="markdown"):
        export_conversation(evil(), "markdwn")


def run(*arguments: str) -> str:
    done = CliRunner().invoke(elt_llm, ["conversations", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_commands_list_show_export_rename_and_delete(
    library: Library, tmp_path: Path
) -> None:
    library.chat(PERIOD, "c1")
    library.chat(FEE, "c1")
    root = ("--data-dir", str(library.store.data_dir))
    assert re.search(r"c1 .* 4 .*loan period", run("list", *root))
    shown = run("show", "c1", *root)
    assert f"> {PERIOD}" in shown
    assert "[2] " in shown
    for ending in ("md", "html", "bib"):
        file = tmp_path / f"c1.{ending}"
        run("export", "c1", str(file), *root)
        text = file.read_text(encoding="utf-8")
        assert "21 days" in text or ending == "bib"
        assert text == export_conversation(
            library.store.conversations.read("c1", "local"), format_of(file)
        )
    run("rename", "c1", "Loans", *root)
    assert "Loans" in run("list", *root)
    run("delete", "c1", *root)
    assert "No conversations yet" in run("list", *root)


def test_a_turn_lists_only_the_quotes_of_its_own_answer(library):
    first = library.chat(FEE)
    again = library.chat(PERIOD, first.conversation_id)
    both = library.chat(FEE, first.conversation_id)
    chunks = {source.chunk for turn in (first, again, both) for source in turn.sources}
    for turn in (first, again, both):
        quotes = {c.quote for c in turn.result.citations}
        assert {q for source in turn.sources for q in source.quotes} == quotes
        assert all(len(source.citations) == 1 for source in turn.sources)
    assert [s.number for s in both.sources] == [s.number for s in first.sources]
    assert len(chunks) <= 2
