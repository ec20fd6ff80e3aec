"""The exchanges of a conversation of which only the texts are known.

A reply lists its sources below the answer, so that a program which sends it back gives
the next message the evidence that a stored conversation has.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from elt_llm_core.conversation import Message, Speaker
from elt_llm_core.results import Citation, Span, Status, Support
from elt_llm_core.store import DocumentRow, Store
from elt_llm_query.conversation.courtesy import find_courtesy
from elt_llm_query.conversation.exchanges import Exchange, count_mentions
from elt_llm_query.conversation.reference_rules import understand_by_rules
from elt_llm_query.conversation.spoken_of import SpokenOf, read_spoken_of
from elt_llm_query.grounding.statements import LABEL

# Headings of the lists that a reply to a program has below its answer.
SOURCES = "Sources:"
NEAREST = "Nearest passages, which are not an answer:"
_LISTS = re.compile(
    rf"^\W*(?P<head>{re.escape(SOURCES)}|{re.escape(NEAREST)})\s*$", re.MULTILINE
)
_LINE = re.compile(r'\[[SF]\d+\]\s+(?P<place>.+?): "(?P<words>.*)"\s*$', re.MULTILINE)
_PAGE = re.compile(r"^p\. (?P<page>\d+)(?:, |$)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def exchanges_of(
    turns: Sequence[tuple[str, str]],
    store: Store | None = None,
    collections: Sequence[str] = (),
) -> tuple[list[Message], list[Exchange]]:
    """Return the exchanges of a conversation of which only the texts are known.

    Args:
        turns: Questions and answers, oldest first. An answer without a label such as
            [S1] does not count: it is a refusal, or a question that was asked back.
        store: Has the documents that the answers list as their sources; without it
            only the texts are evidence.
        collections: Ids of the collections that the documents belong to.

    Returns:
        The messages, and the questions with their answers.
    """
    messages: list[Message] = []
    exchanges: list[Exchange] = []
    rows = _named_rows(store, collections) if store and turns else {}
    # A long document is read once, and not for each of its quotes in each reply.
    text_of = cache(store.document_text) if store else None
    for question, text in turns:
        # Its self-contained form is not stored, so it is derived again.
        understood = understand_by_rules(question, exchanges)
        answer = _LISTS.split(_ESCAPED.sub(r"\1", text), maxsplit=1)[0]
        is_answered = LABEL.search(answer) and not understood.unclear
        status = Status.ANSWERED if is_answered else Status.INSUFFICIENT
        is_courtesy = find_courtesy(question) is not None
        messages += [
            Message(role=Speaker.USER, text=question),
            Message(role=Speaker.ASSISTANT, text=text, status=status),
        ]
        exchange = Exchange(
            question=understood.question,
            status=status,
            text=text,
            asked_back=is_courtesy or bool(understood.unclear),
            evidence=cache(partial(SpokenOf, (text,))),
        )
        if store and text_of:
            exchange = _with_sources(exchange, store, rows, text_of)
        exchanges.append(exchange)
    return messages, exchanges


def _named_rows(store: Store, collections: Sequence[str]) -> dict[str, DocumentRow]:
    """Return the documents of collections by their names."""
    return {row.name: row for name in collections for row in store.documents(name)}


def _with_sources(
    exchange: Exchange,
    store: Store,
    rows: Mapping[str, DocumentRow],
    text_of: Callable[[str], str],
) -> Exchange:
    """Return an exchange with the documents and quotes that its text lists."""
    listed = []
    for line in _LINE.finditer(_ESCAPED.sub(r"\1", exchange.text)):
        # A name may have commas itself, so the longest that fits is meant.
        place = line["place"]
        fitting = [name for name in rows if f"{place}, ".startswith(f"{name}, ")]
        if fitting:
            name = max(fitting, key=len)
            listed.append((rows[name], place[len(name) + 2 :], line["words"]))
    if not listed:
        return exchange
    documents = tuple(dict.fromkeys(row.document_id for row, _, _ in listed))
    several = [_find_quote(text_of, *one) for one in listed]
    return Exchange(
        question=exchange.question,
        status=exchange.status,
        citations=tuple(one for one in several if one),
        documents=documents,
        titles=tuple(part for row, _, _ in listed for part in (row.title, row.name)),
        asked_back=exchange.asked_back,
        text=exchange.text if exchange.status is Status.ANSWERED else "",
        mentions=partial(count_mentions, store, documents),
        evidence=cache(partial(read_spoken_of, store, documents)),
    )


def _find_quote(
    text_of: Callable[[str], str], row: DocumentRow, place: str, quoted: str
) -> Citation | None:
    """Return a listed quote as it stands in its document, or None if it does not."""
    words = r"\s+".join(map(re.escape, quoted.split()))
    text = text_of(row.document_id)
    match = re.search(words, text) if words else None
    if match is None:
        return None
    page = _PAGE.match(place)
    number = int(page["page"]) if page else None
    return Citation(
        label="",
        document=row.name,
        document_id=row.document_id,
        collection=row.collection,
        page=number,
        section=place[page.end() :] if page else place,
        quote=match[0],
        support=Support.VERIFIED,
        score=1.0,
        node_id="",
        span=Span(start=match.start(), end=match.end(), page=number),
    )
