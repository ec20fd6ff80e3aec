"""Sentences that may answer a question, with how well they cover its words.

A candidate is a verbatim piece of one source. Its own words count fully; words of its
heading, its neighbours and the rest of its source count less.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Protocol

from elt_llm_core.provenance import RuleSpan
from elt_llm_query.analysis.counted_items import counts_items
from elt_llm_query.analysis.definition import grade
from elt_llm_query.analysis.enumerations import opens_list
from elt_llm_query.analysis.excepted import asks_for_exception
from elt_llm_query.analysis.label_ranges import labels_within
from elt_llm_query.analysis.message_form import may_be_foreign
from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import (
    Sentence,
    read,
    sentence_index,
    sentences,
)
from elt_llm_query.analysis.reference_marks import is_reference_heading
from elt_llm_query.analysis.rule_reference import is_contents
from elt_llm_query.analysis.term_match import (
    Layers,
    Vocabulary,
    closeness,
    coverage,
    coverages,
    match,
)
from elt_llm_query.retrieval.unit_vectors import Vector
from elt_llm_query.synthesizers.extractive.constraints import (
    FormCheck,
    Setting,
    agrees,
    check_sentence,
    meets,
)
from elt_llm_query.synthesizers.extractive.fact_sheet import (
    Pick,
    asks_for_cell,
    pick_line,
)
from elt_llm_query.synthesizers.extractive.form_fit import form_fit
from elt_llm_query.synthesizers.extractive.heading_items import is_of_another_item

_NUMBERED = re.compile(r"\W*\d[\d.]*\W*\s[A-Z]")
# "Table 2: Fees", or "Table 2 Fees" without a mark; "Table 2 shows the fees" is none.
_CAPTION = re.compile(
    r"(?:(?:Table|Figure)\s+\w[\w.]{0,7}\s*[:.\u2013-]\s"
    r"|(?:Table|Figure|Chart|Exhibit)\s+\d[\w.]{0,7}\s+[A-Z]).*[^.!?]",
    re.DOTALL,
)
_LONGEST_TITLE = 8  # words
_TITLE_WORD = 4  # letters; titles capitalise words of this length

AROUND = 3  # sentences on either side that may name its subject
# Weight of a word by its position. A heading names the subject nearly as reliably as
# the sentence; beyond the neighbours a source may have changed the subject. Set by
# hand; see "Thresholds" in measurements/answer-choice.md.
OWN, HEADING, NEIGHBOUR, REST = 1.0, 0.9, 0.6, 0.4


# Characters of the list below a lead-in that are scored with it: all of a long list
# would dilute what the lead-in and the first items say.
CHARACTERS_BELOW = 200
Part = tuple[int, int, int]  # index of a passage, and a span of its text


class PlacedCell(NamedTuple):
    """A cell of a table: `text[start:end]` of a passage, under `header`."""

    start: int
    end: int
    header: str


@dataclass(frozen=True)
class Passage:
    """One source as the synthesizer reads it.

    Attributes:
        label: Its label in the answer, for example `S1`.
        node_id: The id of its node.
        text: The verbatim text; quotes are taken from it.
        heading: Title and section.
        section: The path of its section alone.
        reading: The searched text if it differs from `text`, as for a table row with
            its headers.
        whole: Whether it is quoted as one piece.
        about: Words that name its kind.
        sheet: Whether it is a fact sheet, of which only the requested line is quoted.
        cells: The cells of the table rows in it.
        rules: Which part of the text belongs to which rule.
        goes_on: Whether the requested rule continues beyond the passages.
        language: Its language; empty for English.
        place: Its document and its number in it; None if unknown.
        vector: The stored vector of its whole source, if any.
        beside: Whether it was not retrieved itself but belongs to a retrieved source.
        below: For a passage with `beside`: whether it continues a retrieved source.
        parts: For a whole table: its passages.
        reading_of_head: For a whole table: its lead-in and its headers.
        origin: Its collection, its document and its number in it; empty if unknown.
        span_start: Where its text starts in the document.
        ends: Of a relation, the names of its source and its target; None if unknown.
    """

    label: str
    node_id: str
    text: str
    heading: str = ""
    section: str = ""
    reading: str = ""
    whole: bool = False
    about: str = ""
    sheet: bool = False
    cells: tuple[PlacedCell, ...] = ()
    rules: tuple[RuleSpan, ...] = ()
    goes_on: bool = False
    language: str = ""
    place: tuple[str, int] | None = None
    vector: Vector | None = field(default=None, compare=False, repr=False)
    beside: bool = False
    below: bool = False
    parts: tuple[Part, ...] = ()
    reading_of_head: str = ""
    origin: tuple[str, str, int] = ("", "", 0)
    span_start: int = 0
    ends: tuple[str, str] | None = None

    @cached_property
    def above(self) -> Sentence:
        """Return the text that names its subject: its heading and its kind."""
        return read(f"{self.heading} {self.about}")

    def under(self, lead: str) -> Sentence:
        """Return the text that names the subject of a sentence below `lead`."""
        return read(f"{self.above.text}\n{lead}") if lead else self.above

    @cached_property
    def full_reading(self) -> Sentence:
        """Return the searched text of a whole passage: a row with its headers."""
        return read(self.reading or self.text)

    @cached_property
    def whole_text(self) -> Sentence:
        """Return all searched text of a whole passage, with labels inside ranges."""
        return read(f"{self.reading}\n{self.text}\n{self.within_ranges}".rstrip())

    @cached_property
    def within_ranges(self) -> str:
        """Return the labels inside the ranges of a row: N2 for "N1 to N3"."""
        return labels_within(self.text) if self.cells else ""

    @cached_property
    def stems(self) -> Vocabulary:
        """Return the stems of the passage with its heading."""
        parts = (self.heading, self.about, self.reading, self.text, self.within_ranges)
        return read(" ".join(parts)).stems

    @cached_property
    def header_words(self) -> frozenset[str]:
        """Return the words of its cells' headers in lower case."""
        headers = (word for cell in self.cells for word in read(cell.header).words)
        return frozenset(read(word).folded_line for word in headers)


