"""Which of the candidates are the answer: one good sentence, seldom more."""

from collections.abc import Sequence
from dataclasses import dataclass

from elt_llm_query.analysis.definition import PLAIN, TOLD
from elt_llm_query.analysis.question import Form, Question
from elt_llm_query.analysis.term_match import match, vocabulary
from elt_llm_query.analysis.text import words
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage
from elt_llm_query.synthesizers.extractive.claim_spans import same_matter

CLOSE = 0.92  # of the best rank that a further sentence must reach
HALF = 0.5  # of the question's weight
_FIGURES = frozenset([Form.NUMBER, Form.TIME])
_WORTH = 0.35  # of coverage that a cosine may make good
_FIT = 0.3  # what the form adds to the evidence
NEARNESS = 0.2  # what closeness adds
_FEWEST_WORDS = 8  # of a sentence without a full stop


@dataclass(frozen=True)
class Scored:
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


def plain(question: Question, candidate: Candidate) -> bool:
    """True where the form alone says that the term is defined here."""
    return question.form is Form.DEFINITION and candidate.fit >= PLAIN


def in_form(
    question: Question, candidate: Candidate, passages: Sequence[Passage]
) -> bool:
    """True where it has the form asked for; for a term any whole sentence may do.

    Numbers and times stand everywhere: theirs must hold half of the question too.
    """
    if question.form in _FIGURES and candidate.coverage < HALF:
        return False
    if candidate.fit > 0 or question.form is not Form.DEFINITION:
        return candidate.fit > 0
    passage = passages[candidate.passage]
    text = passage.text[candidate.start : candidate.end]
    ended = text.rstrip("\"'\u201d)").endswith((".", "!", "?", ";"))
    return passage.whole or ended or len(words(text)) >= _FEWEST_WORDS


def unopposed(found: Sequence[Candidate]) -> list[Candidate]:
    """Those that agree with the question in what they negate.

    One that holds less of the question than a sentence that says the opposite is about
    something else.
    """
    least = max((c.own for c in found if c.opposed), default=0.0)
    return [c for c in found if not c.opposed and c.own >= least]


def worth_comparing(question: Question, found: Sequence[Candidate]) -> list[Candidate]:
    """Candidates that a cosine could put first, those with most words first."""
    ordered = sorted(
        found,
        key=lambda c: (-_told(question, c), -_words_and_form(c), c.passage, c.start),
    )
    most = max((_words_and_form(c) for c in ordered), default=0.0)
    return [
        c for c in ordered if plain(question, c) or _words_and_form(c) + _WORTH >= most
    ]


def ranked(
    question: Question, found: Sequence[Candidate], cosines: Sequence[float | None]
) -> list[Scored]:
    """Best first: what defines the term, then by evidence and form."""
    scored = [
        Scored(c, x, plain(question, c)) for c, x in zip(found, cosines, strict=True)
    ]
    return sorted(scored, key=lambda s: (-_told(question, s.candidate), -s.rank))


def chosen_of(
    good: Sequence[Scored],
    question: Question,
    passages: Sequence[Passage],
    most: int,
) -> list[Scored]:
    """The best, and what adds to it; one definition suffices."""
    if good and _told(question, good[0].candidate):
        return [good[0]]
    chosen: list[Scored] = []
    for scored in good:
        if scored.rank < CLOSE * good[0].rank or len(chosen) == most:
            break
        taken = [c.candidate for c in chosen]
        if not taken or _adds(question, scored.candidate, taken, passages):
            chosen.append(scored)
    return chosen


def with_namesakes(
    chosen: Sequence[Scored], found: Sequence[Candidate], passages: Sequence[Passage]
) -> list[Candidate]:
    """The chosen, and the same line of every other fact sheet of the first one's name.

    Their evidence differs only in how near a vector is, which says nothing of them.
    """
    taken = [s.candidate for s in chosen]
    if not taken or not passages[taken[0].passage].sheet or not _subject(taken[0]):
        return taken
    known = {c.said for c in taken}
    for candidate in sorted(found, key=lambda c: (c.passage, c.start)):
        same = _line_of(candidate) == _line_of(taken[0])
        if passages[candidate.passage].sheet and same and candidate.said not in known:
            known.add(candidate.said)
            taken.append(candidate)
    return taken


def _line_of(candidate: Candidate) -> tuple[str, str, float]:
    """Whose line of a fact sheet it is, its label, and how well it fits."""
    subject, _, line = candidate.said.partition(" - ")
    label, colon, _ = line.partition(": ")
    return subject, label if colon else "", candidate.fit


def _told(question: Question, candidate: Candidate) -> float:
    """How plainly it defines the term asked for; 0 where it only uses it."""
    asked = question.form is Form.DEFINITION and candidate.fit >= TOLD
    return candidate.fit if asked else 0.0


def _words_and_form(candidate: Candidate) -> float:
    return candidate.coverage + _FIT * candidate.fit


def _adds(
    question: Question,
    candidate: Candidate,
    taken: Sequence[Candidate],
    passages: Sequence[Passage],
) -> bool:
    """True where it answers a part of the question that the others leave open.

    Of a fact sheet that is the same line of another sheet of that name, or a relation
    not yet told.
    """
    passage, first = passages[candidate.passage], taken[0]
    if passage.sheet:
        told = " ".join(c.said for c in taken)
        names = [_subject(c) for c in (candidate, first)]
        return names[0] == names[1] and candidate.said.split(". ")[0] not in told
    if any(same_matter(candidate, c, passages) for c in taken):
        return False
    known = vocabulary(" ".join(_read_with_heading(c, passages) for c in taken))
    own = vocabulary(passage.text[candidate.start : candidate.end])
    return any(match(t, own) and not match(t, known) for t in question.weights)


def _subject(candidate: Candidate) -> str:
    """What a line of a sheet is said of; of relations and prose nothing."""
    subject, dash, _ = candidate.said.partition(" - ")
    return subject if dash else ""


def _read_with_heading(candidate: Candidate, passages: Sequence[Passage]) -> str:
    passage = passages[candidate.passage]
    text = passage.text[candidate.start : candidate.end]
    return f"{passage.heading} {passage.reading if passage.whole else ''} {text}"
