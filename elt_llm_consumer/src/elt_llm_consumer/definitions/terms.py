"""Names and terms as people write them: normal forms, plurals, short forms, matching.

Matching is by whole words with the plural folded, never by substring: "act" is not in
"contract" and not in "active".
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from elt_llm_consumer.definitions import patterns
from elt_llm_core.language.acronyms import stands_for

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_SHORTEST_PLURAL = 3  # "gas" and "bus" are no plurals; shorter words hardly ever are
_LONGEST_LONG_FORM = 120  # characters; a longer text says more than the full name
_MOST_BARE_WORDS = 10  # of a term that neither quotation marks nor bold print show
_KEPT_S = ("ss", "us", "is", "news", "series", "species", "means")


class PhraseMatch(NamedTuple):
    """`text[start:end]` mentions `phrase`, spelt as it was given."""

    start: int
    end: int
    phrase: str


def clean(text: str) -> str:
    """Return `text` with single spaces, without space around it."""
    return " ".join(text.split())


def fold_word(word: str) -> str:
    """Return a word in lower case, without its possessive and its plural."""
    lowered = unicodedata.normalize("NFKC", word).casefold().replace("\u2019", "'")
    lowered = lowered.removesuffix("'s").strip("'").replace("'", "")
    return "and" if lowered == "&" else _singular(lowered)


def _singular(word: str) -> str:
    if (
        len(word) <= _SHORTEST_PLURAL
        or not word.endswith("s")
        or word.endswith(_KEPT_S)
    ):
        return word
    if word.endswith("ies") and len(word) > _SHORTEST_PLURAL + 1:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1]


def normalise(name: str) -> str:
    """Return the name in lower case, "&" as "and", without a leading article."""
    lowered = unicodedata.normalize("NFKC", name).casefold().replace("&", " and ")
    words = [w.replace("\u2019", "'") for w in WORD.findall(lowered)]
    if len(words) > 1 and words[0] in patterns.ARTICLES:
        words = words[1:]
    return " ".join(words)


def fold(name: str) -> str:
    """Return the normal form with every plural folded: the key for matching."""
    return " ".join(fold_word(word) for word in normalise(name).split())


def fold_all(names: Sequence[str]) -> list[str]:
    """Return `fold` of every name."""
    return [fold(name) for name in names]


class PhraseIndex:
    """Finds many phrases in a text in one pass, longest first, whole words only."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        seen: set[tuple[str, ...]] = set()
        for phrase in phrases:
            key = tuple(fold(phrase).split())
            if key and key not in seen:
                seen.add(key)
                self._by_first[key[0]].append((key, phrase))
        for candidates in self._by_first.values():
            candidates.sort(key=lambda item: (-len(item[0]), item[1]))

    def find(self, text: str) -> list[PhraseMatch]:
        """Return matches in text order; a longer phrase hides a shorter one in it."""
        words = [(m.start(), m.end(), fold_word(m.group())) for m in _words(text)]
        matches: list[PhraseMatch] = []
        position = 0
        while position < len(words):
            hit = self._at(words, position)
            if hit is None:
                position += 1
                continue
            length, phrase = hit
            matches.append(
                PhraseMatch(words[position][0], words[position + length - 1][1], phrase)
            )
            position += length
        return matches

    def _at(
        self, words: list[tuple[int, int, str]], position: int
    ) -> tuple[int, str] | None:
        for key, phrase in self._by_first.get(words[position][2], ()):
            span = words[position : position + len(key)]
            if tuple(word for _, _, word in span) == key:
                return len(key), phrase
        return None


def _words(text: str) -> Iterable[re.Match[str]]:
    # "&" counts as the word "and", as in the normal form of a name.
    return re.compile(rf"{WORD.pattern}|&").finditer(text)


def variants(name: str, aliases: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return other names of `name`, sorted: its aliases and the names it is one of."""
    key = fold(name)
    others_by_key: dict[str, str] = {}
    for main, others in aliases.items():
        group = [main, *others]
        if any(fold(other) == key for other in group):
            for other in group if fold(main) == key else [main]:
                others_by_key.setdefault(fold(other), clean(other))
    others_by_key.pop(key, None)
    return tuple(sorted(others_by_key.values()))


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