@dataclass(frozen=True)
class Candidate:
    """`passages[passage].text[start:end]`.

    Attributes:
        passage: The index of its passage.
        start: Its start in the passage.
        end: Its end in the passage.
        coverage: Share of the question's words that it and its surroundings contain.
        fit: How well it has the form that the question asks for, 0 to 1.
        wording: The wording in an answer, if it differs from the text.
        close: How close the question's words are to each other in it, 0 to 1.
        own: Share of the question's words that it contains itself, 0 to 1.
        opposed: Whether the sentence and the question differ in polarity.
        lead: The lead-ins above it that apply to it, outermost first.
        exact: Whether exactly these characters are quoted.
        below: The text of the list that it leads in; empty for other sentences.
        below_adds: Whether the list has words of the question, or a number that it asks
            for, that the lead-in lacks.
    """

    passage: int
    start: int
    end: int
    coverage: float
    fit: float
    wording: str = ""
    close: float = 1.0
    own: float = 1.0
    opposed: bool = False
    lead: tuple[Part, ...] = ()
    exact: bool = False
    below: str = ""
    below_adds: bool = False

    @property
    def scored_below(self) -> str:
        """Return the beginning of the list, if it has what the lead-in lacks."""
        return self.below[:CHARACTERS_BELOW] if self.below_adds else ""

    def text_in(self, passages: Sequence[Passage]) -> str:
        """Return its text."""
        return passages[self.passage].text[self.start : self.end]


class Leads(Protocol):
    """Finds the lead-ins above a sentence that apply to it."""

    def above(self, passage: int, sentence: Sentence) -> tuple[Part, ...]:
        """Return their positions, outermost first."""

    def text(self, parts: Sequence[Part]) -> str:
        """Return their text."""


def lead_text(candidate: Candidate, passages: Sequence[Passage]) -> str:
    """Return the lead-ins above a candidate that apply to it."""
    return " ".join(passages[i].text[start:end] for i, start, end in candidate.lead)


