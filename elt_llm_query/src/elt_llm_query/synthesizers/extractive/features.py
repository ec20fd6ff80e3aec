"""Named features of each sentence or row that may answer."""

import math
import re
from collections.abc import Sequence

from elt_llm_query.analysis.lexicon import (
    CAUSES,
    MONTHS,
    NUMBER_WORDS,
    STOP_WORDS,
    TIME_UNITS,
)
from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import (
    Sentence,
    read,
    sentence_index,
    sentences,
)
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import (
    Vocabulary,
    coverage,
    list_missing,
    phrases,
)
from elt_llm_query.synthesizers.extractive.candidates import (
    Candidate,
    Passage,
    lead_text,
)
from elt_llm_query.synthesizers.extractive.meanings import Features

# Features that are also given relative to the other sentences: the distance to the best
# one, and the lead over the next one.
RELATIVE = (
    "cosine",
    "match_with_heading",
    "answers_question_word",
    "coverage",
    "source_cosine",
    "reader",
)
# Features that are given only as the distance to the best one. Their absolute values
# separate documents with sections from those without, so that a fit would learn how
# often each of these has an answer.
BEHIND = ("section_coverage", "section_named")
_CAUSE = re.compile(rf"\b(?:{phrases(CAUSES)})", re.IGNORECASE)
_DATED = MONTHS | TIME_UNITS


def to_features(
    question: QuestionAnalysis,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
    meanings: Sequence[Features],
) -> list[Features]:
    """Return the named features of each candidate, in their order.

    Args:
        question: The question.
        candidates: The sentences and rows that are compared with one another.
        passages: The sources.
        meanings: The result of `compare_meanings` for each.
    """
    rows = [
        _of_words(question, candidate, passages) | meaning
        for candidate, meaning in zip(candidates, meanings, strict=True)
    ]
    for name in RELATIVE:
        if rows and name in rows[0]:
            _add_relative(rows, name)
    for name in BEHIND:
        best = max((row[name] for row in rows), default=0.0)
        for row in rows:
            row[f"{name}_behind"] = best - row.pop(name)
    return rows


def lacks_words(row: Features) -> bool:
    """Return whether the source of a candidate lacks a content word of the question."""
    return row["missing_in_passage"] > 0


def _add_relative(rows: Sequence[Features], name: str) -> None:
    values = [row[name] for row in rows]
    for place, row in enumerate(rows):
        others = values[:place] + values[place + 1 :]
        row[f"{name}_behind"] = max(values) - values[place]
        row[f"{name}_lead"] = values[place] - max(others) if others else 0.0


def _of_words(
    question: QuestionAnalysis, candidate: Candidate, passages: Sequence[Passage]
) -> Features:
    """Return features of the words of a sentence or row and around it."""
    passage = passages[candidate.passage]
    all_sentences = (
        (passage.full_reading,) if passage.whole else sentences(passage.text)
    )
    place = 0
    if not passage.whole:
        place = sentence_index(passage.text, candidate.start) or 0
    sentence = all_sentences[place]
    if candidate.scored_below:
        sentence = read(f"{sentence.text}\n{candidate.scored_below}")
    # "Uninsured" matches "not insured".
    other_form = sentence.signs.in_other_form(question.weights, question.read.signs)
    lead = passage.under(lead_text(candidate, passages)).stems
    near: Vocabulary = lead.union(
        other_form, *(s.stems for s in all_sentences[max(place - 1, 0) : place + 2])
    )
    if passage.whole:
        near |= read(passage.within_ranges).stems
    everywhere = passage.stems | lead | other_form
    defining = question.form is Form.DEFINITION
    telling = [term for term, weight in question.weights.items() if weight == 1]
    content = [w for w in sentence.words if w.lower() not in STOP_WORDS]
    asked = frozenset(question.weights)
    unasked = frozenset(list_missing(map(stem, content), asked))
    new = [word for word in content if stem(word) in unasked]
    return {
        "coverage": candidate.coverage,
        "own_coverage": candidate.own,
        "covered_in_passage": coverage(question.weights, ((everywhere, 1.0),)),
        "missing_near": float(len(list_missing(telling, near))),
        "missing_in_passage": float(len(list_missing(telling, everywhere))),
        "fit": 0.5 if defining else candidate.fit,
        "defines": candidate.fit if defining else 0.0,
        "close": candidate.close,
        "row": float(passage.whole),
        "table": float(bool(passage.parts)),
        "new_words": math.log1p(len(new)),
        "new_share": len(new) / max(len(content), 1),
        **_of_section(question, passage),
        **_of_answer_type(question, sentence, new),
    }


def _of_section(question: QuestionAnalysis, passage: Passage) -> Features:
    """Return features of whether its section is exactly what the question names."""
    section = read(passage.section.rpartition(" > ")[2])
    headed = [w for w in section.words if w.isalpha() and w.lower() not in STOP_WORDS]
    asked = frozenset(question.weights)
    named = len(headed) - len(list_missing(map(stem, headed), asked))
    return {
        "section_coverage": coverage(question.weights, ((section.stems, 1.0),)),
        "section_named": named / len(headed) if headed else 1.0,
    }


def _of_answer_type(
    question: QuestionAnalysis, sentence: Sentence, new: Sequence[str]
) -> Features:
    """Return features of the answer type: "how many", "when", "who" and the like."""
    asked = question.read.lower_words
    # The first word of a sentence is capitalised whether or not it is a name.
    named = any(word[0].isupper() for word in new if word != sentence.words[0])
    dated = (
        sentence.lower_words & _DATED
        or sentence.lower_words & NUMBER_WORDS.keys()
        or any(c.isdigit() for c in sentence.text)
    )
    figure = bool(sentence.numbers - question.read.numbers)
    form = question.form
    return {
        "no_number": float(form is Form.NUMBER and not figure),
        "no_time": float(form is Form.TIME and not dated),
        "no_name": float(form is Form.PERSON and not named),
        "no_name_for_where": float("where" in asked and not named),
        "name_for_where": float("where" in asked and named),
        "cause_for_why": float("why" in asked and bool(_CAUSE.search(sentence.text))),
    }
