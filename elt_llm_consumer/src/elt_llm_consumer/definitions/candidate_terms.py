"""The term in front of a connector: quoted, bold, or bare words that can be a term."""

import re
from collections.abc import Iterator

from elt_llm_consumer.definitions import function_words, patterns
from elt_llm_consumer.definitions.names import clean
from elt_llm_core.language.acronyms import stands_for
from elt_llm_core.records import Record

_REACH = 420  # characters a term, its qualifiers and a preface may take
MOST_WORDS = 12
MOST_BARE_WORDS = 10
LONGEST_FORM = 120  # characters of a long form


class Head(Record):
    """A term before a connector and where it begins.

    `strong`: quoted or bold. `opens`: only a list mark stands before it on its line.
    """

    term: str
    synonyms: tuple[str, ...] = ()
    start: int
    strong: bool
    opens: bool


def head_before(text: str, end: int, defining: bool) -> Head | None:
    """The term that ends right before `end`, or None where no term stands there."""
    low = max(0, end - _REACH)
    window = text[low:end]
    for pattern in (patterns.QUOTED_HEAD, patterns.BOLD_HEAD):
        if match := pattern.search(window):
            return _marked(text, low, match)
    line = text.rfind("\n", 0, end) + 1
    if "\t" in text[line:end]:  # "Term<tab>means ...": a table as plain text
        return _bare_from(text, line, end, defining=True)
    return _bare(text, end, defining)


def cleaned(term: str) -> str:
    """A term without mark-up, quotation marks, trailing punctuation and line breaks."""
    plain = patterns.MARKUP.sub("", term)
    plain = re.sub(r"[\[\]]", "", plain)
    return clean(plain).strip(
        " \"\u201c\u201d\u2018\u2019'\u00ab\u00bb:;,.*_-\u2013\u2014"
    )


def split_paren(term: str) -> tuple[str, tuple[str, ...]]:
    """A term and the short form in brackets behind it."""
    match = re.fullmatch(r"(.+?)\s*\(([^()]{1,40})\)", term)
    if match is None:
        return term, ()
    short = cleaned(match[2])
    return match[1], (short,) if patterns.ACRONYM.fullmatch(short) else ()


def _marked(text: str, low: int, match: re.Match[str]) -> Head | None:
    term = cleaned(match["term"])
    if not term or not any(c.isalnum() for c in term) or len(term.split()) > MOST_WORDS:
        return None
    if patterns.SPOKEN.match(term):
        return None
    bold = match.re is patterns.BOLD_HEAD
    part = patterns.BOLD_PART if bold else patterns.QUOTED_PART
    names = [cleaned(one[part.groups]) for one in part.finditer(match["others"] or "")]
    paren = cleaned(match["paren"] or "")
    if patterns.ACRONYM.fullmatch(paren):
        names.append(paren)
    start = low + match.start("head")
    return Head(
        term=term,
        synonyms=tuple(name for name in names if name),
        start=start,
        strong=True,
        opens=_opens(text, start),
    )


def _opens(text: str, start: int) -> bool:
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return not line.strip() or patterns.LEAD.fullmatch(line.rstrip() + " ") is not None


def _bare(text: str, end: int, defining: bool) -> Head | None:
    for start in _starts(text, end, defining):
        if head := _bare_from(text, start, end, defining):
            return head
    return None


def _bare_from(text: str, start: int, end: int, defining: bool) -> Head | None:
    head = text[start:end]
    skipped = _skip(head)
    match = patterns.BARE_HEAD.fullmatch(head, skipped)
    if match is None:
        return None
    term = cleaned(match["term"])
    if not plausible(term, defining):
        return None
    paren = cleaned(match["paren"] or "")
    return Head(
        term=term,
        synonyms=(paren,) if patterns.ACRONYM.fullmatch(paren) else (),
        start=start + skipped,
        strong=False,
        opens=_opens(text, start + skipped),
    )


def _starts(text: str, end: int, defining: bool) -> Iterator[int]:
    """Where a bare head may begin: the last sentence's start, then later lines."""
    low = max(0, end - _REACH)
    marks = [m.end() for m in patterns.BOUNDARY.finditer(text, low, end)]
    marks = [m for m in marks if m < end] or [low]
    sentences = [
        m for m in marks if m == 0 or text[:m].rstrip()[-1:] in '.;:!?"\u201d\u2019)'
    ]
    if sentences:
        yield sentences[-1]
    if defining:
        last = sentences[-1] if sentences else -1
        yield from (mark for mark in marks if mark > last)


def _skip(head: str) -> int:
    """Characters of list marks, introductory clauses and "the term" in front."""
    position = 0
    for pattern in (patterns.LEAD, patterns.PREFACE, patterns.WRAPPING):
        match = pattern.match(head, position)
        if match is not None:
            position = match.end()
    return position + len(head[position:]) - len(head[position:].lstrip())


def _starts_a_term(word: str) -> bool:
    """A capital or a digit somewhere: "Lease", "2nd", "eService", "e-Service"."""
    if patterns.LEAD.fullmatch(f"{word} ") or not any(c.isalpha() for c in word):
        return False
    return word[:1].isalnum() and any(c.isupper() or c.isdigit() for c in word)


def plausible(term: str, defining: bool) -> bool:
    """Whether bare words can be a term: no function words where a term has none.

    Outside a list of definitions every word but the small ones has a capital, or there
    are at most three words and no article.
    """
    words = term.split()
    if not 1 <= len(words) <= MOST_BARE_WORDS or not _starts_a_term(words[0]):
        return False
    lowered = [word.lower() for word in words]
    if lowered[0] in function_words.NOT_FIRST | function_words.ADDRESS:
        return False
    if lowered[-1] in function_words.NOT_LAST:
        return False
    if any(word in function_words.NOT_INSIDE for word in lowered[1:]):
        return False
    small = [w for w in words[1:] if w[:1].islower() and w not in function_words.SMALL]
    sentence_like = function_words.ARTICLES & set(lowered) or lowered[0].endswith("ing")
    return not small or (not sentence_like and len(words) <= (7 if defining else 3))


def titled(term: str) -> bool:
    """Two to four words, each with a capital: a name, whatever its words are."""
    words = term.split()
    return len(words) in {2, 3, 4} and all(word[:1].isupper() for word in words)


def is_short_form(term: str, definition: str) -> bool:
    """Return True if a definition only spells out an abbreviation."""
    if not patterns.ACRONYM.fullmatch(term) or len(definition) > LONGEST_FORM:
        return False
    return stands_for(term.rstrip("s"), clean(definition).rstrip(".;,"))
