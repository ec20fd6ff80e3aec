"""Rule numbers: how they are written one way, and which stands below which.

`C12(a)`, `3.2.1`, `Art. 5(2)`, `9f4`. People write one number in several ways ("Rule
3.2.1.(2)", "§ 3.2.1 (2)", "Article 5"); the canonical form is what is stored and looked
up. Only articles keep their word, as laws number articles and chapters side by side.
"""

import re
import unicodedata

# Marks that steer the direction of text stand before numbers in some exports.
_UNSEEN = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060\ufeff]")
_WORD = re.compile(
    r"(?:(?:rule|section|regulation|paragraph|clause|chapter|part)s?\b|§+)\s*",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"art(?:icles?|ikel|\.)?\s*(?=\d|(?-i:[A-Z]\b))", re.IGNORECASE)
_PARENTHESIS = re.compile(r"[\s.]*\(\s*(\w+)\s*\)")


def canonical(rule: str) -> str:
    """The one way a rule number is written; empty for empty text.

    No blanks, no dot before a parenthesis or at the end, no word but `Art. `.
    """
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", rule)).strip()
    article = _ARTICLE.match(text)
    text = text[article.end() :] if article else _WORD.sub("", text, count=1)
    text = _PARENTHESIS.sub(r"(\1)", text).strip()
    if text.count(")") > text.count("("):
        text = text.removesuffix(")")
    text = "".join(text.rstrip(".:,; ").split())
    return f"Art. {text}" if article and text else text


def is_within(rule: str, above: str) -> bool:
    """Whether `rule` is `above` or stands below it: 3.2.1(a) in 3.2, not 3.20 in 3.2.

    Both canonical. Case counts not.
    """
    low, high = rule.lower(), above.lower()
    if not high or not low.startswith(high):
        return False
    pair = low[len(high) - 1 : len(high) + 1]
    same = (pair.isdigit() or pair.isalpha()) and len(pair) > 1
    return not same


def parent(rule: str) -> str:
    """The rule one level up; empty at the top. `3.2.1(a)` gives `3.2.1`."""
    found = re.fullmatch(r"(.+?)(?:\(\w+\)|\.\w+|(?<=[a-z])\d+|(?<=\d)[a-z]+)", rule)
    return found.group(1) if found else ""
