"""Words, stems and sentences of a text, with their positions in it."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from elt_llm_core.language.sentences import (
    REFERENCE_TAIL,
    is_cut_reference,
    sentence_spans,
)
from elt_llm_core.language.stemmer import stem_word
from elt_llm_query.analysis.lexicon import (
    AUXILIARIES,
    IRREGULAR,
    QUESTION_WORDS,
    STOP_WORDS,
    WRITINGS,
)

WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*|[^\W_]+")
_NUMBERED = r"[A-Za-z]{0,2}\d{1,3}(?:\.\d+)*(?:[a-z]\d*){0,3}|[a-z]|[ivx]{1,4}"
# Hyphen, bullets of several shapes, an en dash, and the bullet of symbol fonts.
BULLETS = r"\-*+\u2022\u00b7\u2013\u2023\u25aa\u25cf\u25e6\uf0b7"
_MARK = rf"(?:[{BULLETS}]|\(?(?:{_NUMBERED})[.)])"
_BULLET = re.compile(rf"^\s*{_MARK}\s*$")
_ITEM = re.compile(rf"\s*{_MARK}\s")
# A line break ends a piece before a bullet, a blank line or a table row, and after a
# colon or semicolon; elsewhere it may only wrap a line. Looks ahead only as far as the
# next line break, so that many empty lines take no longer than as many full ones.
_BREAK = re.compile(rf"\n(?=[^\S\n]*(?:{_MARK}\s|\n)|[^\n]*\t)|(?<=[:;])\n|(?<=\n)\n")
_AFTER = 20  # characters after a line break that show whether a list begins there
# "Penalty: ten points." The longest such labels of rule books have some eight words.
_LABEL = re.compile(
    r"(?P<label>[A-Z][a-z][\w'\u2019/-]*(?:\s[\w'\u2019/-]+){0,8}):\s+\S"
)
_AUX = "|".join(sorted(AUXILIARIES))
_REFERS_BACK = re.compile(
    r"^\W*(?:it|its|this|that|these|those|they|their|such|he|she|exception|however"
    r"|otherwise|in\s+(?:this|that|such)\s+cases?"
    # "So are dogs", "Nor may bottles be brought"
    rf"|(?:so|nor|neither)\s+(?:{_AUX}))\b",
    re.IGNORECASE,
)
# "Hairdressing is not.", "Dogs must not.": the verb stands in the sentence before.
_LEAVES_OUT = re.compile(
    r"^\W*(?:\d[\w.]*\s+)?(?:[\w'\u2019/-]+,?\s+){1,6}?"
    r"(?:is|are|was|were|do|does|did|has|have|may|must|can"
    r"|could|will|shall|should|need|cannot)(?:\s+not|n['\u2019]t)?"
    r"(?:\s+(?:either|too|as\s+well))?\s*(?:[.!]\W*$|;)",
    re.IGNORECASE,
)
_NOR = re.compile(rf"^\W*(?:so|nor|neither)\s+(?:{_AUX})\b", re.IGNORECASE)
_WHERE = re.compile(r"\b(?:what|where|who|how|as|than|which|that)\b", re.IGNORECASE)
# "such gift", "the said property": what it is stands before.
_REFERS_WITHIN = re.compile(
    r"\bsuch\s+(?!as\b|that\b|an?\b)\w+|\bthe\s+(?:said|aforesaid|above-?mentioned)\s+\w+",
    re.IGNORECASE,
)
# "In this population", "for these events": the group is named before the sentence.
_GROUP = re.compile(r"\b(?:this|these|those)\s+(?P<noun>[^\W\d_]{3,})", re.IGNORECASE)
_OPENS_WITH_GROUP = re.compile(
    rf"^\W*(?:in|for|with|among|of|to)\s+{_GROUP.pattern}", re.IGNORECASE
)


class Piece(NamedTuple):
    """`text[start:end]`, a sentence or a line, without the space around it."""

    start: int
    end: int


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the English Snowball stem of a lower-case word, without 's."""
    lowered = word.lower().replace("\u2019", "'").removesuffix("'s").strip("'")
    return stem_word(IRREGULAR.get(lowered, lowered))


