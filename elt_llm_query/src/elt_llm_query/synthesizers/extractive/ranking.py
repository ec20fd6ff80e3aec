"""Choose the answer among the candidates: one good sentence, seldom more."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from elt_llm_query.analysis.definition import PLAIN, TOLD
from elt_llm_query.analysis.lexicon import NEGATIONS, STOP_WORDS
from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import match
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage
from elt_llm_query.synthesizers.extractive.claim_spans import say_the_same
from elt_llm_query.synthesizers.extractive.form_fit import UNCOUNTED

# Share of the best rank that a further sentence must reach: one good sentence is an
# answer, and a second one must be about as good. Set by hand. The effects of halving
# and doubling this and the other thresholds: "Thresholds" in
# measurements/answer-choice.md.
CLOSE = 0.92
# The same for sentences: of those half as probable, about every second one was marked
# as an answer.
CLOSE_SENTENCE = 0.5
HALF = 0.5  # of the question's weight
_FIGURES = frozenset([Form.NUMBER, Form.TIME])
# Form and closeness order sentences of similar evidence (0 to 2); they do not outweigh
# it. Both are set by hand.
_FIT = 0.3
NEARNESS = 0.2
_FEWEST_WORDS = 8  # of a sentence without a full stop
_NO_SUBJECT = re.compile(r"\W*(?:means|denotes|refers\s+to)\b")
_IN_BRACKETS = re.compile(r"\(([^()]*)\)")
_OF_RULE = re.compile(r"^\s*\S*\d\S*\s")  # the number that a rule begins with


class EvidenceLimits(Protocol):
    """The required evidence; see `ExtractiveOptions`."""

    @property
    def most(self) -> int:
        """The maximum number of sentences of an answer."""

    @property
    def sure(self) -> float:
        """The least probability of the chosen sentence or row as the answer."""

    @property
    def sure_lacking(self) -> float:
        """The same if its source lacks a word of the question."""

    @property
    def certain(self) -> float:
        """The probability below which the answer says that it is not certain."""

    @property
    def certain_lacking(self) -> float:
        """The same if its source lacks a word of the question."""

    @property
    def threshold(self) -> float:
        """The least coverage plus cosine of a row or sheet."""

    @property
    def lexical_threshold(self) -> float:
        """The least coverage of a row or sheet without embeddings."""


@dataclass(frozen=True)
class ScoredCandidate:
    """A candidate and its evidence as an answer.

    Attributes:
        candidate: The piece of a passage.
        cosine: Its cosine to the question; None without embeddings.
        plain: Whether it is a definition by its form alone.
        sure: For a sentence or row, the probability that the best one answers, scaled
            by the share of this one relative to the best; None for a sheet.
        lacking: Whether the source of a sentence or row lacks a content word of the
            question.
        whole: Whether it is a row or sheet, for which evidence suffices.
        rivalled: Whether another row has a content word of the question that it lacks.
        read: Log odds of the sentence reader that it answers; None if it was not read.
        match: How well its words and those of its headings match the question, at most
            1; None without token vectors.
        weakest_match: The same of the question's word that matches worst.
    """

    candidate: Candidate
    cosine: float | None
    plain: bool = False
    sure: float | None = None
    lacking: bool = False
    whole: bool = False
    rivalled: bool = False
    read: float | None = None
    match: float | None = None
    weakest_match: float | None = None

    @property
    def evidence(self) -> float:
        """Return coverage plus cosine, 0 to 2."""
        return self.candidate.coverage + (self.cosine or 0.0)

    @property
    def rank(self) -> float:
        """Return the sort key, 0 to 2; for sheets evidence, form and closeness."""
        if self.sure is not None:
            return 2 * self.sure
        form = _FIT * self.candidate.fit + NEARNESS * self.candidate.close
        return self.evidence + form


def is_definition_by_form(question: QuestionAnalysis, candidate: Candidate) -> bool:
    """Return True if the form alone shows that the term is defined here."""
    return question.form is Form.DEFINITION and candidate.fit >= PLAIN


def keep_in_form(
    question: QuestionAnalysis,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """Return the candidates with the form that the question asks for."""
    return [c for c in candidates if _in_form(question, c, passages)]


def _in_form(
    question: QuestionAnalysis, candidate: Candidate, passages: Sequence[Passage]
) -> bool:
    """Return False if the requested form is missing; the scorer judges other prose.

    Numbers are common in tables, so their rows must also contain half of the question.
    For a term any whole sentence is accepted.
    """
    passage = passages[candidate.passage]
    if not passage.whole:
        return _may_be_scored(question, candidate, passages)
    if question.form in _FIGURES and candidate.coverage < HALF:
        return False
    named = passage.sheet or _is_named(passage, question)
    return candidate.fit > 0 or (bool(question.term) and named)


def _is_named(passage: Passage, question: QuestionAnalysis) -> bool:
    """Return True for the table "Mooring fee" if the question asks what that fee is."""
    if not passage.parts:
        return False
    term = read(question.term)
    about = passage.section.rpartition(" > ")[2]
    if len(term.words) > 1:  # one word occurs in many headers: "Class of boat"
        about += f" {passage.reading_of_head}"
    return term.stems <= read(about).stems


def _may_be_scored(
    question: QuestionAnalysis, candidate: Candidate, passages: Sequence[Passage]
) -> bool:
    """Return False for a fragment, and for text without a requested number or term."""
    text = f"{candidate.text_in(passages)}\n{candidate.below}".rstrip()
    if question.form is Form.NUMBER:
        return candidate.fit >= UNCOUNTED
    if question.amount and not candidate.fit:
        return False
    if question.form is not Form.YES_NO and _says_nothing_new(question, text):
        return False
    if question.form is Form.DEFINITION and not _names_term(
        question, candidate, passages
    ):
        return False
    ended = text.rstrip("\"'\u201d)").endswith((".", "!", "?", ";", ":"))
    long = len(read(text).words) >= _FEWEST_WORDS
    return is_definition_by_form(question, candidate) or ended or long


def _names_term(
    question: QuestionAnalysis, candidate: Candidate, passages: Sequence[Passage]
) -> bool:
    """Return whether a sentence or its section has a word of the term to define.

    An entry of a glossary without its term ("means a connected property ...") defines
    its heading, and no other term.
    """
    section = read(passages[candidate.passage].section).stems
    if _NO_SUBJECT.match(candidate.text_in(passages)):
        return is_heading_of(question.term, passages[candidate.passage].section)
    return candidate.own > 0 or any(match(w, section) for w in question.weights)


def is_heading_of(term: str, section: str) -> bool:
    """Return whether the last heading of a section is the term, or has it in brackets.

    A heading without a word of its own, as "4.2", may be of anything.

    Args:
        term: The term.
        section: The path of the section.
    """
    last = section.rpartition(">")[2]
    names = [_IN_BRACKETS.sub(" ", last), *_IN_BRACKETS.findall(last)]
    asked = read(term).stem_list
    return any(_words_of(name) == asked for name in names) or not _words_of(last)


def _words_of(heading: str) -> tuple[str, ...]:
    """Return the stems of a heading without its number."""
    return read(_OF_RULE.sub("", heading)).stem_list


def _says_nothing_new(question: QuestionAnalysis, text: str) -> bool:
    """Return True for a line that only names the subject, as the head of a list."""
    matter, line = frozenset(question.weights), read(_OF_RULE.sub("", text))
    if line.lower_words & NEGATIONS or line.numbers - question.read.numbers:
        return False
    return all(w.lower() in STOP_WORDS or match(stem(w), matter) for w in line.words)


def keep_proven(
    ranked: Sequence[ScoredCandidate], limits: EvidenceLimits
) -> list[ScoredCandidate]:
    """Return the candidates with enough evidence to be an answer.

    Args:
        ranked: Candidates, best first.
        limits: The required evidence.
    """
    chosen = max(
        (s for s in ranked if s.sure is not None),
        key=lambda s: s.sure or 0.0,
        default=None,
    )
    answered = chosen is not None and (chosen.sure or 0.0) >= (
        limits.sure_lacking if chosen.lacking else limits.sure
    )
    return [s for s in ranked if s.plain or _is_proven(s, limits, answered=answered)]


def is_unsure(scored: ScoredCandidate, limits: EvidenceLimits) -> bool:
    """Return whether a chosen candidate may answer another question.

    A definition by its form is certain; a row of a table is so only by its probability,
    however many words of the question it has.
    """
    if scored.sure is None or scored.plain:
        return False
    return scored.sure < (limits.certain_lacking if scored.lacking else limits.certain)


def _is_proven(
    scored: ScoredCandidate, limits: EvidenceLimits, *, answered: bool
) -> bool:
    if answered and scored.sure is not None:
        return True
    if not scored.whole or scored.rivalled:
        return False
    if scored.cosine is None:
        return scored.candidate.coverage >= limits.lexical_threshold
    return scored.evidence >= limits.threshold


def drop_opposed(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with the same polarity as the question.

    A candidate that contains less of the question than a sentence of opposite polarity
    has a different subject.
    """
    least = max((c.own for c in candidates if c.opposed), default=0.0)
    return [c for c in candidates if not c.opposed and c.own >= least]


