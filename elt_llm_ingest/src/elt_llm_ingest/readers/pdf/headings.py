"""Heading levels: from numbering, the outline of the file, and appearance."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from elt_llm_core.document import Block, BlockKind
from elt_llm_ingest.readers.pdf.blocks import CAPTION, KEYWORD, MARKER, NUMBER, Draft
from elt_llm_ingest.readers.text_builder import SEPARATOR, one_line

RANKS = ("part", "title", "division", "chapter", "section", "article", "rule")
MAX_LEVEL = 9  # as many levels of headings as Word has
SAME_SIZE = 0.6  # points
MAX_OUTLINE_TITLE = 300  # characters; a longer text is no outline entry
Outline = Sequence[tuple[int, str, int]]  # level from 1, title, page from 1
_Key = tuple[str, float, bool]


@dataclass(slots=True)
class Heading:
    """The features that determine the level of a heading. `size`: letter height."""

    text: str
    size: float
    page: int
    level: int = 0


class HeadingLevels:
    """Assigns every heading of a file its level, once all are known."""

    def __init__(self, outline: Outline = ()) -> None:
        self._outline = _outline_levels(outline)
        self.headings: list[Heading] = []

    def take(self, drafts: Iterable[Draft]) -> None:
        """Record the headings among drafts; outline entries become headings."""
        for draft in drafts:
            if draft.kind is BlockKind.PARAGRAPH and self._lists(draft):
                draft.kind = BlockKind.HEADING
            if draft.kind is BlockKind.HEADING:
                size = max(line.size for line in draft.lines)
                self.headings.append(Heading(draft.text, size, draft.page))

    def assign_levels(self) -> list[int]:
        """Return the level of each heading in recorded order, 1 at the top.

        Numbers decide ("3.2.1" is 3); Part, Chapter and the like are above them; the
        others are ordered by size and capitals. The levels of the file's outline take
        precedence.
        """
        levels = _own_levels(self.headings)
        for heading, level in zip(self.headings, levels, strict=True):
            heading.level = level
        _apply_outline(self.headings, self._outline)
        return [heading.level for heading in self.headings]

    def _lists(self, draft: Draft) -> bool:
        if not self._outline or draft.table:
            return False
        return bool(_in_outline(draft.text, draft.page, self._outline))


def _own_levels(headings: Sequence[Heading]) -> list[int]:
    keywords = _keyword_levels(headings)
    numbers = [_depth(d) for d in headings]
    shift = _shift(headings, numbers, keywords)
    levels: list[int] = []
    for heading, depth in zip(headings, numbers, strict=True):
        if (word := _keyword(heading)) is not None:
            levels.append(keywords.get(word, 1))
        else:
            levels.append(depth + shift if depth else 0)
    sizes: dict[int, list[float]] = defaultdict(list)
    for heading, level in zip(headings, levels, strict=True):
        if level:
            sizes[level].append(heading.size)
    middle = {level: median(level_sizes) for level, level_sizes in sizes.items()}
    looks = _look_levels([d for d, n in zip(headings, levels, strict=True) if not n])
    return [
        level or (_level_among(heading, middle) if middle else looks[_look(heading)])
        for heading, level in zip(headings, levels, strict=True)
    ]


def _keyword(heading: Heading) -> str | None:
    match = KEYWORD.match(heading.text)
    return match.group(1).casefold() if match else None


def _depth(heading: Heading) -> int:
    match = NUMBER.match(heading.text)
    return match.group(1).count(".") + 1 if match else 0


def _keyword_levels(headings: Sequence[Heading]) -> dict[str, int]:
    """Return the level of each used keyword: Part above Section above Rule."""
    counts = Counter(word for d in headings if (word := _keyword(d)))
    used = [word for word in RANKS if counts[word] > 1]
    levels = {word: level for level, word in enumerate(used, start=1)}
    return {word: levels.get(word, 1) for word in counts}


def _shift(
    headings: Sequence[Heading], numbers: Sequence[int], keywords: Mapping[str, int]
) -> int:
    """Return the number of keyword levels above the plain number "1"."""
    plain = [
        (d, NUMBER.match(d.text))
        for d, n in zip(headings, numbers, strict=True)
        if n == 1
    ]
    named = [d for d in headings if _keyword(d) in RANKS]
    if not plain or len(named) <= 1:
        return 0
    counts = Counter(match.group(1) for _, match in plain if match)
    restarts = any(count > 1 for count in counts.values())
    larger = median(d.size for d in named) > median(d.size for d, _ in plain) + 0.5
    return max(keywords.values()) if restarts or larger else 0


def _level_among(heading: Heading, middle: Mapping[int, float]) -> int:
    """Return the level of a heading without number, below all that are as large."""
    size = heading.size
    above = [level for level, other in middle.items() if other >= size - 0.5]
    return max(above) + 1 if above else 1


def _look(heading: Heading) -> _Key:
    text = heading.text
    return "", heading.size, text.upper() == text


def _look_levels(headings: Sequence[Heading]) -> dict[_Key, int]:
    looks = sorted({_look(d) for d in headings}, key=lambda k: (-k[1], not k[2]))
    levels: dict[_Key, int] = {}
    level, last = 0, (float("inf"), True)
    for key in looks:
        if last[0] - key[1] > SAME_SIZE or key[2] != last[1] or not level:
            level = min(level + 1, 6)
        levels[key] = level
        last = key[1], key[2]
    return levels


def _normal(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _outline_levels(outline: Outline) -> dict[tuple[str, int], int]:
    """Return (title, page) to level, without a single root above everything."""
    roots = [level for level, _, _ in outline if level == 1]
    lift = 1 if len(roots) == 1 and len(outline) > 1 else 0
    return {
        (_normal(title), page): max(1, level - lift)
        for level, title, page in outline
        if _normal(title)
    }


def _in_outline(text: str, page: int, outline: Mapping[tuple[str, int], int]) -> int:
    """Return the outline's level of a text on a page, or 0."""
    if not outline or len(text) > MAX_OUTLINE_TITLE:
        return 0
    return outline.get((_normal(text), page), 0)


