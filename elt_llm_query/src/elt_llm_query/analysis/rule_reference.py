"""Numbers of rules in a question, and which part of a chunk is of which rule."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from elt_llm_core.language.rule_numbers import canonical, is_within, rule_grammar
from elt_llm_core.provenance import RuleSpan
from elt_llm_query.analysis.lexicon import PARTS, QUESTION_WORDS, STOP_WORDS, TELLING
from elt_llm_query.analysis.text import words

GOES_ON_KEY = "goes_on"  # on the last chunk of a rule that has more
Number = tuple[tuple[int, int], tuple[str, ...]]  # where it stands, how it is written

_PARTS = frozenset(PARTS) | {f"{part}s" for part in PARTS}
_FORM = STOP_WORDS | QUESTION_WORDS | _PARTS | TELLING
_GRAMMAR = rule_grammar()
_LEADER = re.compile(r"\s\.\s\d{1,4}\b|(?:\.\s?){4,}\d{1,4}\b")


def rule_numbers(question: str) -> Iterator[Number]:
    """Where a rule's number may stand, and its canonical forms, the longest first.

    A plain number counts after a word ("rule 5", "§ 5"); one with a single dot also
    where no unit follows.
    """
    for found in _GRAMMAR.question.finditer(question):
        word, book, number = found["word"], found["book"], found["number"]
        certain = bool(word or book or "(" in number or number.count(".") > 1)
        mixed = number[0].isalpha() or bool(re.fullmatch(r"\d+[a-z]\w*", number))
        decimal = number.count(".") == 1 and not found["unit"]
        if certain or mixed or decimal:
            forms = [canonical(f"{word or ''}{number}"), canonical(number)]
            if book:
                forms.insert(0, canonical(f"{book}{number}"))
            span = (found.start(), found.end("number"))
            yield span, tuple(dict.fromkeys(form for form in forms if form))


def looked_up(question: str) -> tuple[str, ...]:
    """The canonical forms of the one rule that a question asks to be told.

    Nothing where it asks for anything else: "What does rule 5.1 say?" looks a rule up,
    "What fee is due under rule 5.1?" does not.
    """
    _, forms, rest = _one_rule(question)
    return forms if rest <= _FORM else ()


def told_of(question: str) -> tuple[str, ...]:
    """The forms of the one rule, named as a rule, that a question wants to be told.

    As `looked_up`, and where more is said of it: "What does rule 3.1 of the club say?".
    """
    said, forms, rest = _one_rule(question)
    named = _GRAMMAR.named.match(said)
    return forms if named and (rest <= _FORM or rest & TELLING) else ()


def _one_rule(question: str) -> tuple[str, tuple[str, ...], set[str]]:
    """How a question writes its only rule, its forms, and all other words.

    No forms where it names none, or several.
    """
    numbers = list(rule_numbers(question))
    if len(numbers) != 1:
        return "", (), set()
    ((start, end), forms) = numbers[0]
    rest = words(question[:start] + " " + question[end:])
    return question[start:end], forms, {word.lower() for word in rest}


def is_contents(text: str) -> bool:
    """Whether a text is of a table of contents, as its dots and page numbers tell."""
    return _LEADER.search(text) is not None


def stretches(
    spans: Sequence[RuleSpan], rule: str, *, below: bool
) -> list[tuple[int, int]]:
    """Where a rule stands, with those below it if wanted; what touches is one."""
    return merged((s.start, s.end) for s in spans if _wanted(s.rule, rule, below=below))


def _wanted(rule: str, asked: str, *, below: bool) -> bool:
    return is_within(rule, asked) if below else rule.lower() == asked.lower()


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those that touch as one."""
    ordered = sorted(spans)
    joined = ordered[:1]
    for _, (start, end) in pairwise(ordered):
        first, last = joined[-1]
        if start <= last:
            joined[-1] = (first, max(last, end))
        else:
            joined.append((start, end))
    return joined