def worth_comparing(
    question: QuestionAnalysis, candidates: Sequence[Candidate], most: int
) -> list[Candidate]:
    """Return the candidates with the best words and form, for comparison by meaning.

    Args:
        question: The question.
        candidates: Pieces of the passages.
        most: Maximum number of candidates.
    """
    return sorted(
        candidates,
        key=lambda c: (
            -_definition_grade(question, c),
            -_words_and_form(c),
            c.passage,
            c.start,
        ),
    )[:most]


def rank(
    question: QuestionAnalysis, scored: Iterable[ScoredCandidate]
) -> list[ScoredCandidate]:
    """Return candidates best first: definitions of the term, then by rank."""
    return sorted(
        scored, key=lambda s: (-_definition_grade(question, s.candidate), -s.rank)
    )


def choose(
    good: Iterable[ScoredCandidate],
    question: QuestionAnalysis,
    passages: Sequence[Passage],
    limits: EvidenceLimits,
) -> list[ScoredCandidate]:
    """Return the best candidate and those that add to it.

    One definition suffices, and one number; the description of a fact sheet is quoted
    below the sentence that defines the term. No more of `good` is read than needed.
    """
    chosen: list[ScoredCandidate] = []
    for scored in good:
        if not chosen and _definition_grade(question, scored.candidate):
            described = passages[scored.candidate.passage].sheet
            defined = _defining(good, question, limits) if described else None
            return [defined, scored] if defined else [scored]
        if chosen and not _is_as_good(scored, chosen[0], question, limits):
            break
        taken = [c.candidate for c in chosen]
        if not taken or _adds(question, scored.candidate, taken, passages):
            chosen.append(scored)
        if len(chosen) == limits.most:
            break
    return chosen


