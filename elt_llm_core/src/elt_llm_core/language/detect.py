"""Detect the language of a text.

Scripts and function words decide if they can; the detector, which takes a second to
load, decides the rest. It is deterministic and needs no network.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from threading import Lock
from typing import Any, NamedTuple

from elt_llm_core.language.languages import CJK, ENGLISH, HANGUL, KANA, LANGUAGES
from elt_llm_core.language.stop_words import stop_words

# Letters from which the detector alone is reliable: of 2,603 English passages of a rule
# book it was wrong on one of fifty letters or more, and on 51 shorter ones.
LONG = 60
LEAST = 20  # letters of a document below which the detector takes "SUMMARY" for Swedish
READ = 1_000  # characters that suffice for detection
SURE = 0.5  # its wrong guesses on short texts had a confidence of at most 0.34
# Minimum share of a document's letters for a second language. Below, it is a quotation
# or a wrong guess.
SHARE = 0.1
# Running English has 35 to 45 function words in a hundred, German and Spanish under 10.
ENGLISH_SHARE = 0.3
WIDTH = 3  # letters that one Chinese, Japanese or Korean character counts as
KANA_SHARE = 0.05  # minimum share of kana: Japanese has far more, Chinese quotes a few
# Share of function words from which they alone decide. Of 951 sentences of XQuAD (de,
# en, es) with four words and more it decides 857, none wrongly.
DECIDING_SHARE = 0.3
VOTES = 2  # number of function words that decide without the detector

_LOADING = Lock()
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")


class Guess(NamedTuple):
    """A language and its confidence, 0 to 1."""

    language: str
    confidence: float


def detect(text: str) -> Guess:
    """Return the most likely language of a text; English with 0 without letters."""
    text = text[:READ]
    if script := _script(text):
        return Guess(script, 1.0)
    words = [word.lower() for word in _WORD.findall(text)]
    if not words:
        return Guess(ENGLISH, 0.0)
    english = stop_words(ENGLISH)
    if sum(word in english for word in words) >= ENGLISH_SHARE * len(words):
        return Guess(ENGLISH, 1.0)
    return _model_guess(text)


def document_language(text: str) -> str:
    """Return the main language of a document; English if uncertain."""
    step = max(len(text) // 8, READ)  # some places of a long text
    starts = range(0, max(len(text), 1), step)
    languages = chunk_languages([text[start : start + READ] for start in starts])
    counts = Counter(languages)
    return max(sorted(counts), key=counts.__getitem__)


def chunk_languages(texts: Sequence[str]) -> list[str]:
    """Return the language of each chunk of one document, in reading order.

    A chunk that is too short, or in a language that is rare in the document, gets the
    language of the text before it.
    """
    sizes = [_letters(text) for text in texts]
    guesses = [
        detect(text).language if size >= LONG else ""
        for text, size in zip(texts, sizes, strict=True)
    ]
    weights: Counter[str] = Counter()
    for language, size in zip(guesses, sizes, strict=True):
        weights[language] += size if language else 0
    least = SHARE * weights.total()
    believed = {code for code, weight in weights.items() if code and weight >= least}
    if not believed:
        return [_of_little(texts)] * len(texts)
    last = next(code for code in guesses if code in believed)
    return [last := code if code in believed else last for code in guesses]


def question_language(text: str, among: Iterable[str] = ()) -> str:
    """Return the language of a question, or an empty string if uncertain.

    `among` are the languages of the collections: Chinese characters alone may be
    Chinese or Japanese.
    """
    known = set(among)
    if script := _script(text):
        return "ja" if script == "zh" and "ja" in known - {"zh"} else script
    words = {word.lower() for word in _WORD.findall(text)}
    votes = Counter(
        {code: len(words & stop_words(code)) for code in sorted(LANGUAGES)}
    ).most_common(2)
    (best, most), (_, second) = votes
    if most >= VOTES and most > second:
        return best
    guess = _model_guess(text)
    return guess.language if guess.confidence >= SURE else ""


def function_word_languages(text: str) -> frozenset[str]:
    """Return the languages that script or function words decide, else none.

    Several if they have the same words, such as Swedish and Norwegian. The detector is
    not asked, so that it suits many short texts.
    """
    if script := _script(text):
        return frozenset([script])
    words = [word.lower() for word in _WORD.findall(text[:READ])]
    english = stop_words(ENGLISH)
    if words and sum(w in english for w in words) >= ENGLISH_SHARE * len(words):
        return frozenset([ENGLISH])
    votes = Counter(chain.from_iterable(_by_function_word().get(w, ()) for w in words))
    most = max(votes.values(), default=0)
    if not most or most < DECIDING_SHARE * len(words):
        return frozenset()
    return frozenset(code for code, count in votes.items() if count == most)


@cache
def _by_function_word() -> dict[str, list[str]]:
    """Return the languages of each function word."""
    languages: dict[str, list[str]] = {}
    for code in LANGUAGES:
        for word in stop_words(code):
            languages.setdefault(word, []).append(code)
    return languages


def _of_little(texts: Sequence[str]) -> str:
    """Return the language of a document without long texts, from all of them."""
    whole = " ".join(texts)
    guess = detect(whole)
    sure = guess.confidence >= SURE and _letters(whole) >= LEAST
    return guess.language if sure else ENGLISH


def _script(text: str) -> str:
    """Return the language if its script alone determines it."""
    if text.isascii():
        return ""
    characters = len(CJK.findall(text))
    others = sum(map(len, _WORD.findall(CJK.sub(" ", text))))
    if not characters or WIDTH * characters < others:
        return ""
    if 2 * len(HANGUL.findall(text)) > characters:
        return "ko"
    return "ja" if len(KANA.findall(text)) >= KANA_SHARE * characters else "zh"


def _letters(text: str) -> int:
    text = text[:READ]
    plain = sum(map(len, chain(_WORD.findall(text))))
    return plain if text.isascii() else plain + (WIDTH - 1) * len(CJK.findall(text))


def _model_guess(text: str) -> Guess:
    with _LOADING:  # two threads load it only once
        model = _model()
    language, confidence = model.classify(text)
    return Guess(str(language), float(confidence))


@cache
def _model() -> Any:
    # Imported here: it takes a second and about 60 MB, which few questions need.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415

    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    # Only the languages distinguished here, of the 140 it knows: "permiso" is not
    # Galician.
    model.set_languages(sorted(LANGUAGES))
    return model