def find_candidates(
    question: QuestionAnalysis,
    passages: Sequence[Passage],
    weights: Mapping[str, float],
    leads: Leads,
) -> list[Candidate]:
    """Return pieces of the passages in reading order.

    Pieces far from what the question names, the header row of a table, and reference
    lists are left out.

    Args:
        question: The question.
        passages: The sources.
        weights: Weights of the question's stems among these sources.
        leads: Finds the lead-ins above a sentence.
    """
    headers = {read(" ".join(c.header for c in p.cells)).folded_line for p in passages}
    candidates: list[Candidate] = []
    for index, passage in enumerate(passages):
        aside = passage.beside and not passage.below
        if aside or is_reference_heading(passage.section):
            continue  # reference lists contain titles of other works
        if not passage.whole:
            candidates += _in_prose(question, index, passage, weights, leads)
        elif read(passage.text).folded_line not in headers:
            candidates += _in_whole(question, index, passage, weights)
    return candidates


def _in_whole(
    question: QuestionAnalysis,
    index: int,
    passage: Passage,
    weights: Mapping[str, float],
) -> Iterator[Candidate]:
    """Yield the passage as one candidate; for a fact sheet the requested part."""
    text, above = passage.whole_text, passage.above
    own = text.stems | text.signs.in_other_form(question.weights, question.read.signs)
    if any(not match(n, own | above.stems) for n in question.names):
        return
    if not meets(question, Setting(text, above, text)):
        return
    covered = coverage(weights, ((own, OWN), (above.stems, HEADING)))
    sheet = passage.sheet
    picked = pick_line(question, passage.text, passage.ends) if sheet else None
    # Which line a question in another language asks for is unknown.
    if sheet and not picked and not may_be_foreign(question.text):
        return  # no line of it is asked for
    picked = picked or Pick(0, len(passage.text), "", _row_fit(question, passage))
    yield Candidate(
        index,
        picked.start,
        picked.end,
        covered,
        picked.fit,
        picked.wording,
        own=coverage(weights, ((own, OWN),)),
        opposed=not agrees(question, Setting(text, above, text)),
    )


def _row_fit(question: QuestionAnalysis, passage: Passage) -> float:
    if question.form is Form.OPEN and asks_for_cell(question, passage.reading):
        return 1.0
    reading = passage.reading or passage.text
    fit = max(form_fit(question, t) for t in (reading, passage.text))
    key = "" if fit else _key_after_kind(question.term, passage)
    return grade(key, passage.text) if key else fit


def _key_after_kind(term: str, passage: Passage) -> str:
    """Return "E-08" of "error code E-08" if it is the first cell of a row.

    The words before it must be of the header above the cell or of the last heading;
    empty otherwise.
    """
    key = passage.text.partition("\t")[0].strip()
    before = term[: -len(key)] if key and term.endswith(key) else ""
    if not before.endswith(" "):
        return ""
    header = passage.cells[0].header if passage.cells else ""
    above = read(f"{header} {passage.section.rpartition(' > ')[2]}").stems
    return key if all(match(one, above) for one in read(before).stem_list) else ""


def _in_prose(
    question: QuestionAnalysis,
    index: int,
    passage: Passage,
    weights: Mapping[str, float],
    leads: Leads,
) -> Iterator[Candidate]:
    """Yield sentences and list items; headings and questions are no answers."""
    all_sentences = sentences(passage.text)
    rest: Vocabulary = frozenset().union(*(s.stems for s in all_sentences))
    for place, sentence in enumerate(all_sentences):
        lead = leads.above(index, sentence)
        heading = passage.under(leads.text(lead))
        above = heading.stems
        around = all_sentences[max(place - 1, 0) : place + 2]
        near: Vocabulary = frozenset().union(*(s.stems for s in around))
        if any(not match(n, near | above) for n in question.names):
            continue  # what the question names is elsewhere in the source
        if sentence.text.endswith("?") or is_contents(sentence.text):
            continue
        if _is_heading(sentence, passage.heading) or _is_header(passage, sentence):
            continue
        setting = _setting(passage, heading, all_sentences, place)
        under_lead = read(f"{leads.text(lead)}\n{setting.own.text}")
        if is_of_another_item(question, under_lead, passage.section):
            continue
        checked = _check(question, all_sentences, place, setting)
        if checked is None:
            continue
        further = ((above, HEADING), (near, NEIGHBOUR), (rest, REST))
        yield replace(
            _to_candidate(question, index, sentence, checked, further, weights),
            lead=lead,
        )


