"""Which of the candidates are the answer: one good sentence, seldom more."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from elt_llm_core.errors import EmbedError, ModelError
from elt_llm_query.analysis.definition import PLAIN, TOLD
from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.term_match import match
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage
from elt_llm_query.synthesizers.extractive.claim_spans import say_the_same

# Share of the best rank that a further sentence must reach: one good sentence is an
# answer, and a second one has to be about as good. Set by hand. What this and the other
# thresholds do when halved and doubled: docs/explanation/measurements.md, "Thresholds".
CLOSE = 0.92
HALF = 0.5  # of the question's weight
_FIGURES = frozenset([Form.NUMBER, Form.TIME])
# How much coverage a cosine may make good: what is further behind is not embedded.
_WORTH = 0.35
# Form and closeness order sentences of like evidence (0 to 2); they do not outweigh it.
# Both are set by hand.
_FIT = 0.3
NEARNESS = 0.2
_FEWEST_WORDS = 8  # of a sentence without a full stop


@dataclass(frozen=True)
class ScoredCandidate:
    """A candidate and its cosine to the question; None where nothing was embedded.

    A `plain` one is a definition by its form alone.
    """

    candidate: Candidate
    cosine: float | None
    plain: bool = False

    @property
    def evidence(self) -> float:
        """Coverage plus cosine, 0 to 2."""
        return self.candidate.coverage + (self.cosine or 0.0)

    @property
    def rank(self) -> float:
        """Evidence, form and closeness: what puts the best sentence first."""
        form = _FIT * self.candidate.fit + NEARNESS * self.candidate.close
        return self.evidence + form


def plain(question: QuestionAnalysis, candidate: Candidate) -> bool:
    """True where the form alone says that the term is defined here."""
    return question.form is Form.DEFINITION and candidate.fit >= PLAIN


def keep_in_form(
    question: QuestionAnalysis,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """Return the candidates that have the form which the question asks for."""
    return [c for c in candidates if _in_form(question, c, passages)]


def _in_form(
    question: QuestionAnalysis, candidate: Candidate, passages: Sequence[Passage]
) -> bool:
    """True where it has the form asked for; for a term any whole sentence may do.

    Numbers and times are everywhere: theirs must hold half of the question too.
    """
    if question.form in _FIGURES and candidate.coverage < HALF:
        return False
    if candidate.fit > 0 or question.form is not Form.DEFINITION:
        return candidate.fit > 0
    text = candidate.text_in(passages)
    ended = text.rstrip("\"'\u201d)").endswith((".", "!", "?", ";"))
    whole = passages[candidate.passage].whole
    return whole or ended or len(read(text).words) >= _FEWEST_WORDS


def keep_proven(
    ranked: Sequence[ScoredCandidate], threshold: float, lexical_threshold: float
) -> list[ScoredCandidate]:
    """Return the candidates with evidence enough to be an answer.

    Args:
        ranked: Candidates, best first.
        threshold: Coverage plus cosine that an answer needs.
        lexical_threshold: Coverage that it needs where nothing was embedded.
    """
    return [
        s
        for s in ranked
        if s.plain
        or (s.cosine is None and s.candidate.coverage >= lexical_threshold)
        or (s.cosine is not None and s.evidence >= threshold)
    ]


def drop_opposed(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that agree with the question in what they negate.

    One that holds less of the question than a sentence that says the opposite is about
    something else.
    """
    least = max((c.own for c in candidates if c.opposed), default=0.0)
    return [c for c in candidates if not c.opposed and c.own >= least]


