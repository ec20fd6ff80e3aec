"""What is odd about single pages of a document, told once for all of them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

MOST_RUNS = 12  # stretches of pages that are named
_OF_PAGE = re.compile(
    r"page (?P<page>\d+)(?:: (?P<count>\d+))? (?P<said>.*)", re.DOTALL
)
_PLURAL = {"word": "words", "was": "were"}
_SINGULAR = re.compile(r"\b(?:word|was)\b")


def merge_page_warnings(warnings: Iterable[str]) -> tuple[str, ...]:
    """The warnings, those that say the same of several pages as one.

    `page 2: 1 word was lost` and `page 3: 4 words were lost` become `2 pages: 5 words
    were lost (pages 2-3)`. Each stands where its first one stood.
    """
    kinds: dict[tuple[str, bool], _Kind] = {}
    for warning in warnings:
        found = _OF_PAGE.fullmatch(warning)
        if found is None:
            kinds.setdefault((warning, False), _Kind(warning))
            continue
        counts = bool(found["count"])
        kind = kinds.setdefault(
            (_plural(found["said"], counts), counts), _Kind(warning)
        )
        kind.pages.append(int(found["page"]))
        kind.count += int(found["count"] or 0)
    return tuple(kind.told(said) for (said, _), kind in kinds.items())


def _plural(said: str, counts: bool) -> str:
    if not counts:
        return f"hold {rest}" if (rest := said.removeprefix("holds ")) != said else said
    return _SINGULAR.sub(lambda word: _PLURAL[word[0]], said)


def runs(numbers: Iterable[int]) -> list[str]:
    """Numbers in order with stretches joined: 3-5, 9."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][-1] + 1:
            found[-1] = [found[-1][0], number]
        else:
            found.append([number, number])
    return [f"{a}" if a == b else f"{a}-{b}" for a, b in found]


@dataclass
class _Kind:
    """Warnings of one sort: the first, the pages they are of, and what they count."""

    first: str
    pages: list[int] = field(default_factory=list)
    count: int = 0

    def told(self, said: str) -> str:
        """All of them in one sentence."""
        if len(self.pages) < 2:  # noqa: PLR2004
            return self.first
        pages = _listed(runs(self.pages))
        if self.count:
            return f"{len(set(self.pages))} pages: {self.count} {said} ({pages})"
        return f"{pages} {said}"


def _listed(stretches: Sequence[str]) -> str:
    more = len(stretches) - MOST_RUNS
    rest = f" and {more} more stretches" if more > 0 else ""
    return f"pages {', '.join(stretches[:MOST_RUNS])}{rest}"
