"""Rule numbers in a question, and the parts of a chunk that belong to a rule."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from elt_llm_core.language.rule_numbers import canonical, is_within, rule_grammar
from elt_llm_core.provenance import RuleSpan
from elt_llm_query.analysis.lexicon import (
    PARTS,
    QUESTION_WORDS,
    RULING,
    STOP_WORDS,
    TELLING,
)
from elt_llm_query.analysis.stems import words

GOES_ON_KEY = "goes_on"  # on the last chunk of a rule that has more
Number = tuple[tuple[int, int], tuple[str, ...]]  # its span, and its canonical forms

_PARTS = frozenset(PARTS) | {f"{part}s" for part in PARTS}
# Parts of contracts that are named by a code of their own: "endorsement E4".
_CONTRACT_PARTS = frozenset(
    f"{part}{s}"
    for part in ("clause", "condition", "endorsement", "exclusion", "extension")
    for s in ("", "s")
)
_FORM = STOP_WORDS | QUESTION_WORDS | _PARTS | _CONTRACT_PARTS | TELLING
_GRAMMAR = rule_grammar()
_SECTION = re.compile(
    r"what\s+do(?:es)?\s+(?:the\s+)?(?:(?:section|chapter|part|article|paragraph)\s+)?"
    r"(?:(?:on|about)\s+)?(?P<name>\S.*?)\s+(?:say|state|tell(?:\s+(?:me|us))?)\W*",
    re.IGNORECASE,
)
# "What does 7.2 exclude?", of the question without its number.
_LAID_DOWN = re.compile(
    r"\W*what\s+(?:do|does)\s+(?:the\s+)?(?:[^\W\d_]+\s+)??(?P<verb>[^\W\d_]+)"
    r"(?:\s+down)?\W*",
    re.IGNORECASE,
)
_BEFORE_HEADING = re.compile(
    r"^\W*(?:(?:section|chapter|part|article)\s+)?(?:(?:\d+[a-z]?|[A-Z])(?:\.\w+)*[\s.:)-]+)?",
    re.IGNORECASE,
)
_LEADER = re.compile(r"\s\.\s\d{1,4}\b|(?:\.\s?){4,}\d{1,4}\b")


def rule_numbers(question: str) -> Iterator[Number]:
    """Yield spans of rule numbers and their canonical forms, the longest first.

    A plain number counts after a word ("rule 5", "§ 5"); one with a single dot also if
    no unit follows.
    """
    for match in _GRAMMAR.question.finditer(question):
        word, book, number = match["word"], match["book"], match["number"]
        certain = bool(word or book or "(" in number or number.count(".") > 1)
        mixed = number[0].isalpha() or bool(re.fullmatch(r"\d+[a-z]\w*", number))
        decimal = number.count(".") == 1 and not match["unit"]
        if certain or mixed or decimal:
            forms = [canonical(f"{word or ''}{number}"), canonical(number)]
            if book:
                forms.insert(0, canonical(f"{book}{number}"))
            span = (match.start(), match.end("number"))
            yield span, tuple(dict.fromkeys(form for form in forms if form))


def section_name(question: str) -> str:
    """Return the only section that a question asks for, in lower case.

    A section is named by its words: 'What does "Loans" say?'. One with a number is a
    rule; see `rule_request`.
    """
    asked = _SECTION.fullmatch(question.strip())
    return bare_heading(asked["name"]) if asked else ""


def bare_heading(heading: str) -> str:
    """Return the words of a heading, or of the last of a path, without its number."""
    last = heading.rpartition(" > ")[2]
    return " ".join(words(_BEFORE_HEADING.sub("", last).casefold()))


class RuleRequest(NamedTuple):
    """The one rule that a question names, in its canonical forms; empty for none.

    Attributes:
        whole: Forms if it asks only for that rule ("What does rule 5.1 say?", "What
            does it exclude?"). "What fee is due under rule 5.1?" asks for something
            else.
        told: Forms if it calls it a rule and asks for its text, with any other words
            ("What does rule 3.1 of the club say?").
    """

    whole: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


def rule_request(question: str, numbers: Sequence[Number]) -> RuleRequest:
    """Return the only rule whose text a question asks for, if it does.

    Args:
        question: The question.
        numbers: Its numbers of rules, as `rule_numbers` finds them.
    """
    if len(numbers) != 1:
        return RuleRequest()
    ((start, end), forms) = numbers[0]
    rest = f"{question[:start]} {question[end:]}"
    others = {w.lower() for w in words(rest)}
    named = _GRAMMAR.named.match(question[start:end])
    asked = _LAID_DOWN.fullmatch(rest)
    if asked and asked["verb"].lower() in RULING:
        others -= {asked["verb"].lower(), "down"}
    whole = others <= _FORM
    by_name = bool(named) and (whole or not others.isdisjoint(TELLING))
    return RuleRequest(forms if whole else (), forms if by_name else ())


def is_contents(text: str) -> bool:
    """Return whether a text is from a table of contents, by dots and page numbers."""
    return _LEADER.search(text) is not None


def rule_stretches(
    spans: Sequence[RuleSpan], rule: str, *, below: bool
) -> list[tuple[int, int]]:
    """Return the spans of a rule and, optionally, of those below it, joined."""
    return merge_spans(
        (s.start, s.end)
        for s in spans
        if (is_within(s.rule, rule) if below else s.rule.lower() == rule.lower())
    )


def merge_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, joining adjacent ones."""
    ordered = sorted(spans)
    joined = ordered[:1]
    for _, (start, end) in pairwise(ordered):
        first, last = joined[-1]
        if start <= last:
            joined[-1] = (first, max(last, end))
        else:
            joined.append((start, end))
    return joined
