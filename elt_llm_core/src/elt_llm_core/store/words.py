"""The tokens that keyword search compares: words, stems and identifiers."""

import re
import unicodedata
from collections.abc import Iterable

import Stemmer

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


def tokenize(texts: Iterable[str]) -> list[list[str]]:
    """The tokens of each text: stems of words, and joined words beside their parts.

    Lower case, Unicode-normalised, English stop words left out.
    """
    stemmer = Stemmer.Stemmer("english")  # not safe to share between threads
    known: dict[str, list[str]] = {}
    found = []
    for text in texts:
        tokens: list[str] = []
        folded = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'")
        for word in _TOKEN.findall(folded):
            if word not in known:
                known[word] = _tokens(word, stemmer)
            tokens += known[word]
        found.append(tokens)
    return found


def _tokens(word: str, stemmer: Stemmer.Stemmer) -> list[str]:
    parts = _PART.findall(word)
    whole = [word] if len(parts) > 1 else []
    return whole + [
        stemmer.stemWord(part)
        for part in parts
        if part not in STOP_WORDS and (len(part) > 1 or part.isdigit())
    ]
