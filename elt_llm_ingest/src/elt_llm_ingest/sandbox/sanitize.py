"""Remove invisible characters from a document, and count them.

They hide instructions from people and words from search. Every span is shifted with the
text, so that boxes, cells and words keep their positions.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from elt_llm_core.document import Block, Blocks, ParsedDocument, Sidecar
from elt_llm_core.suspicion import Suspicion
from elt_llm_ingest.moved_spans import move_block, move_page

JOINERS = frozenset("\u200c\u200d")
SHY = "soft hyphen"  # useful in typesetting, harmful for search
FAMILIES = (
    (SHY, "\xad"),
    ("zero-width", "\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\u180e\ufeff"),
    (
        "direction-changing",
        "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    ),
    (
        "invisible tag",
        {chr(c) for c in (*range(0xE0000, 0xE0080), *range(0xE0100, 0xE01F0))},
    ),
)
CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
# Characters that encode text: letters as tags, a byte as eight zero-width ones. Flags
# of emoji are made of tags, and signs of Japanese have variants; web pages have
# characters of no width here and there: at most six in one of 26,000 passages.
TAGS = re.compile("[\U000e0020-\U000e007e]|[\U000e0100-\U000e01ef]")
FLAG, FIRST_IDEOGRAPH, LAST_IDEOGRAPH = "\U0001f3f4", "\u2e80", "\U0003ffff"
ZERO_WIDTH = frozenset("\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\u180e\ufeff")
MANY = 16
TURNED = "\u202e"  # displays the following text from right to left
# Every character that may have to be removed; one search clears most documents.
SUSPECT = re.compile(
    "[\xad\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2069\ufeff\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)


def clean_document(document: ParsedDocument) -> ParsedDocument:
    """Return the document without invisible characters, with a warning."""
    gone: Counter[str] = Counter()
    text = document.text
    gone["control"] = len(CONTROLS.findall(text))
    removed = [
        m.start() for m in SUSPECT.finditer(text) if _goes(text, m.start(), gone)
    ]

    plain = clean_text

    # A control character may replace a sign between two figures: it becomes a space, so
    # that they are not joined.
    text = CONTROLS.sub(" ", text)
    changed: dict[str, Any] = {
        "title": plain(document.title),
        "attributes": {k: plain(v) for k, v in document.attributes.items()},
        "sidecars": tuple(_clean_sidecar(s, plain) for s in document.sidecars),
        "warnings": (*map(plain, document.warnings), *_removal_warnings(gone)),
    }
    if removed:
        move = _mover(len(text), removed)
        moved_blocks = (
            moved
            for block in document.blocks
            if (
                moved := move_block(_marked_block(block, text, removed), move, plain)
            ).end
            > moved.start
            or block.end == block.start
        )
        packed = isinstance(document.blocks, Blocks)
        blocks = Blocks(moved_blocks) if packed else list(moved_blocks)
        pages = [move_page(page, move, plain) for page in document.pages]
        changed |= {"blocks": blocks, "pages": pages}
    changed["text"] = _cut(text, removed)
    return document.model_copy(update=changed)


def _removal_warnings(gone: Counter[str]) -> Iterable[str]:
    for family, count in sorted((+gone).items()):
        subject = "characters were" if count != 1 else "character was"
        yield (
            f"{count} {family} {subject} removed from the text (invisible to readers)"
        )


def clean_text(text: str) -> str:
    """Return a text without invisible and control characters."""
    text = CONTROLS.sub(" ", text)
    gone: Counter[str] = Counter()
    places = [m.start() for m in SUSPECT.finditer(text) if _goes(text, m.start(), gone)]
    return _cut(text, places)


def _goes(text: str, at: int, gone: Counter[str]) -> bool:
    """Return whether the character is removed, and count it."""
    family = _family(text, at)
    if family and family != SHY:
        gone[family] += 1
    return bool(family)


def _family(text: str, at: int) -> str:
    char = text[at]
    if char in JOINERS and _joins(text, at):
        return ""
    return next((name for name, chars in FAMILIES if char in chars), "")


def _joins(text: str, at: int) -> bool:
    """Return whether a joiner is needed by its neighbours (Persian, Hindi, emoji)."""
    before = text[at - 1 : at]
    return before > "\u0600" and unicodedata.category(before)[0] in "LMS"


def _cut(text: str, removed: list[int]) -> str:
    if not removed:
        return text
    edges = [-1, *removed, len(text)]
    return "".join(text[first + 1 : last] for first, last in pairwise(edges))


def _mover(length: int, removed: list[int]) -> Callable[[int], int]:
    """Return a function for new positions after the characters at `removed`."""
    marks = bytearray(length + 1)
    for at in removed:
        marks[at] = 1
    before = [0, *accumulate(marks)]
    return lambda position: position - before[position]


def _marked_block(block: Block, text: str, removed: Sequence[int]) -> Block:
    """Return the block, marked if removed characters hide text in it."""
    inside = removed[
        bisect_left(removed, block.start) : bisect_left(removed, block.end)
    ]
    if not inside or not _carries_text(text, inside):
        return block
    marks = {**block.attributes, Suspicion.HIDDEN_CHARACTERS.value: "true"}
    return block.model_copy(update={"attributes": marks})


def _carries_text(text: str, places: Sequence[int]) -> bool:
    """Return whether the characters encode text rather than layout."""
    if sum(text[at] in ZERO_WIDTH for at in places) >= MANY:
        return True
    return any(text[at] == TURNED or _is_tag(text, at) for at in places)


def _is_tag(text: str, at: int) -> bool:
    """Return whether a tag or selector is not part of a flag or an ideograph."""
    first = at
    while first and TAGS.match(text[first]):
        first -= 1
    before = text[first]
    of_sign = before == FLAG or FIRST_IDEOGRAPH <= before <= LAST_IDEOGRAPH
    return bool(TAGS.match(text[at])) and not of_sign


def _clean_sidecar(sidecar: Sidecar, plain: Callable[[str], str]) -> Sidecar:
    def walk(value: Any) -> Any:
        if isinstance(value, str):
            return plain(value)
        if isinstance(value, dict):
            return {walk(key): walk(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [walk(inner) for inner in value]
        return value

    return sidecar.model_copy(update={"content": walk(sidecar.content)})
