"""The exchanges of a conversation: its questions with the evidence of their answers.

A message may refer to the things that the last question and its answer name.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

from elt_llm_core.conversation import Message, Speaker
from elt_llm_core.results import Citation, Status
from elt_llm_core.store import Store
from elt_llm_query.analysis.lexicon import (
    AUXILIARIES,
    DAYS,
    DETERMINERS,
    MONTHS,
    TIME_UNITS,
)
from elt_llm_query.analysis.message_form import split_parts
from elt_llm_query.analysis.noun_phrases import PREPOSITIONS, stems_of
from elt_llm_query.analysis.referents import NamedThing, find_candidates
from elt_llm_query.conversation.source_numbers import plain_text
from elt_llm_query.conversation.spoken_of import SpokenOf, read_spoken_of

_NO_COMPOUND = (
    AUXILIARIES
    | DAYS
    | MONTHS
    | TIME_UNITS
    | DETERMINERS
    | {*PREPOSITIONS.split()}
    | {"and", "or", "on", "last", "next", "now", "today", "currently", "again", "ago"}
)


@dataclass(frozen=True)
class Exchange:
    """An earlier question, as it was searched, and the evidence of its answer.

    `mentions` counts the cited documents' words with a prefix, `evidence` returns their
    passages on phrases; `text` is the answer. A refusal has the nearest passages.
    """

    question: str
    status: Status
    citations: tuple[Citation, ...] = ()
    documents: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    asked_back: bool = False  # or nothing was asked
    text: str = ""
    mentions: Callable[[str], int] = len
    evidence: Callable[[], SpokenOf] = lambda: SpokenOf(())


def exchanges_of(history: Sequence[Message], store: Store) -> list[Exchange]:
    """Return the questions of a conversation with the evidence of their answers.

    Args:
        history: Its messages, oldest first: question, answer, question, answer.
        store: Has the titles of the documents.
    """
    exchanges = []
    for asked, answer in zip(history[::2], history[1::2], strict=True):
        # A refusal says what it looked at; the next message may name that again.
        cited = answer.citations or answer.nearest
        documents = answer.documents or tuple(
            dict.fromkeys(citation.document_id for citation in cited)
        )
        rows = (store.document(document) for document in documents)
        titles = [part for row in rows if row for part in (row.title, row.name)]
        exchanges.append(
            Exchange(
                question=answer.searched or asked.text,
                status=answer.status or Status.INSUFFICIENT,
                citations=cited,
                documents=documents,
                titles=tuple(titles),
                mentions=partial(count_mentions, store, documents),
                evidence=cache(partial(read_spoken_of, store, documents)),
                asked_back=bool(answer.unclear) or answer.courtesy,
                text=plain_text(answer.text) if answer.citations else "",
            )
        )
    return exchanges


def count_mentions(store: Store, documents: Sequence[str], beginning: str) -> int:
    """Count the words of documents with a prefix, such as a stem."""
    pattern = re.compile(rf"\b{re.escape(beginning)}", re.IGNORECASE)
    return sum(
        1 for one in documents for _ in pattern.finditer(store.document_text(one))
    )


def last_asked(exchanges: Sequence[Exchange]) -> Exchange | None:
    """Return the newest exchange that did not ask back, answered or refused."""
    spoken = [e for e in exchanges if not e.asked_back]
    return spoken[-1] if spoken else None


def last_answered(exchanges: Sequence[Exchange]) -> Exchange | None:
    """Return the newest exchange that did not ask back, if it was answered."""
    last = last_asked(exchanges)
    return last if last and last.status in {Status.ANSWERED, Status.PARTIAL} else None


def answered_before(exchanges: Sequence[Exchange]) -> Exchange | None:
    """Return the newest answered exchange, also where a later question was refused."""
    kinds = {Status.ANSWERED, Status.PARTIAL}
    answered = [e for e in exchanges if not e.asked_back and e.status in kinds]
    return answered[-1] if answered else None


def named_things(last: Exchange | None) -> list[NamedThing]:
    """Return the names in the last question that its answer mentions.

    If one of several parts was refused, a message may refer to its names, on which
    there is no evidence: then nothing is certain.
    """
    if last is None:
        return []
    if last.status is Status.PARTIAL and len(split_parts(last.question)) > 1:
        return []
    passage = " ".join(
        [
            *last.titles,
            last.text,
            *(f"{c.quote} {c.section} {c.document}" for c in last.citations),
        ]
    )
    known = stems_of(passage.replace("_", " "))
    candidates = find_candidates(last.question, last.titles)
    whole = [c for c in candidates if not _is_cut(c, last)]
    is_refused = last.status not in {Status.ANSWERED, Status.PARTIAL}
    mentioned = [
        c
        for c in whole
        if c.stems <= known
        or (is_refused and last.evidence().knows(c.text.removeprefix("the ")))
    ]
    # "The studies of colleges": that the answer repeats only "colleges" does not mean
    # that "they" are not the studies.
    others = [c for c in whole if c not in mentioned]
    return [
        c for c in mentioned if not any(other.plural == c.plural for other in others)
    ]


def _is_cut(thing: NamedThing, last: Exchange) -> bool:
    """Return whether a name is the start of a longer one: "the lunch" of a break."""
    if thing.plural:  # a compound begins with a singular
        return False
    if _in_compound(thing.text).search(last.question):
        return True
    after = re.search(rf"{re.escape(thing.text)}\s+([a-z]\w*)", last.question)
    noun = thing.text.removeprefix("the ")
    return bool(after and last.evidence().has(f"{noun} {after[1]}"))


def _in_compound(name: str) -> re.Pattern[str]:
    """A name before nouns: "Acme" of "members of the Acme pension plans pay".

    After a preposition a name ends its phrase, so that one more word may be a verb
    ("does the grant of Acme cost"), and two are not. Prepositions, auxiliaries,
    determiners and words of time begin another phrase: "of Acme during the year".
    """
    words = rf"\s+(?!(?:{'|'.join(sorted(_NO_COMPOUND))})\b)[a-z-]+"
    return re.compile(
        rf"\b(?:of|for|in|at|by|with|from|under|to)\s+(?:the\s+)?(?-i:{re.escape(name)})"
        rf"(?:{words}){{2}}"
    )


def write_message(message: Message) -> str:
    """Return a message in the form for a model, without source numbers."""
    who = "User" if message.role is Speaker.USER else "Assistant"
    return f"{who}: {' '.join(plain_text(message.text).split())}"
