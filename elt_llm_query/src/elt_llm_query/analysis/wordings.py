"""Sentences in the wording that an organisation uses for definitions.

A wording is a sentence with the fields `{term}` and `{definition}`, such as "By {term}
we understand {definition}". Glossaries and answers both read definitions by it.
"""

import re
from collections.abc import Sequence
from functools import cache

from elt_llm_core.language.sentences import sentence_spans

# Numbers and bullets in front of a line: "(a) ", "4.2 ", "- ".
LIST_MARKS = re.compile(
    r"\s*(?:(?:[-*+\u2022\u00b7\u25aa]|\d{1,3}(?:\.\d{1,3})+|"
    r"\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-z]|[ivx]{1,4}|[A-Z]{1,2}\d+(?:\.\d+)*|"
    r"\d{1,3}[a-z]\d{0,2}[a-z]?)[.)])\s+)+"
)
_TERM = r"(?P<term>[^,;:.!?\n]{1,90}?)"  # as long as the terms of known shapes
_DEFINITION = r"(?P<definition>\S.*?)"
_FIELDS = {"{term}": _TERM, "{definition}": _DEFINITION}
_STARTS = rf"^(?:{LIST_MARKS.pattern})?\s*"
# A term at the end goes to the next punctuation, a definition to the end.
_ENDS = {"{term}": r"(?=\s*(?:[,;:.!?)]|$))", "{definition}": r"\s*$"}


def match_wording(
    sentence: str, wordings: Sequence[str]
) -> tuple[str, re.Match[str]] | None:
    """Return the first wording that a sentence has, with its match.

    Args:
        sentence: One sentence.
        wordings: Sentences with `{term}` and `{definition}`.

    Returns:
        The wording, and the match with the groups `term` and `definition`; None if the
        sentence has none of the wordings.
    """
    for wording in wordings:
        match = _compile(wording).search(sentence)
        if match and any(map(str.isalnum, match["term"])):
            return wording, match
    return None


def worded_terms(text: str, wordings: Sequence[str]) -> list[str]:
    """Return the terms that sentences of a text define in one of the wordings.

    Args:
        text: One or several sentences.
        wordings: Sentences with `{term}` and `{definition}`.
    """
    if not wordings:
        return []
    hits = (match_wording(text[s:e], wordings) for s, e in sentence_spans(text))
    return [hit[1]["term"] for hit in hits if hit is not None]


@cache
def _compile(wording: str) -> re.Pattern[str]:
    """The wording as a regular expression for one sentence, in any case."""
    parts = re.split(r"(\{\w+\})", wording.strip())
    parts = [part for part in parts if part]
    expressions = [
        _FIELDS.get(part) or r"\s+".join(map(re.escape, part.strip().split()))
        for part in parts
    ]
    begin = _STARTS if parts[0] in _FIELDS else r"(?<!\w)"
    return re.compile(
        begin + r"\s*".join(expressions) + _ENDS.get(parts[-1], ""),
        re.IGNORECASE | re.DOTALL,
    )
