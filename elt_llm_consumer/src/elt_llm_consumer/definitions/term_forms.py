"""Cleans terms as a document writes them, and decides which words can be one."""

import re
from functools import lru_cache

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.terms import clean
from elt_llm_core.language.acronyms import stands_for

_MOST_BARE_WORDS = 10  # of a term that neither quotation marks nor bold print show
_LONGEST_LONG_FORM = 120  # characters; a longer text says more than the full name


@lru_cache(maxsize=2**14)  # most terms of a document are proposed many times
def clean_term(term: str) -> str:
    """Return a term without mark-up, quotation marks, punctuation and line breaks."""
    plain = patterns.MARKUP.sub("", term)
    plain = re.sub(r"[\[\]]", "", plain)
    return clean(plain).strip(
        " \"\u201c\u201d\u2018\u2019'\u00ab\u00bb:;,.*_-\u2013\u2014"
    )


def split_paren(term: str) -> tuple[str, tuple[str, ...]]:
    """Split "Long Name (LN)" into the term and its short form, if there is one."""
    match = re.fullmatch(r"(.+?)\s*\(([^()]{1,40})\)", term)
    if match is None:
        return term, ()
    short = clean_term(match[2])
    return match[1], (short,) if patterns.ACRONYM.fullmatch(short) else ()


def _starts_a_term(word: str) -> bool:
    """A capital somewhere: "Lease", "2nd Level", "eService", "e-Service"."""
    if patterns.LEAD.fullmatch(f"{word} ") or not any(c.isalpha() for c in word):
        return False
    return word[:1].isalnum() and any(c.isupper() or c.isdigit() for c in word)


def can_be_term(term: str, defining: bool) -> bool:
    """Return True if bare words can be a term, judged by their function words.

    Every word but the small ones has a capital, or there is no article and the words
    are few: three in running text, seven under a heading that announces definitions.
    """
    words = term.split()
    if not 1 <= len(words) <= _MOST_BARE_WORDS or not _starts_a_term(words[0]):
        return False
    lowered = [word.lower() for word in words]
    if lowered[0] in patterns.NOT_FIRST | patterns.ADDRESS:
        return False
    if lowered[-1] in patterns.NOT_LAST:
        return False
    if any(word in patterns.NOT_INSIDE for word in lowered[1:]):
        return False
    small = [w for w in words[1:] if w[:1].islower() and w not in patterns.SMALL]
    sentence_like = patterns.ARTICLES & set(lowered) or lowered[0].endswith("ing")
    return not small or (not sentence_like and len(words) <= (7 if defining else 3))


def is_title_case(term: str) -> bool:
    """Return True for two to four capitalised words: a name, whatever the words."""
    words = term.split()
    return len(words) in {2, 3, 4} and all(word[:1].isupper() for word in words)


def spells_out(term: str, definition: str) -> bool:
    """Return True if a definition only spells out the term, an abbreviation."""
    if not patterns.ACRONYM.fullmatch(term) or len(definition) > _LONGEST_LONG_FORM:
        return False
    return stands_for(term.rstrip("s"), clean(definition).rstrip(".;,"))


def strip_full_stop(body: str) -> str:
    """Return a phrase without its full stop; whole sentences keep theirs."""
    body = body.rstrip()
    sentences = re.search(r"[.!?][\"'\u2019\u201d)]*\s+[A-Z\"\u201c(]", body)
    is_phrase = body.lstrip()[:1].islower() and sentences is None
    return body[:-1].rstrip() if is_phrase and body.endswith((".", ";")) else body
