"""The rules that a part of a document contains, and those that it refers to.

A rule starts at a line that starts with its number: `3.2.1 `, `1a1) `, `C12(a) `,
`Article 5 `, and `(a) ` below one of them. Numbers found by the loader take precedence.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.language.rule_numbers import canonical, parent, rule_grammar
from elt_llm_core.provenance import RuleSpan

_GRAMMAR = rule_grammar()
_ENDED = (".", ":", ";", ")", "and", "or")
LINE = 200  # characters before a line in which the end of a sentence is looked for
LEFT_OUT = 3  # letters that a list may skip
_LIMIT = 30  # a longer range is not a reference to each rule


class Numbering:
    """The rules of one document."""

    def __init__(self, parsed: ParsedDocument) -> None:
        self._text = parsed.text
        self._title = _words(parsed.title)
        marks = list(_marks(parsed))
        self._starts = [start for start, _ in marks]
        self._rules = [rule for _, rule in marks]
        self._known = frozenset(self._rules) - {""}

    def within(self, start: int, end: int) -> tuple[str, ...]:
        """Return the rule in which the span starts, then those that start in it."""
        return tuple(dict.fromkeys(part.rule for part in self.spans(start, end)))

    def spans(self, start: int, end: int) -> tuple[RuleSpan, ...]:
        """Return the parts of the span that belong to a rule, in order."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_left(self._starts, end)
        stops = [*self._starts[first + 1 : last], end]
        rules = zip(
            self._rules[first:last], self._starts[first:last], stops, strict=False
        )
        return tuple(
            RuleSpan(rule=rule, start=max(at, start), end=stop)
            for rule, at, stop in rules
            if rule
        )

    def begins(self, start: int, end: int) -> Sequence[int]:
        """Return where rules start in the span."""
        low, high = bisect_left(self._starts, start), bisect_left(self._starts, end)
        return self._starts[low:high]

    def is_rule(self, at: int) -> bool:
        """Return whether the rule at `at` has its own number, not only `(a)`."""
        index = bisect_left(self._starts, at)
        rule = self._rules[index] if self._starts[index : index + 1] == [at] else ""
        written = self._text[at : at + 8].lstrip("-*• \t")
        return bool(rule) and not written.startswith("(")

    def references(self, start: int, end: int) -> tuple[str, ...]:
        """Return the rules of this document that the span refers to, except its own."""
        if not self._known:
            return ()
        targets: dict[str, None] = {}
        own = self.within(start, end)
        for match in _GRAMMAR.reference.finditer(self._text, start, end):
            if self._is_elsewhere(match.end()):
                continue
            home = self._home(match.start())
            for number in _numbers(match):
                target = self._resolve(number, match["word"] or "", home)
                if target:
                    targets[target] = None
        return tuple(rule for rule in targets if rule not in own)

    def _is_elsewhere(self, at: int) -> bool:
        """Return whether another work is named after a reference."""
        named = _GRAMMAR.other_work.match(self._text, at)
        return named is not None and not self._title & _words(named[1])

    def _home(self, at: int) -> str:
        index = bisect_right(self._starts, at) - 1
        return self._rules[index] if index >= 0 else ""

    def _resolve(self, number: str, word: str, home: str) -> str:
        """Return the rule of the document, the nearest above it, or an empty string."""
        if number.startswith("("):
            while home:
                if home + canonical(number) in self._known:
                    return home + canonical(number)
                home = parent(home)
            return ""
        named = canonical(f"{word} {number}") if word else canonical(number)
        for rule in dict.fromkeys((named, canonical(number))):
            nearest = self._nearest(rule)
            if nearest:
                return nearest
        return ""

    def _nearest(self, rule: str) -> str:
        while rule and rule not in self._known:
            rule = parent(rule)
        return rule


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]+", text.lower()))