def _apply_outline(
    headings: Sequence[Heading], outline: Mapping[tuple[str, int], int]
) -> None:
    """Return the outline's levels, applied to each kind of heading in it."""
    known = [(d, _in_outline(d.text, d.page, outline)) for d in headings]
    listed = [(d, level) for d, level in known if level]
    if not listed:
        return
    votes: dict[_Key, Counter[int]] = defaultdict(Counter)
    for heading, level in listed:
        votes[_class(heading)][level] += 1
        heading.level = level
    others = [d for d, level in known if not level]
    largest = max(d.size for d, _ in listed)
    deepest = max(level for _, level in listed)
    top = min((d.level for d in others), default=1)
    for heading in others:
        count = votes.get(_class(heading))
        if count:
            heading.level = count.most_common(1)[0][0]
        elif heading.size > largest + 0.5:
            heading.level = 1
        elif not _depth(heading) and not _keyword(heading):
            heading.level = min(deepest + 1 + heading.level - top, MAX_LEVEL)


def _class(heading: Heading) -> _Key:
    depth = _depth(heading)
    name = _keyword(heading) or (str(depth) if depth else "")
    return name, heading.size, heading.text.upper() == heading.text


LEAD = "lead"
LONGEST = 80  # letters
MOST = 10  # words
# They introduce a paragraph, but are no topic.
SIGNAL = re.compile(r"^(?:notes?|sources?|examples?)\b", re.IGNORECASE)
NAMED = re.compile(r"[^\W\d_]{3}")  # "XI." is a number
ENDS = ".:"
QUOTES = "\"'([\u201c\u2018"
WORDS = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)


def mark_run_in_headings(drafts: Iterable[Draft]) -> None:
    """Record the run-in heading of paragraphs and list items.

    Only the first words are bold; they start with a capital and end with a full stop or
    a colon; the text after them starts a sentence.
    """
    for draft in drafts:
        if draft.kind in WORDS and draft.lines and (lead := _lead(draft)):
            draft.attributes[LEAD] = lead


def _lead(draft: Draft) -> str:
    words = [word for line in draft.lines[:2] for word in line.words]
    first = 1 if MARKER.match(words[0].text + " ") else 0
    bold = first
    while bold < len(words) and words[bold].bold:
        bold += 1
    if not first < bold < min(len(words), first + MOST + 1):
        return ""
    lead = " ".join(word.text for word in words[first:bold])
    after = words[bold].text.lstrip(QUOTES)
    starts = lead[:1].isupper() and (after[:1].isupper() or after[:1].isdigit())
    if not starts or lead[-1] not in ENDS or len(lead) > LONGEST:
        return ""
    if not NAMED.search(lead) or CAPTION.match(lead) or SIGNAL.match(lead):
        return ""
    return lead


def add_run_in_headings(blocks: Iterable[Block]) -> Iterator[Block]:
    """Return the blocks, with run-in headings added to their section paths."""
    for block in blocks:
        lead = block.attributes.get(LEAD, "") if block.kind in WORDS else ""
        if name := one_line(lead).rstrip(ENDS):
            path = SEPARATOR.join(filter(None, (block.section, name)))
            yield block.model_copy(update={"section": path})
        else:
            yield block