def _check(
    question: QuestionAnalysis,
    all_sentences: Sequence[Sentence],
    place: int,
    setting: Setting,
) -> FormCheck | None:
    """Return how a sentence of a passage fits its question; None if it cannot."""
    checked = check_sentence(question, all_sentences[place], setting)
    if checked is None:
        return None
    if checked.opposed and _is_excepted(question, all_sentences[place]):
        checked = checked._replace(opposed=False)
    if _lists_counted(question, all_sentences, place):
        checked = checked._replace(fit=1.0)
    return checked


def _is_excepted(question: QuestionAnalysis, sentence: Sentence) -> bool:
    """Return whether "open daily except Sundays" answers "Is it open on Sundays?"."""
    is_polar = question.form is Form.YES_NO
    return is_polar and asks_for_exception(
        question.weights, question.text, sentence.text
    )


def _lists_counted(
    question: QuestionAnalysis, all_sentences: Sequence[Sentence], place: int
) -> bool:
    """Return True for "The following criteria:" if their number is asked for."""
    if not question.counted or place + 1 == len(all_sentences):
        return False
    lead = all_sentences[place].text
    is_lead = opens_list(lead, all_sentences[place + 1].text)
    return is_lead and counts_items(question.text, lead)


def _to_candidate(
    question: QuestionAnalysis,
    index: int,
    sentence: Sentence,
    checked: FormCheck,
    further: Layers,
    weights: Mapping[str, float],
) -> Candidate:
    """Return a sentence as a candidate, with its surroundings as further layers."""
    own = sentence.stems
    if not checked.opposed:
        own |= sentence.signs.in_other_form(question.weights, question.read.signs)
    covered, by_own = coverages(weights, (own, OWN), further)
    return Candidate(
        index,
        sentence.start,
        sentence.end,
        coverage=covered,
        fit=checked.fit,
        close=closeness(question.weights, sentence.stem_list),
        own=by_own,
        opposed=checked.opposed,
    )


def _setting(
    passage: Passage, heading: Sentence, all_sentences: Sequence[Sentence], place: int
) -> Setting:
    """Return the sentence, with the one before it if it refers back to that."""
    sentence = all_sentences[place]
    before = all_sentences[max(place - 1, 0)].start
    after = all_sentences[min(place + 1, len(all_sentences) - 1)].end
    own = sentence
    if sentence.refers_back:
        own = read(passage.text[before : sentence.end])
    return Setting(own, heading, read(passage.text[before:after]))


def surroundings(passage: Passage, candidate: Candidate) -> str:
    """Return a candidate with its heading and, in prose, the adjacent sentences."""
    above = passage.above.text
    if passage.whole:
        return f"{above}\n{passage.whole_text.text}"
    all_sentences = sentences(passage.text)
    place = sentence_index(passage.text, candidate.start) or 0
    start = all_sentences[max(place - AROUND, 0)].start
    end = all_sentences[min(place + AROUND, len(all_sentences) - 1)].end
    return f"{above}\n{passage.text[start:end]}"


def _is_header(passage: Passage, sentence: Sentence) -> bool:
    """Return True for the caption of a table in prose, and for a header row."""
    own = (
        {read(word).folded_line for word in sentence.words} if passage.cells else set()
    )
    return bool(_CAPTION.fullmatch(sentence.text)) or (
        bool(own) and own <= passage.header_words
    )


def _is_heading(sentence: Sentence, heading: str) -> bool:
    """Return True for a line that repeats its source's heading or looks like one."""
    titled = _NUMBERED.match(sentence.text) and all(
        w[0].isupper() for w in sentence.words if len(w) >= _TITLE_WORD and w.isalpha()
    )
    short = len(sentence.words) <= _LONGEST_TITLE and sentence.text[-1].isalnum()
    return sentence.folded_line in read(heading).folded_line or bool(titled and short)
