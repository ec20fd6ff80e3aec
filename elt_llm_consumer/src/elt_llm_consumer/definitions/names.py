"""Names as people write them: normal forms, plurals, and finding them in a text.

Matching is by whole words with the plural folded, never by substring: "act" is not in
"contract" and not in "active".
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
SHORTEST_PLURAL = 3
_ARTICLES = frozenset({"a", "an", "the"})
_KEPT_S = ("ss", "us", "is", "news", "series", "species", "means")


class Mention(NamedTuple):
    """`text[start:end]` is a mention of the phrase that was given as `phrase`."""

    start: int
    end: int
    phrase: str


def clean(text: str) -> str:
    """`text` with single spaces and nothing around it."""
    return " ".join(text.split())


def fold_word(word: str) -> str:
    """A word in lower case, without its possessive and its plural."""
    lowered = unicodedata.normalize("NFKC", word).casefold().replace("\u2019", "'")
    lowered = lowered.removesuffix("'s").strip("'").replace("'", "")
    return "and" if lowered == "&" else _singular(lowered)


def _singular(word: str) -> str:
    if len(word) <= SHORTEST_PLURAL or not word.endswith("s") or word.endswith(_KEPT_S):
        return word
    if word.endswith("ies") and len(word) > SHORTEST_PLURAL + 1:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1]


def normalise(name: str) -> str:
    """The name in lower case with single spaces, "&" as "and", no leading article."""
    lowered = unicodedata.normalize("NFKC", name).casefold().replace("&", " and ")
    found = [w.replace("\u2019", "'") for w in WORD.findall(lowered)]
    if len(found) > 1 and found[0] in _ARTICLES:
        found = found[1:]
    return " ".join(found)


def fold(name: str) -> str:
    """The normal form with every word's plural folded: the key of matching."""
    return " ".join(fold_word(word) for word in normalise(name).split())


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

    def find(self, text: str) -> list[Mention]:
        """Mentions in order of place; a longer phrase hides a shorter one inside it."""
        words = [(m.start(), m.end(), fold_word(m.group())) for m in _words(text)]
        found: list[Mention] = []
        position = 0
        while position < len(words):
            hit = self._at(words, position)
            if hit is None:
                position += 1
                continue
            length, phrase = hit
            found.append(
                Mention(words[position][0], words[position + length - 1][1], phrase)
            )
            position += length
        return found

    def _at(
        self, words: list[tuple[int, int, str]], position: int
    ) -> tuple[int, str] | None:
        for key, phrase in self._by_first.get(words[position][2], ()):
            span = words[position : position + len(key)]
            if tuple(word for _, _, word in span) == key:
                return len(key), phrase
        return None


def _words(text: str) -> Iterable[re.Match[str]]:
    # "&" between words reads "and", as in the normal form of a name.
    return re.compile(rf"{WORD.pattern}|&").finditer(text)


def variants(name: str, aliases: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Other names of `name`, sorted: its aliases and the names it is an alias of."""
    key = fold(name)
    found: dict[str, str] = {}
    for main, others in aliases.items():
        group = [main, *others]
        if any(fold(other) == key for other in group):
            for other in group if fold(main) == key else [main]:
                found.setdefault(fold(other), clean(other))
    found.pop(key, None)
    return tuple(sorted(found.values()))
