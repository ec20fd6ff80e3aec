"""Merge warnings about single pages into one sentence per kind."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

MOST_RUNS = 12  # page ranges that are listed
_OF_PAGE = re.compile(
    r"page (?P<page>\d+)(?:: (?P<count>\d+))? (?P<text>.*)", re.DOTALL
)
_PLURAL = {"word": "words", "was": "were"}
_SINGULAR = re.compile(r"\b(?:word|was)\b")


def merge_page_warnings(warnings: Iterable[str]) -> tuple[str, ...]:
    """Merge equal warnings about several pages.

    `page 2: 1 word was lost` and `page 3: 4 words were lost` become `2 pages: 5 words
    were lost (pages 2-3)`. A merged warning takes the position of the first.
    """
    kinds: dict[tuple[str, bool], _Kind] = {}
    for warning in warnings:
        match = _OF_PAGE.fullmatch(warning)
        if match is None:
            kinds.setdefault((warning, False), _Kind(warning))
            continue
        counts = bool(match["count"])
        kind = kinds.setdefault(
            (_plural(match["text"], counts), counts), _Kind(warning)
        )
        kind.pages.append(int(match["page"]))
        kind.count += int(match["count"] or 0)
    return tuple(kind.describe(text) for (text, _), kind in kinds.items())


def _plural(text: str, counts: bool) -> str:
    if not counts:
        return f"hold {rest}" if (rest := text.removeprefix("holds ")) != text else text
    return _SINGULAR.sub(lambda word: _PLURAL[word[0]], text)


def join_page_runs(numbers: Iterable[int]) -> list[str]:
    """Format numbers in order with ranges: 3-5, 9."""
    stretches: list[list[int]] = []
    for number in sorted(set(numbers)):
        if stretches and number == stretches[-1][-1] + 1:
            stretches[-1] = [stretches[-1][0], number]
        else:
            stretches.append([number, number])
    return [f"{a}" if a == b else f"{a}-{b}" for a, b in stretches]


@dataclass
class _Kind:
    """Warnings of one kind: the first, their pages, and their counts."""

    first: str
    pages: list[int] = field(default_factory=list)
    count: int = 0

    def describe(self, text: str) -> str:
        """Return one sentence for all of them."""
        if len(self.pages) < 2:  # noqa: PLR2004
            return self.first
        pages = _list_pages(join_page_runs(self.pages))
        if self.count:
            return f"{len(set(self.pages))} pages: {self.count} {text} ({pages})"
        return f"{pages} {text}"


def _list_pages(stretches: Sequence[str]) -> str:
    more = len(stretches) - MOST_RUNS
    rest = f" and {more} more stretches" if more > 0 else ""
    return f"pages {', '.join(stretches[:MOST_RUNS])}{rest}"
