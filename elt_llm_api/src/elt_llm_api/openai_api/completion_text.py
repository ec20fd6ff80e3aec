"""The text of a response: the answer, a list of sources, and annotations."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from elt_llm_api.openai_api.chat_request import Format
from elt_llm_api.page_boxes import MAX_BOXES, format_boxes
from elt_llm_core.cli.terminal import escape_line
from elt_llm_core.results import Citation, QueryResult, Status
from elt_llm_query.conversation.caller_turns import NEAREST, SOURCES
from elt_llm_query.grounding.plain_text import readable_markdown, remove_unseen

ANSWERED = frozenset({Status.ANSWERED, Status.PARTIAL})
Write = Callable[[str], str]


@dataclass(frozen=True)
class ReplyText:
    """The text of a response in pieces, and the positions of its citations.

    Attributes:
        pieces: The answer statement by statement, then the list of sources; joined they
            are the text.
        annotations: One for each citation of a statement, in OpenAI's format.
        refusal: The text of a refusal; None for an answer, a courtesy and a question
            that is asked back.
    """

    pieces: tuple[str, ...]
    annotations: tuple[dict[str, Any], ...]
    refusal: str | None

    @property
    def text(self) -> str:
        """Return the whole text."""
        return "".join(self.pieces)


def reply_text(result: QueryResult, form: Format, base_url: str) -> ReplyText:
    """Write the text of a result.

    Args:
        result: The result; it contains only checked text.
        form: `markdown` escapes active markup.
        base_url: The address of this server, for links to pages.
    """
    write: Write = _write_markdown if form == "markdown" else str
    pieces: list[str] = []
    annotations: list[dict[str, Any]] = []
    place = 0  # position in the answer
    for statement in result.statements:
        pieces.append(_gap(result.answer[place : statement.start], form))
        begin = sum(map(len, pieces))
        pieces.append(write(statement.text))
        span = begin, begin + len(pieces[-1])
        annotations += [_annotation(c, span, base_url) for c in statement.citations]
        place = statement.end
    pieces += [write(result.answer[place:]), *_notes(result, write)]
    return ReplyText(
        tuple(piece for piece in pieces if piece),
        tuple(annotations),
        None if result.status in ANSWERED or result.reply else result.answer,
    )


def _write_markdown(text: str) -> str:
    """Escape a piece; a bracket or colon after a label would make a link of both."""
    written = readable_markdown(text)
    return f"\\{written}" if written.startswith(("(", ":")) else written


def _gap(between: str, form: Format) -> str:
    """Return white space between two statements, keeping line breaks in Markdown."""
    single = form == "markdown" and between.count("\n") == 1
    return between.replace("\n", "  \n") if single else between


def _notes(result: QueryResult, write: Write) -> Iterator[str]:
    """Yield the lists after the answer, line by line."""
    lists: list[tuple[str, list[str]]] = [
        (SOURCES, _source_lines(result.citations)),
        (NEAREST, _source_lines(result.nearest)),
    ]
    for conflict in result.conflicts:
        head = f"The sources disagree: {escape_line(conflict.reason)}"
        lists.append((head, _source_lines(conflict.quotes)))
    limits = [escape_line(note.detail) for note in result.degradations]
    lists.append(("Limits of this answer:", limits))
    for head, lines in lists:
        if lines:
            yield f"\n\n{write(head)}\n"
        for line in lines:
            yield f"\n- {write(line)}"


def _source_lines(cited: Sequence[Citation]) -> list[str]:
    return [_source_line(one) for one in cited]


def _source_line(cited: Citation) -> str:
    place = _place(cited)
    shown = cited.reading or cited.quote
    words = remove_unseen(" ".join(shown.split()))
    note = ", may be written to mislead a model" if cited.suspicious else ""
    return f'[{cited.label}] {place}{note}: "{words}"'


def _place(cited: Citation) -> str:
    page = f"p. {cited.page}" if cited.page is not None else ""
    return escape_line(", ".join(p for p in (cited.document, page, cited.section) if p))


def _annotation(
    cited: Citation, span: tuple[int, int], base_url: str
) -> dict[str, Any]:
    start, end = span
    return {
        "type": "url_citation",
        "url_citation": {
            "start_index": start,
            "end_index": end,
            "title": _place(cited),
            "url": f"{base_url}{_address(cited)}",
        },
    }


def _address(cited: Citation) -> str:
    """Return the page with the quoted lines marked, or the file without pages."""
    document = f"/v1/documents/{quote(cited.document_id, safe='')}"
    if cited.page is None:
        return f"{document}/content"
    boxes = [box for box in cited.boxes if box.page == cited.page][:MAX_BOXES]
    marks = quote(format_boxes(boxes), safe=",;")
    return f"{document}/pages/{cited.page}.jpg?boxes={marks}"
