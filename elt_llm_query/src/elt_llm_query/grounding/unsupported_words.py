"""What a text of a model says that its source does not.

Words around a quotation, and words that say a sentence of a source in another way, are
not proved by that quotation or sentence. They may stay where the source knows them too.
"""

import re
import unicodedata

from elt_llm_query.analysis.lexicon import QUESTION_WORDS
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.analysis.quantities import numbers
from elt_llm_query.analysis.stems import stem, stems, words
from elt_llm_query.analysis.term_match import match, vocabulary

HALF = 0.5  # of the telling words of a clause that the source must know

_CLAUSE = re.compile(r"[.!?](?=\s)|[,:;](?=\s)|\s[-\u2013\u2014]\s|\n")
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
_SHAPES = (_WORD, _SHORT, _NUMBER)
# Scripts whose letters look alike.
_LIKE = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
_VERDICTS = frozenset(map(stem, ("yes", "no", "correct", "true", "false")))
_FORM = frozenset({*map(stem, QUESTION_WORDS), *_VERDICTS})


def surplus(written: str, source: str, *, least: int = 2) -> str:
    """Why `written` is more than `source` bears.

    Args:
        written: Words of a model.
        source: Everything that the source shows of itself.
        least: Telling words from which a clause is looked up; words that only report
            ("the rules say") tell nothing.

    Returns:
        The reason, or an empty string where the source bears it: each address, name
        with signs or piece of markup is there, each number is, and so are half of
        the telling words of each clause.
    """
    odd = _odd_token(written, source)
    if odd:
        return f"{odd!r} is not in the source"
    if not numbers(written) <= numbers(source):
        return "a number is not in the source"
    known = vocabulary(source)
    for clause in _CLAUSE.split(written):
        wanted = _telling(clause)
        there = sum(1 for word in wanted if match(word, known))
        if len(wanted) >= least and there < HALF * len(wanted):
            return f"{clause.strip()!r} is not in the source"
    return ""


def tells_nothing(written: str) -> bool:
    """True for words that only lead to others: no telling word, sign or number."""
    written_stems = {stem(word) for word in words(written)}
    if not written_stems or written_stems & _VERDICTS:
        return False
    return (
        not _telling(written) and not numbers(written) and not _odd_token(written, "")
    )


def _telling(written: str) -> list[str]:
    return [word for word in stems(written) if word not in _FORM]


def _odd_token(written: str, source: str) -> str:
    """The first token that is neither a word nor a number nor in the source.

    That is an address, a tag, an identifier, or a word with letters of two scripts.
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