def _defining(
    rest: Iterable[ScoredCandidate], question: QuestionAnalysis, limits: EvidenceLimits
) -> ScoredCandidate | None:
    """Return the sentence that surely defines the term, if there is one."""
    for scored in rest:
        if not _definition_grade(question, scored.candidate):
            return None
        if scored.sure is not None and scored.sure >= limits.certain:
            return scored
    return None


def _is_as_good(
    scored: ScoredCandidate,
    best: ScoredCandidate,
    question: QuestionAnalysis,
    limits: EvidenceLimits,
) -> bool:
    """Return whether a further sentence or row may be quoted with the best one.

    A second number would be another answer to the same question.
    """
    if scored.sure is None or best.sure is None:
        return scored.rank >= CLOSE * best.rank
    if question.form is Form.NUMBER and not scored.whole:
        return False
    return scored.sure >= max(limits.sure, CLOSE_SENTENCE * best.sure)


def with_namesakes(
    chosen: Sequence[ScoredCandidate],
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """Return the chosen, and the same line of every other sheet of the same name.

    Their evidence differs only by the distance of a vector, which is no reason to
    prefer one.
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
    """Return the sheet of a line, its label, and its fit."""
    subject, _, line = candidate.wording.partition(" - ")
    label, colon, _ = line.partition(": ")
    return subject, label if colon else "", candidate.fit


def _definition_grade(question: QuestionAnalysis, candidate: Candidate) -> float:
    """Return how explicitly it defines the term; 0 if it only uses it."""
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
    """Return True if it answers a part of the question that the others leave open.

    For a fact sheet, that is the same line of another sheet of that name, or another
    relation.
    """
    passage, first = passages[candidate.passage], taken[0]
    if passage.sheet:
        wordings = " ".join(c.wording for c in taken)
        names = [_subject(c) for c in (candidate, first)]
        return names[0] == names[1] and candidate.wording.split(". ")[0] not in wordings
    if any(say_the_same(candidate, c, passages) for c in taken):
        return False
    if not passage.whole:
        return True
    known = read(" ".join(_with_heading(c, passages) for c in taken)).stems
    own = read(candidate.text_in(passages)).stems
    return any(match(t, own) and not match(t, known) for t in question.weights)


def _subject(candidate: Candidate) -> str:
    """Return the subject of a line of a sheet; for relations and prose nothing."""
    subject, dash, _ = candidate.wording.partition(" - ")
    return subject if dash else ""


def _with_heading(candidate: Candidate, passages: Sequence[Passage]) -> str:
    passage = passages[candidate.passage]
    text = candidate.text_in(passages)
    return f"{passage.heading} {passage.reading if passage.whole else ''} {text}"
