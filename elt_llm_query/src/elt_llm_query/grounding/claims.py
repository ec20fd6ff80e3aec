"""An answer cut into statements, each with its labels and quotations."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from elt_llm_core.results import Support
from elt_llm_query.analysis.negation import differ
from elt_llm_query.analysis.quantities import negations, numbers
from elt_llm_query.analysis.read_sentence import read, sentences
from elt_llm_query.analysis.stems import pieces, stems, words
from elt_llm_query.analysis.term_match import match
from elt_llm_query.grounding.quote_match import QuoteMatch

LABEL = re.compile(r"\[([SF]\d+)\]")

_AFTER_STOP = re.compile(r"([.!?][\"'\u201d\u2019)]*)((?:\s*\[[SF]\d+\])+)")
_QUOTED = re.compile(
    r"\"([^\"]{3,}?)\"|\u201c([^\u201d]{3,}?)\u201d|\u00ab([^\u00bb]{3,}?)\u00bb"
)
_FRAME_WORDS = 3


@dataclass(frozen=True)
class Statement:
    """One sentence or list item.

    `gap` is the white space before it, `text` its words with labels. A `frame` (a
    heading, "The rules say:") claims nothing itself.
    """

    gap: str
    text: str

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels in order, once each."""
        return tuple(dict.fromkeys(LABEL.findall(self.text)))

    @property
    def plain(self) -> str:
        """The text without labels and list marks."""
        bare = re.sub(r"\s*\[[SF]\d+\]", "", self.text)
        return re.sub(r"^\s*(?:[-*+\u2022]|\d{1,3}[.)])\s+|[*_`#]+", "", bare).strip()

    @property
    def quotes(self) -> tuple[str, ...]:
        """The text in quotation marks, two words or more."""
        found = (next(g for g in m if g) for m in _QUOTED.findall(self.plain))
        return tuple(q.strip() for q in found if len(words(q)) > 1)

    @property
    def frame(self) -> bool:
        """True for a lead-in, a heading or a word or two."""
        plain = self.plain
        if self.labels:
            return False
        few = len(words(plain)) <= _FRAME_WORDS
        return self.text.startswith("#") or plain.endswith(":") or few


def statements(answer: str) -> list[Statement]:
    """The statements in order; a label after a full stop belongs to what it follows."""
    text = _AFTER_STOP.sub(_before_stop, answer)
    cut: list[Statement] = []
    position = 0
    for start, end in pieces(text):
        cut.append(Statement(text[position:start], text[start:end]))
        position = end
    return cut


def _before_stop(match: re.Match[str]) -> str:
    labels = "".join(f"[{label}]" for label in LABEL.findall(match[2]))
    stop = match[1]
    if len(stop) > 1:  # the quotation closes before the label
        return f"{stop} {labels}"
    return f" {labels}{stop}"


ENOUGH = 0.6

_STOP = re.compile(
    r"[.!?](?=\s)|[,:;]\s|\s[-\u2013\u2014]\s|\n\s*\n|\b(?:but|whereas)\b"
)
_ENDS = frozenset(".!?,:;")
_LIMITS = re.compile(r"\b(?:unless|except|without)\b", re.IGNORECASE)


def supporting(claim: str, text: str, reading: str = "") -> QuoteMatch:
    """The sentence, or two together, that holds most of the claim's words.

    `FUZZY` with the share of words found, from 0.6; else `UNCITED`. `reading` is how a
    table row reads with its headers; the whole row is then the quote.
    """
    wanted = set(stems(claim))
    best = QuoteMatch(Support.UNCITED, 0.0, reason="its words are not in the source")
    if not wanted:
        return best
    for window in _windows(text, reading):
        share = _share(wanted, window.says)
        if share <= best.score:
            continue
        if not numbers(claim) <= numbers(window.says):
            best = best._replace(reason="a number is not in the source")
        elif bool(negations(claim)) != bool(negations(window.core(wanted))):
            best = best._replace(reason="a negation differs")
        elif differ(read(claim).signs, read(window.core(wanted)).signs, wanted):
            best = best._replace(reason="a word is negated in one of them")
        elif share >= ENOUGH:
            score = round(share, 4)
            best = QuoteMatch(Support.FUZZY, score, window.start, window.end)
    return best


def same_polarity(claim: str, quote: str, text: str, span: tuple[int, int]) -> bool:
    """False where claim and source disagree on a "not" around a quote.

    Compared are the clauses: of the claim the one that holds the quote, of the source
    the one that holds `span`.
    """
    place = claim.find(quote)
    span_of_quote = (place, place + len(quote)) if place >= 0 else (0, len(claim))
    return _negated(_clause(claim, span_of_quote)) == _negated(_clause(text, span))


def _clause(text: str, span: tuple[int, int]) -> str:
    """The span widened to the stops around it."""
    before = [m.end() for m in _STOP.finditer(text, 0, span[0])]
    start = before[-1] if before else 0
    if text[span[1] - 1] in _ENDS:
        return text[start : span[1]]
    after = _STOP.search(text, span[1])
    return text[start : after.start() if after else len(text)]


def _negated(text: str) -> bool:
    # "Unless" and "without" limit a statement; they do not turn it round.
    return bool(negations(_LIMITS.sub(" ", text)))


class ClaimWindow(NamedTuple):
    """A span of a source, and the sentences it says."""

    start: int
    end: int
    sentences: tuple[str, ...]

    @property
    def says(self) -> str:
        """All of it."""
        return " ".join(self.sentences)

    def core(self, wanted: set[str]) -> str:
        """The sentence with most of the wanted words: its "not" counts."""
        return max(self.sentences, key=lambda sentence: _share(wanted, sentence))


def _share(wanted: set[str], text: str) -> float:
    known = read(text).stems
    return sum(match(word, known) for word in wanted) / len(wanted)


def _windows(text: str, reading: str) -> Iterator[ClaimWindow]:
    """Each sentence, then each two neighbours; a table row is one sentence."""
    if reading:
        yield ClaimWindow(0, len(text), (f"{reading} {text}",))
        return
    parts = sentences(text)
    for size in (1, 2):
        for i in range(len(parts) - size + 1):
            window = parts[i : i + size]
            texts = tuple(sentence.text for sentence in window)
            yield ClaimWindow(window[0].start, window[-1].end, texts)