def _numbers(match: re.Match[str]) -> Iterator[str]:
    """Return the numbers of one reference; `3 to 6` names four."""
    yield match["first"]
    before, at = match["first"], match.end("first")
    for one in _GRAMMAR.number.finditer(
        match.string, match.end("first"), match.end("more")
    ):
        joint = match.string[at : one.start()].strip()
        if (
            joint in {"to", "bis", "-", "\u2013"}
            and before.isdigit()
            and one[0].isdigit()
        ):
            low, high = int(before), int(one[0])
            if high - low <= _LIMIT:
                yield from map(str, range(low + 1, high))
        yield one[0]
        before, at = one[0], one.end()


def _marks(parsed: ParsedDocument) -> Iterator[tuple[int, str]]:
    """Return where each rule starts, with its number; an empty one ends a rule."""
    headings: list[tuple[int, str]] = []
    current = ""
    for block in parsed.blocks:
        if block.kind in (BlockKind.FURNITURE, BlockKind.CONTENTS):
            continue
        given = block.number
        if block.kind is BlockKind.HEADING:
            headings = [h for h in headings if h[0] < (block.level or 1)]
            number = canonical(given) or _heading(parsed.text, block)
            headings.append((block.level or 1, number))
            current = next((n for _, n in reversed(headings) if n), "")
            yield block.start, current
            continue
        if given:
            current = canonical(given)
            yield block.start, current
        for start, mark in _lines(parsed.text, block):
            number = _number(mark, current)
            if number and not (given and start == block.start):
                current = number
                yield start, number


def _heading(text: str, block: Block) -> str:
    match = _GRAMMAR.line.match(text, block.start, block.end)
    if match is None or match["sub"]:
        return ""
    return canonical(
        match["named"] or match["dotted"] or match["mixed"] or match["plain"]
    )


def _lines(text: str, block: Block) -> Iterator[tuple[int, re.Match[str]]]:
    """Return the lines of a block that start with a number, without wrapped lines."""
    breaks = [m.start() for m in re.finditer("\n", text[block.start : block.end])]
    starts = [block.start, *(block.start + at + 1 for at in breaks), block.end]
    for line, (start, end) in enumerate(pairwise(starts)):
        before = text[max(block.start, start - LINE) : start].rstrip()
        if line and not before.endswith(_ENDED):
            continue
        match = _GRAMMAR.line.match(text, start, end)
        if match:
            yield start, match


def _number(mark: re.Match[str], current: str) -> str:
    """Return the rule that a line starts, or an empty string for a plain number."""
    if mark["sub"]:
        return _below(current, mark["sub"]) if current else ""
    if mark["mixed"]:
        return canonical(mark["mixed"])
    after = mark["after"].strip()
    begins = not after or after.isupper() or not after.isalnum()
    if mark["dotted"]:
        return canonical(mark["dotted"]) if begins else ""
    if mark["named"]:
        return canonical(mark["named"]) if begins and after != "," else ""
    whole = mark["plain"]
    return canonical(whole) if "(" in whole and begins else ""


def _below(current: str, sub: str) -> str:
    """Return the full number: `(b)` after `3.2(a)` is `3.2(b)`; `(i)` may be roman."""
    base, above = current, []
    while base.endswith(")"):
        cut = base.rindex("(")
        above.append(base[cut:])
        base = base[:cut]
    above.reverse()
    label = sub[1:-1]
    for depth in range(len(above) - 1, -1, -1):
        if _follows(above[depth][1:-1], label):
            return base + "".join(above[:depth]) + sub
    first = label in {"1", "a", "i", "A", "aa"} or not above
    return base + "".join(above) + sub if first else ""


def _follows(before: str, label: str) -> bool:
    """Return whether one label follows the other, possibly skipping a few."""
    for number in (_digits, _roman, _letters):
        low, high = number(before), number(label)
        if low and high and 0 < high - low <= LEFT_OUT:
            return True
    return False


def _digits(label: str) -> int:
    return int(label) if label.isdecimal() else 0


def _letters(label: str) -> int:
    return ord(label.lower()) - ord("`") if len(label) == 1 and label.isalpha() else 0


def _roman(label: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50}.get(c, 0) for c in label.lower()]
    if not all(values):
        return 0
    signed = [-a if a < b else a for a, b in pairwise([*values, 0])]
    return sum(signed)
