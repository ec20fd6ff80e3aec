"""The tokens that keyword search compares: words, stems and identifiers."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

import Stemmer

from elt_llm_core.recipe import DEFAULT, Recipe, Stems

# A word, or words joined inside: bms-986158, 3.2.1, user's, b/f.
_TOKEN = re.compile(r"[^\W_]+(?:[-.'/&][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
STOP_WORDS = frozenset(
    [
        *("a", "an", "and", "are", "as", "at", "be", "been", "being", "but", "by"),
        *("can", "could", "did", "do", "does", "for", "from", "had", "has", "have"),
        *("he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its"),
        *("may", "me", "my", "of", "on", "or", "our", "shall", "she", "should", "so"),
        *("than", "that", "the", "their", "them", "then", "there", "these", "they"),
        *("this", "those", "to", "was", "we", "were", "what", "when", "where"),
        *("which", "who", "whom", "whose", "why", "will", "with", "would", "you"),
        "your",
    ]
)


def plain_words(text: str) -> list[str]:
    """Words of a text, joined ones whole, without anything that is not a word."""
    return [match.group() for match in _TOKEN.finditer(text)]


def tokenize(texts: Iterable[str], recipe: Recipe = DEFAULT) -> list[list[str]]:
    """The tokens of each text: stems of words, and joined words beside their parts.

    Lower case, Unicode-normalised, English stop words left out. Where the recipe asks
    for both, the words that are not their own stem come after all stems: stems that
    stand side by side stay so.
    """
    if recipe.stems == "both":
        stems = tokenize(texts := list(texts), _only(recipe, "english"))
        words = tokenize(texts, _only(recipe, "none"))
        return [s + _others(w, s) for s, w in zip(stems, words, strict=True)]
    stem = _stem(recipe)
    stop = STOP_WORDS if recipe.stop_words else frozenset[str]()
    known: dict[str, list[str]] = {}
    found = []
    for text in texts:
        tokens: list[str] = []
        folded = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'")
        for word in _TOKEN.findall(folded):
            if word not in known:
                known[word] = _tokens(word, stem, stop)
            tokens += known[word]
        found.append(tokens)
    return found


def _stem(recipe: Recipe) -> Callable[[str], str]:
    if recipe.stems == "none":
        return str
    # One a call: a stemmer is not safe to share between threads.
    stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord
    return stem


def _only(recipe: Recipe, stems: Stems) -> Recipe:
    return recipe.model_copy(update={"stems": stems})


def _others(words: Sequence[str], stems: Sequence[str]) -> list[str]:
    """The words that differ from the stem in their place."""
    return [w for w, s in zip(words, stems, strict=True) if w != s]


def _tokens(word: str, stem: Callable[[str], str], stop: frozenset[str]) -> list[str]:
    parts = _PART.findall(word)
    whole = [word] if len(parts) > 1 else []
    return whole + [
        stem(part)
        for part in parts
        if part not in stop and (len(part) > 1 or part.isdigit())
    ]
