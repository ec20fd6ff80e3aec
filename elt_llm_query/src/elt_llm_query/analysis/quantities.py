"""Numbers, negations and other words that a quote must share with its source."""

import re
from collections import Counter
from itertools import zip_longest

from elt_llm_query.analysis.foreign_guards import (
    UNKNOWN,
    Languages,
    negating_words,
)
from elt_llm_query.analysis.lexicon import GUARDED, NUMBER_WORDS
from elt_llm_query.analysis.normalise import normal_text

_TOKEN = re.compile(
    r"[-+]?\d+(?:[.,:/]\d+)*|%|\u2030|[\u00b0$\u20ac\u00a3\u00a5<>=\u2264\u2265\u00b1]"
    r"|[^\W\d_]+(?:'[^\W\d_]+)*"
)


def guards(text: str) -> Counter[str]:
    """Count the parts that must be equal in a quote and its source.

    Numbers with the word that follows (their unit), and guarded words. Number words
    count as their digits.
    """
    counts: Counter[str] = Counter()
    tokens = _TOKEN.findall(join_number_words(normal_text(text)))
    for token, after in zip_longest(tokens, tokens[1:], fillvalue=""):
        if token in NUMBER_WORDS or token[-1].isdigit():
            counts[f"{plain_number(token)} {after}"] += 1
        elif token in GUARDED or not token[0].isalnum():
            counts[token] += 1
    return counts


def join_number_words(text: str) -> str:
    """Return a text in lower case with "thirty-five" and "thirty five" as 35."""
    return _TENS_AND_ONES.sub(
        lambda m: str(int(NUMBER_WORDS[m[1]]) + int(NUMBER_WORDS[m[2]])), text
    )


def numbers(text: str) -> set[str]:
    """Return the numbers of a text, without thousands separators, words as digits."""
    plain = normal_text(text)
    if plain.isascii() and _COUNTS.search(plain) is None:
        return set()
    tokens = _TOKEN.findall(join_number_words(plain))
    return {plain_number(t) for t in tokens if t in NUMBER_WORDS or t[-1].isdigit()}


def negations(text: str, languages: Languages = UNKNOWN) -> int:
    """Return the number of negating words in the text.

    Args:
        text: Any text.
        languages: Those whose negating words count beside the English ones.
    """
    from_words = Counter(_TOKEN.findall(normal_text(text)))
    negative = _NEGATIVE | negating_words(languages)
    return sum(n for word, n in from_words.items() if word in negative)


_COUNTS = re.compile(rf"\d|{'|'.join(NUMBER_WORDS)}")
_TENS_AND_ONES = re.compile(
    r"\b(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[ -]"
    r"(one|two|three|four|five|six|seven|eight|nine)\b"
)


_NEGATIVE = frozenset(w for w in GUARDED if w in {"not", "no", "never", "none", "nor"})


_NEGATIVE |= frozenset(w for w in GUARDED if w.endswith("n't") or w == "cannot")


_NEGATIVE |= {"neither", "without", "unless", "except"}


def plain_number(token: str) -> str:
    """Return a number in digits, without a plus sign or thousands separators."""
    if token in NUMBER_WORDS:
        return NUMBER_WORDS[token]
    plain = re.sub(r",(?=\d{3}(?:\D|$))", "", token)
    return plain.removeprefix("+")
