"""Tokens for keyword search: words, stems and identifiers."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from itertools import repeat

from elt_llm_core.config.bm25 import DEFAULT, Recipe, Stems
from elt_llm_core.language.detect import question_language
from elt_llm_core.language.languages import CJK, CJK_RUN, ENGLISH, language_of
from elt_llm_core.language.stemmer import make_stemmer
from elt_llm_core.language.stop_words import stop_words

# A word, or several joined by punctuation: bms-986158, 3.2.1, user's, b/f.
_TOKEN = re.compile(r"[^\W_]+(?:[-.'/&][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
GAP = "\x01"  # between the tokens of two analyses, so that no pair spans them


def plain_words(text: str) -> list[str]:
    """Return the words of a text, joined ones whole."""
    return [match.group() for match in _TOKEN.finditer(text)]


def tokenize(
    texts: Iterable[str],
    recipe: Recipe = DEFAULT,
    languages: Iterable[str] | None = None,
) -> list[list[str]]:
    """Return the tokens of each text: stems, and joined words with their parts.

    Lower case, Unicode-normalised, stop words left out, by the language of each text:
    one of `languages`, English without. Chinese, Japanese and Korean become pairs of
    characters. If the recipe requests both, words that differ from their stem come
    after all stems, so that adjacent stems stay adjacent.
    """
    return _tokenize_by_language(texts, recipe, languages or repeat(ENGLISH))


def question_tokens(
    text: str, languages: Collection[str] = (ENGLISH,), recipe: Recipe = DEFAULT
) -> list[str]:
    """Return the tokens of a question for texts in these languages.

    Those of the question's own language come first, then additional ones from the other
    languages, after a `GAP`. A stop word of the question's language is one in all of
    them: "the" would be a rare and distinctive word among German texts.
    """
    keys = {analysed_as(code, recipe) for code in languages} or {ENGLISH}
    if len(keys) == 1:
        return tokenize([text], recipe, keys)[0]
    own = analysed_as(question_language(text, languages), recipe)
    tokens: list[str] = []
    for key in sorted(keys, key=lambda code: (code != own, code)):
        (analysed,) = _tokenize_by_language([text], recipe, [key], stop_words(own))
        if fresh := [token for token in analysed if token not in tokens]:
            tokens += [GAP, *fresh] if tokens else analysed
    return tokens


def analysed_as(code: str, recipe: Recipe = DEFAULT) -> str:
    """Return the language whose rules apply to words of this one under a recipe.

    Latin words in Chinese, Japanese and Korean texts are mostly English.
    """
    if recipe.stems == "english" or not code or language_of(code).bigrams:
        return ENGLISH
    return code


def _tokenize_by_language(
    texts: Iterable[str],
    recipe: Recipe,
    languages: Iterable[str],
    stops: frozenset[str] = frozenset(),
) -> list[list[str]]:
    """Return tokens of texts, each in its language, also without `stops`."""
    if recipe.stems == "both":
        pairs = list(zip(texts, languages, strict=False))
        texts, languages = [text for text, _ in pairs], [code for _, code in pairs]
        stems = _tokenize_by_language(
            texts, _only(recipe, "language"), languages, stops
        )
        words = _tokenize_by_language(texts, _only(recipe, "none"), languages, stops)
        return [s + _others(w, s) for s, w in zip(stems, words, strict=True)]
    analysers: dict[str, _Analyser] = {}
    token_lists = []
    for text, code in zip(texts, languages, strict=False):
        if code not in analysers:
            key = analysed_as(code, recipe)
            if key not in analysers:
                analysers[key] = _Analyser(key, recipe, stops)
            analysers[code] = analysers[key]
        token_lists.append(analysers[code].tokens(text))
    return token_lists


class _Analyser:
    """Tokenises texts in one language, with a cache of words."""

    def __init__(self, code: str, recipe: Recipe, stops: frozenset[str]) -> None:
        self._stem = str if recipe.stems == "none" else make_stemmer(code)
        self._stop = stop_words(code) | stops if recipe.stop_words else frozenset[str]()
        # Indexes with the English recipe were built before character pairs existed.
        self._bigrams = recipe.stems != "english"
        self._known: dict[str, list[str]] = {}

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text, in order."""
        known, tokens = self._known, list[str]()
        folded = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'")
        if self._bigrams and not folded.isascii():
            folded = CJK_RUN.sub(_split_pairs, folded)
        for word in _TOKEN.findall(folded):
            if word not in known:
                known[word] = self._of_word(word)
            tokens += known[word]
        return tokens

    def _of_word(self, word: str) -> list[str]:
        parts = _PART.findall(word)
        whole = [word] if len(parts) > 1 else []
        return whole + [
            self._stem(part)
            for part in parts
            if part not in self._stop
            and (len(part) > 1 or part.isdigit() or CJK.match(part))
        ]


def _split_pairs(run: re.Match[str]) -> str:
    """Return a run of characters as pairs, separated; a single one unchanged."""
    text = run[0]
    pairs = (text[i : i + 2] for i in range(max(len(text) - 1, 1)))
    return f" {' '.join(pairs)} "


def _only(recipe: Recipe, stems: Stems) -> Recipe:
    return recipe.model_copy(update={"stems": stems})


def _others(words: Sequence[str], stems: Sequence[str]) -> list[str]:
    """Return the words that differ from the stem in their place."""
    return [w for w, s in zip(words, stems, strict=True) if w != s]
