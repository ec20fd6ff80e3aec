"""Sentences that may answer a question, and how well each does.

A candidate is a verbatim piece of one source. Its own words count fully, those of its
heading, its neighbours and the rest of its source less.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from elt_llm_query.synthesizers.question import Form, Question, synonyms
from elt_llm_query.text import pieces, stem, words
from elt_llm_query.verify import numbers
from elt_llm_query.words import FREQUENCY, LOWER, MONTHS, PARTS, TIME_UNITS, UPPER

Vocabulary = frozenset[str]
Layers = Sequence[tuple[Vocabulary, float]]

OWN, HEADING, NEIGHBOUR, REST = 1.0, 0.75, 0.6, 0.4
SYNONYM, ROOT = 0.85, 0.5
_ROOT_LENGTH = 5
_LONGEST_ENDING = 4
_TIME_WORDS = MONTHS | TIME_UNITS
_TEMPORAL = frozenset(
    ["before", "after", "until", "within", "once", "when", "during", "upon", "while"]
)
_FREQUENCY = frozenset(map(stem, FREQUENCY))
_UPPER = re.compile(
    rf"\b(?:{'|'.join(UPPER)}|(?:no|not)\s+(?:more|later|longer)\s+than"
    r"|not\s+exceed\w*|up\s+to)\b",
    re.IGNORECASE,
)
_LOWER = re.compile(
    rf"\b(?:{'|'.join(LOWER)}|(?:no|not)\s+(?:less|fewer|earlier|shorter)\s+than)\b",
    re.IGNORECASE,
)
_OF_RULES = re.compile(
    rf"^\W*\d[\w.]*[.)]?(?=\s)|\b(?:{'|'.join(PARTS)})s?\.?\s+\d[\w.]*", re.IGNORECASE
)
_DATE = re.compile(r"\b\d{4}\b|\d+[:/.]\d+")


@dataclass(frozen=True)
class Passage:
    """One source as the synthesizer reads it.

    `text` is verbatim and quoted from; `heading` is where it stands (title, section);
    `reading` is searched where it says more than the text (a table row with its
    headers). A `whole` passage is quoted as one piece. `about` holds words that name
    what kind of thing it is.
    """

    label: str
    node_id: str
    text: str
    heading: str = ""
    reading: str = ""
    whole: bool = False
    about: str = ""


@dataclass(frozen=True)
class Candidate:
    """`passages[passage].text[start:end]`.

    `coverage` of the question's words and `fit` to the form it asks for are 0 to 1.
    """

    passage: int
    start: int
    end: int
    coverage: float
    fit: float


def vocabulary(text: str) -> Vocabulary:
    """Stems of all words of a text."""
    return frozenset(stem(w) for w in words(text))


def passage_vocabulary(passage: Passage) -> Vocabulary:
    """Stems of a source with its heading."""
    return vocabulary(
        f"{passage.heading} {passage.about} {passage.reading} {passage.text}"
    )


def rarity(question: Question, vocabularies: Sequence[Vocabulary]) -> dict[str, float]:
    """Weight of each stem, most where no source has it.

    Less where the word is common, in English or in these sources.
    """
    count = len(vocabularies)
    found = {}
    for term, weight in question.weights.items():
        df = sum(1 for v in vocabularies if match(term, v) > 0)
        idf = math.log(1 + (count - df + 0.5) / (df + 0.5)) / math.log(2 * count + 2)
        found[term] = weight * (0.4 + 0.6 * idf)
    return found


def match(term: str, vocabulary: Vocabulary) -> float:
    """1 where the stem is there, less for a synonym or a word of the same root."""
    if term in vocabulary:
        return 1.0
    if synonyms(term) & vocabulary:
        return SYNONYM
    if len(term) >= _ROOT_LENGTH and any(_same_root(term, v) for v in vocabulary):
        return ROOT
    return 0.0


def coverage(weights: Mapping[str, float], layers: Layers) -> float:
    """Share of the weights whose stems are found, each in its best layer; 0 to 1."""
    total = sum(weights.values())
    if not total:
        return 0.0
    got = sum(
        weight * max(share * match(term, layer) for layer, share in layers)
        for term, weight in weights.items()
    )
    return got / total


def candidates(
    question: Question, passages: Sequence[Passage], weights: Mapping[str, float]
) -> list[Candidate]:
    """Pieces in reading order, without those far from what the question names."""
    found: list[Candidate] = []
    for index, passage in enumerate(passages):
        spans = _spans(passage)
        own = [vocabulary(_read(passage, s)) for s in spans]
        heading = vocabulary(f"{passage.heading} {passage.about}")
        rest = frozenset().union(*own)
        for place, (start, end) in enumerate(spans):
            near = frozenset().union(*own[max(place - 1, 0) : place + 2])
            if any(not match(n, near | heading) for n in question.names):
                continue  # what the question names stands elsewhere in the source
            layers = (
                (own[place], OWN),
                (heading, HEADING),
                (near, NEIGHBOUR),
                (rest, REST),
            )
            fit = form_fit(question, _read(passage, (start, end)))
            found.append(Candidate(index, start, end, coverage(weights, layers), fit))
    return found


def form_fit(question: Question, text: str) -> float:
    """1 where the text has the form asked for, 0 where it lacks it, else one half.

    A number that the question itself names answers nothing, nor does that of a rule; a
    lower bound does not answer a question for an upper one.
    """
    text = _OF_RULES.sub(" ", text)
    if _wrong_bound(question, text):
        return 0.0
    if question.form is Form.NUMBER:
        counted = bool(numbers(text) - numbers(question.text))
        return float(counted or not vocabulary(text).isdisjoint(_FREQUENCY))
    if question.form is Form.TIME:
        lowered = {w.lower() for w in words(text)}
        timed = not lowered.isdisjoint(_TIME_WORDS | _TEMPORAL)
        return float(timed or bool(_DATE.search(text)))
    if question.form is Form.DEFINITION:
        return float(defines(question.term, text))
    return 0.5


def _wrong_bound(question: Question, text: str) -> bool:
    """True where an upper bound is asked for and a lower one told, or the reverse."""
    for asked, told in ((_UPPER, _LOWER), (_LOWER, _UPPER)):
        if asked.search(question.text) and not told.search(question.text):
            return bool(told.search(text)) and not asked.search(text)
    return False


def defines(term: str, text: str) -> bool:
    """True where the text says what the term is: "X means", "X is a", "X: ..."."""
    name = r"\W+".join(re.escape(w) + r"(?:s|es)?" for w in words(term))
    told = (
        r"(?:\s*\([^)]{1,80}\))?[\"'\u201d\u2019*]*"
        r"(?:\s*\t|\s*[:\u2014\u2013]|\s+-\s|,?\s+(?:shall\s+)?(?:means?|is|are|was|were"
        r"|refers?\s+to|denotes?|stands?\s+for|describes?|commonly)\b|\s*\()"
    )
    opening = r"^\W*(?:(?:\d[\w.]*\)?|[a-z]\)|an?|the|term)\W+)*"
    if re.search(opening + name + told, text, re.IGNORECASE):
        return True
    backwards = (
        rf"\b(?:called|known\s+as|termed|defined\s+as)\W+(?:an?\s+|the\s+)?{name}\b"
    )
    bracketed = rf"\(\W*{name}\W*\)"
    if term.isupper():
        bracketed += rf"|\b{name}\W?\s*\([A-Za-z][^)]{{3,80}}\)"
    return bool(re.search(f"{backwards}|{bracketed}", text, re.IGNORECASE))


def _same_root(one: str, other: str) -> bool:
    if len(other) < _ROOT_LENGTH or one[:_ROOT_LENGTH] != other[:_ROOT_LENGTH]:
        return False
    short, long = sorted((len(one), len(other)))
    shared = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), short
    )
    return shared >= short - 1 and long - shared <= _LONGEST_ENDING


def _spans(passage: Passage) -> list[tuple[int, int]]:
    if passage.whole:
        return [(0, len(passage.text))]
    return [(p.start, p.end) for p in pieces(passage.text)]


def _read(passage: Passage, span: tuple[int, int]) -> str:
    if passage.whole and passage.reading:
        return passage.reading
    return passage.text[span[0] : span[1]]
