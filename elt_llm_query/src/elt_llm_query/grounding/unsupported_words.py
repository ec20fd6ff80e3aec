"""Words that claim nothing, and tokens that no source can support."""

import re
import unicodedata

from elt_llm_query.analysis.lexicon import QUESTION_WORDS
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.analysis.quantities import numbers
from elt_llm_query.analysis.stems import stem, stems, words

_SPACE = re.compile(
    r"[\s\u3000-\u3002\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a-\uff1f]+"
)
_QUOTES = "\"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
_AROUND = f"{_QUOTES}()[]{{}}.,;:!?\u2026*_-\u2013\u2014\u2022|>"
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019\u2010-\u2015/-][^\W\d_]+)*")
_SHORT = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?")
_NUMBER = re.compile(
    r"[-+\u00b1~<>\u2264\u2265$\u20ac\u00a3\u00a5\u00a7]*\d[\d.,:/\u2013-]*"
    r"[%\u2030\u00b0]?[^\W\d_]{0,3}"
)
_COUNTED = re.compile(r"\d+(?:-[^\W\d_]+)+")  # 3-year
_SHAPES = (_WORD, _SHORT, _NUMBER, _COUNTED)
# Scripts with letters that look alike.
_LIKE = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
_VERDICTS = frozenset(map(stem, ("yes", "no", "correct", "true", "false")))
_ANSWERS = {
    **dict.fromkeys(("yes", "true", "correct", "that is correct"), "yes"),
    **dict.fromkeys(("no", "false", "incorrect", "that is not correct"), "no"),
}
_FORM = frozenset({*map(stem, QUESTION_WORDS), *_VERDICTS})


def tells_nothing(written: str) -> bool:
    """Return True if the text has no content word, symbol or number."""
    written_stems = {stem(word) for word in words(written)}
    if not written_stems or written_stems & _VERDICTS:
        return False
    return not (_telling(written) or numbers(written) or odd_token(written, ""))


def _telling(written: str) -> list[str]:
    return [word for word in stems(written) if word not in _FORM]


def bare_verdict(written: str) -> str:
    """Return "yes" or "no" if that is the whole text, else an empty string."""
    return _ANSWERS.get(" ".join(words(written)).lower(), "")


def odd_token(written: str, source: str) -> str:
    """Return the first token that is no word, no number and not in the source.

    Such tokens are addresses, tags, identifiers, and words with letters of two scripts.
    """
    known = ""
    for raw in _SPACE.split(written):
        token = raw.strip(_AROUND)
        if not token or _is_plain(token):
            continue
        known = known or normalise(source).text
        if normalise(token).text not in known:
            return token[:80]
    return ""


def _is_plain(token: str) -> bool:
    bare = "".join(c for c in token if unicodedata.category(c)[0] != "M")
    if not any(shape.fullmatch(bare) for shape in _SHAPES):
        return False
    letters = (c for c in bare if c.isalpha())
    scripts = {unicodedata.name(c, "").partition(" ")[0] for c in letters}
    return len(scripts & _LIKE) <= 1