def worth_comparing(
    question: QuestionAnalysis, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Candidates that a cosine could put first, those with most words first."""
    ordered = sorted(
        candidates,
        key=lambda c: (
            -_definition_grade(question, c),
            -_words_and_form(c),
            c.passage,
            c.start,
        ),
    )
    most = max((_words_and_form(c) for c in ordered), default=0.0)
    return [
        c for c in ordered if plain(question, c) or _words_and_form(c) + _WORTH >= most
    ]


def rank(
    question: QuestionAnalysis,
    candidates: Sequence[Candidate],
    cosines: Sequence[float | None],
) -> list[ScoredCandidate]:
    """Best first: what defines the term, then by evidence and form."""
    scored = [
        ScoredCandidate(c, x, plain(question, c))
        for c, x in zip(candidates, cosines, strict=True)
    ]
    return sorted(
        scored, key=lambda s: (-_definition_grade(question, s.candidate), -s.rank)
    )


def choose(
    good: Iterable[ScoredCandidate],
    question: QuestionAnalysis,
    passages: Sequence[Passage],
    most: int,
) -> list[ScoredCandidate]:
    """The best, and what adds to it; one definition suffices.

    No more of `good` is read than is needed to decide that.
    """
    chosen: list[ScoredCandidate] = []
    for scored in good:
        if not chosen and _definition_grade(question, scored.candidate):
            return [scored]
        if chosen and scored.rank < CLOSE * chosen[0].rank:
            break
        taken = [c.candidate for c in chosen]
        if not taken or _adds(question, scored.candidate, taken, passages):
            chosen.append(scored)
        if len(chosen) == most:
            break
    return chosen


def with_namesakes(
    chosen: Sequence[ScoredCandidate],
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """The chosen, and the same line of every other fact sheet of the first one's name.

    Their evidence differs only in how near a vector is, which says nothing of them.
    """
    taken = [s.candidate for s in chosen]
    if not taken or not passages[taken[0].passage].sheet or not _subject(taken[0]):
        return taken
    known = {c.wording for c in taken}
    for candidate in sorted(candidates, key=lambda c: (c.passage, c.start)):
        same = _line_of(candidate) == _line_of(taken[0])
        if (
            passages[candidate.passage].sheet
            and same
            and candidate.wording not in known
        ):
            known.add(candidate.wording)
            taken.append(candidate)
    return taken


def _line_of(candidate: Candidate) -> tuple[str, str, float]:
    """Whose line of a fact sheet it is, its label, and how well it fits."""
    subject, _, line = candidate.wording.partition(" - ")
    label, colon, _ = line.partition(": ")
    return subject, label if colon else "", candidate.fit


def _definition_grade(question: QuestionAnalysis, candidate: Candidate) -> float:
    """How plainly it defines the term asked for; 0 where it only uses it."""
    asked = question.form is Form.DEFINITION and candidate.fit >= TOLD
    return candidate.fit if asked else 0.0


def _words_and_form(candidate: Candidate) -> float:
    return candidate.coverage + _FIT * candidate.fit


def _adds(
    question: QuestionAnalysis,
    candidate: Candidate,
    taken: Sequence[Candidate],
    passages: Sequence[Passage],
) -> bool:
    """True where it answers a part of the question that the others leave open.

    Of a fact sheet that is the same line of another sheet of that name, or a relation
    not yet given.
    """
    passage, first = passages[candidate.passage], taken[0]
    if passage.sheet:
        wordings = " ".join(c.wording for c in taken)
        names = [_subject(c) for c in (candidate, first)]
        return names[0] == names[1] and candidate.wording.split(". ")[0] not in wordings
    if any(say_the_same(candidate, c, passages) for c in taken):
        return False
    known = read(" ".join(_with_heading(c, passages) for c in taken)).stems
    own = read(candidate.text_in(passages)).stems
    return any(match(t, own) and not match(t, known) for t in question.weights)


def _subject(candidate: Candidate) -> str:
    """What a line of a sheet is said of; of relations and prose nothing."""
    subject, dash, _ = candidate.wording.partition(" - ")
    return subject if dash else ""


def _with_heading(candidate: Candidate, passages: Sequence[Passage]) -> str:
    passage = passages[candidate.passage]
    text = candidate.text_in(passages)
    return f"{passage.heading} {passage.reading if passage.whole else ''} {text}"


# Cosine below which no word of a source can replace a word of the question. Set by
# hand for the embedded model: half as much answers more questions, and more wrongly.
FAR = 0.4
_MOST_WORDS = 400  # of a source that are compared, to bound what is embedded


def lacks_a_word(
    question: QuestionAnalysis, text: str, embedder: BaseEmbedding | None
) -> bool:
    """Return whether a telling word of the question is foreign to a text.

    It is if the text holds neither the word nor one of similar meaning. Common words
    are never foreign.

    Args:
        question: What is asked.
        text: The sentence with what is around it.
        embedder: Compares words; without one nothing is foreign, and coverage decides.
    """
    source = read(text)
    telling = {s for s, weight in question.weights.items() if weight == 1}
    asked = question.read
    missing = [
        word
        for word, word_stem in zip(asked.words, asked.stem_list, strict=True)
        if word_stem in telling and not match(word_stem, source.stems)
    ]
    if not missing or embedder is None:
        return False
    try:
        known = np.array(
            embedder.get_text_embedding_batch(
                _content_words(source.words)[:_MOST_WORDS]
            )
        )
        wanted = np.array([embedder.get_query_embedding(word) for word in missing])
    except (ModelError, EmbedError):
        return False
    lengths = np.outer(np.linalg.norm(wanted, axis=1), np.linalg.norm(known, axis=1))
    cosines = wanted @ known.T / np.maximum(lengths, 1e-12)
    return bool((cosines.max(axis=1) < FAR).any())


def _content_words(written: Iterable[str]) -> list[str]:
    lowered = (w.lower() for w in written)
    return list(dict.fromkeys(w for w in lowered if w not in STOP_WORDS)) or ["a"]