def words(text: str) -> list[str]:
    """Return words and numbers as written, in order."""
    return WORD.findall(text)


def stems(text: str) -> list[str]:
    """Return stems of the content words, in order, without stop words."""
    return [stem(w) for w in words(text) if w.lower() not in STOP_WORDS]


def question_stems(question: str) -> list[str]:
    """Return stems of a question's subject, once each, in order.

    Words of the question's form ("which", "list", "means") are left out unless nothing
    else remains.
    """
    content = [w for w in words(question) if w.lower() not in STOP_WORDS]
    matter = [w for w in content if w.lower() not in QUESTION_WORDS] or content
    return list(dict.fromkeys(stem(w) for w in matter))


def pieces(text: str) -> list[Piece]:
    """Return sentences and list items of `text`, in order.

    Each is stripped; a bullet or number standing alone joins what follows.
    """
    spans: list[Piece] = []
    held: int | None = None
    for start, end in _sentences(text):
        if _BULLET.match(text[start:end]):
            held = start if held is None else held
            continue
        spans.append(Piece(start if held is None else held, end))
        held = None
    if held is not None:
        spans.append(Piece(held, len(text.rstrip())))
    return spans


def begins_item(text: str) -> bool:
    """Return whether a text begins with the mark of a list item: "(a)", a bullet."""
    return bool(_ITEM.match(text))


def refers_back(sentence: str) -> bool:
    """Return whether it needs the sentence before: "It must", "Dogs must not."."""
    if _REFERS_BACK.match(sentence):
        return True
    return leaves_out(sentence)


def leaves_out(sentence: str) -> bool:
    """Return whether its verb stands in the sentence before: "Dogs must not."."""
    if _NOR.match(sentence):
        return True
    return bool(_LEAVES_OUT.match(sentence)) and not _WHERE.search(sentence)


def refers_within(sentence: str) -> bool:
    """Return whether it refers to earlier text: "such gift", "the said sum"."""
    return bool(_REFERS_WITHIN.search(sentence))


def opens_with_group(sentence: str) -> bool:
    """Return whether it begins with "In this population", which restricts it.

    "In this case" is no group; see `refers_back`.
    """
    opening = _OPENS_WITH_GROUP.match(sentence)
    if opening is None or refers_back(sentence):
        return False
    return not _is_writing(opening["noun"])


def refers_to_group(sentence: str) -> bool:
    """Return whether it has "these events" and did not name the events before."""
    for group in _GROUP.finditer(sentence):
        before = frozenset(map(stem, words(sentence[: group.start()])))
        if not _is_writing(group["noun"]) and stem(group["noun"]) not in before:
            return True
    return False


def _is_writing(noun: str) -> bool:
    return stem(noun) in {stem(word) for word in WRITINGS}


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Return spans of non-empty sentences; no sentence crosses a break."""
    position = 0
    for line in _split(text):
        begun: tuple[int, int] | None = None
        for first, last in sentence_spans(line):
            sentence = line[first:last]
            start = position + last - len(sentence.lstrip())
            end = position + first + len(sentence.rstrip())
            if start >= end:
                continue
            if begun and _completes(sentence):
                begun = begun[0], end
                continue
            if begun:
                yield begun
            begun = start, end
        if begun:
            yield begun
        position += len(line)


def _completes(sentence: str) -> bool:
    """Return whether it is a note on the sentence before: "Penalty: ten points".

    Its label has no verb, and its text is on the same line.
    """
    label = _LABEL.match(sentence.strip())
    return label is not None and AUXILIARIES.isdisjoint(
        word.lower() for word in words(label["label"])
    )


def _split(text: str) -> Iterator[str]:
    """Split the text after each breaking newline; joined, the parts are the text.

    The number of a reference may stand at the start of a wrapped line.
    """
    start = 0
    for newline in _BREAK.finditer(text):
        after = text[newline.end() : newline.end() + _AFTER]
        before = text[max(start, newline.start() - REFERENCE_TAIL) : newline.start()]
        if is_cut_reference(before, after):
            continue
        yield text[start : newline.end()]
        start = newline.end()
    yield text[start:]
