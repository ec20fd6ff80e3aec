"""Convert answers to messages, and number their sources in a conversation.

A message is stored with the ids of the chunks that it cites. The first chunk that a
conversation cites is shown as 1, the next new one as 2, and each keeps its number: if
the first answer cites A and B, and the second A and C, C is 3. Numbers are assigned
when a conversation is shown and never stored, so that no model learns to write them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic import Field

from elt_llm_core.conversation import MARK, Conversation, Message, Speaker
from elt_llm_core.records import Record
from elt_llm_core.results import Citation, QueryResult, Scalar, Statement
from elt_llm_query.grounding.statements import LABEL

_LOOKS_LIKE_MARK = re.compile(r"\[(chunk:)", re.IGNORECASE)


class NumberedSource(Record):
    """A cited chunk with its number and all of its quotes in the conversation."""

    number: int = Field(ge=1)
    chunk: str
    document_id: str
    collection: str
    document: str
    page: int | None
    section: str
    quotes: tuple[str, ...]
    citations: tuple[Citation, ...]
    attributes: dict[str, Scalar] = Field(default_factory=dict)


def answer_message(result: QueryResult, asked: str = "", unclear: str = "") -> Message:
    """Create the message of an answer, with chunk ids in place of labels.

    Args:
        result: The answer.
        asked: The question as written, if another was searched.
        unclear: The words of the question that the answer asks about.

    Returns:
        The message, without a time.
    """
    chunks = {source.label: source.node_id for source in result.sources}
    documents = {source.node_id: source.document_id for source in result.sources}

    def write_marks(text: str) -> str:
        plain = _LOOKS_LIKE_MARK.sub(r"(\1", text)
        return LABEL.sub(lambda m: _mark(chunks, m), plain)

    statements, text = _rewrite(
        result.answer, result.statements, write_marks, _by_chunk
    )
    cited = tuple(
        dict.fromkeys(
            [*MARK.findall(text), *(citation.node_id for citation in result.citations)]
        )
    )
    return Message(
        role=Speaker.ASSISTANT,
        text=text,
        searched=result.question if result.question != asked else "",
        unclear=unclear,
        status=result.status,
        statements=statements,
        citations=_by_chunk(result.citations),
        removed=tuple(
            r.model_copy(update={"text": write_marks(r.text)}) for r in result.removed
        ),
        nearest=_by_chunk(result.nearest),
        conflicts=tuple(
            c.model_copy(
                update={
                    "statement": write_marks(c.statement),
                    "quotes": _by_chunk(c.quotes),
                }
            )
            for c in result.conflicts
        ),
        degradations=result.degradations,
        chunks=cited,
        documents=tuple(dict.fromkeys(documents[c] for c in cited if c in documents)),
    )


def number_sources(messages: Iterable[Message]) -> dict[str, int]:
    """Number the cited chunks of a conversation, from 1, by first mention."""
    numbers: dict[str, int] = {}
    for message in messages:
        for chunk in message.chunks:
            numbers.setdefault(chunk, len(numbers) + 1)
    return numbers


def show_text(text: str, numbers: Mapping[str, int]) -> str:
    """Return a message's text with numbers such as `[2]` instead of its marks.

    A mark of a chunk that the conversation does not cite is left out.
    """

    def replace_mark(match: re.Match[str]) -> str:
        number = numbers.get(match[1])
        return "" if number is None else f"[{number}]"

    return MARK.sub(replace_mark, text)


def show_message(message: Message, numbers: Mapping[str, int]) -> Message:
    """Return a message for display: numbers in its text, statements and labels.

    Args:
        message: The stored message.
        numbers: The numbers of the conversation; see `number_sources`.
    """

    def show(text: str) -> str:
        return show_text(text, numbers)

    def relabel(cited: Iterable[Citation]) -> tuple[Citation, ...]:
        return tuple(
            c.model_copy(update={"label": str(numbers.get(c.node_id, ""))})
            for c in cited
        )

    statements, text = _rewrite(message.text, message.statements, show, relabel)
    return message.model_copy(
        update={
            "text": text,
            "statements": statements,
            "citations": relabel(message.citations),
            "removed": tuple(
                r.model_copy(update={"text": show(r.text)}) for r in message.removed
            ),
            "nearest": relabel(message.nearest),
            "conflicts": tuple(
                c.model_copy(
                    update={
                        "statement": show(c.statement),
                        "quotes": relabel(c.quotes),
                    }
                )
                for c in message.conflicts
            ),
        }
    )


def numbered_sources(conversation: Conversation) -> tuple[NumberedSource, ...]:
    """List the cited sources of a conversation, by number."""
    return list_sources(conversation.messages)


def list_sources(messages: Sequence[Message]) -> tuple[NumberedSource, ...]:
    """List the cited sources of messages, by number."""
    numbers = number_sources(messages)
    return tuple(
        _number_source(numbers[chunk], chunk, citations)
        for chunk, citations in _citations_by_chunk(numbers, messages).items()
        if citations
    )


def list_last_sources(messages: Sequence[Message]) -> tuple[NumberedSource, ...]:
    """List the sources of the last message, numbered as in the conversation.

    A chunk may be cited by earlier messages too: their quotes are left out.
    """
    last = messages[-1:]
    numbers = number_sources(messages)
    own = _citations_by_chunk(numbers, last)
    return tuple(
        _number_source(numbers[chunk], chunk, own[chunk])
        for chunk in sorted(number_sources(last), key=numbers.__getitem__)
        if own[chunk]
    )


def _citations_by_chunk(
    chunks: Iterable[str], messages: Iterable[Message]
) -> dict[str, list[Citation]]:
    cited: dict[str, list[Citation]] = {chunk: [] for chunk in chunks}
    for message in messages:
        for citation in message.citations:
            cited[citation.node_id].append(citation)
    return cited


def plain_text(text: str) -> str:
    """Return a message's text without marks, for a prompt."""
    return re.sub(rf"[ \t]*{MARK.pattern}", "", text)


def _number_source(
    number: int, chunk: str, citations: Sequence[Citation]
) -> NumberedSource:
    first = citations[0]
    return NumberedSource(
        number=number,
        chunk=chunk,
        document_id=first.document_id,
        collection=first.collection,
        document=first.document,
        page=first.page,
        section=first.section,
        quotes=tuple(dict.fromkeys(c.quote for c in citations)),
        citations=tuple(citations),
        attributes=first.attributes,
    )


def _mark(chunks: Mapping[str, str], match: re.Match[str]) -> str:
    chunk = chunks.get(match[1])
    return match[0] if chunk is None else f"[chunk:{chunk}]"


def _by_chunk(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    """Return the citations labelled by chunk, because labels belong to one prompt."""
    return tuple(c.model_copy(update={"label": c.node_id}) for c in citations)


def _rewrite(
    text: str,
    statements: Iterable[Statement],
    write: Callable[[str], str],
    relabel: Callable[[Iterable[Citation]], tuple[Citation, ...]],
) -> tuple[tuple[Statement, ...], str]:
    """Statements put through `write`, and the text that they are the parts of."""
    rewritten: list[Statement] = []
    answer, position = "", 0
    for statement in statements:
        answer += text[position : statement.start]
        written = write(statement.text)
        update = {
            "text": written,
            "start": len(answer),
            "end": len(answer) + len(written),
            "citations": relabel(statement.citations),
        }
        rewritten.append(statement.model_copy(update=update))
        answer += written
        position = statement.end
    return tuple(rewritten), answer + write(text[position:])
