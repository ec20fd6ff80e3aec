"""Extract the definitions of a document: candidates, scores, selection.

A term is defined once, by its most probable candidate; only formal definitions may give
a term a second meaning. A short form and its long form are one term.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.antecedents import with_antecedent
from elt_llm_consumer.definitions.condition_clauses import with_condition
from elt_llm_consumer.definitions.definition_features import (
    Features,
    describe_all,
    kind,
)
from elt_llm_consumer.definitions.definition_records import (
    Definition,
    DefinitionSource,
    announces_list,
    text_units,
)
from elt_llm_consumer.definitions.definition_scorer import DefinitionScorer, load_scorer
from elt_llm_consumer.definitions.extract import add_synonyms, without_repeats
from elt_llm_consumer.definitions.mere_statements import is_statement
from elt_llm_consumer.definitions.naming_sentences import names_by_formula
from elt_llm_consumer.definitions.plain_sentences import (
    is_plain_sentence,
    names_parts,
)
from elt_llm_consumer.definitions.proposals import (
    OPENS,
    DefinitionProposal,
    Way,
    find_candidates,
)
from elt_llm_consumer.definitions.term_forms import clean_term
from elt_llm_consumer.definitions.terms import PhraseIndex, fold
from elt_llm_consumer.definitions.usage import Usage
from elt_llm_core.document import Block

# Three of four rows are right at SURE, on labelled documents that the weights have not
# seen; of those that LIKELY adds in the gold documents one in four ("Glossaries" in
# measurements/catalogue.md).
SURE, LIKELY = 0.35, 0.15
# Of 328 candidates with a formal shape ("X means") on unseen documents 322 are right,
# and all 33 of those below SURE; only what is next to impossible is refused.
FORMAL = 0.02
# Of 26 labelled candidates with a plain sentence, in the four forms of
# `plain_sentences` ("A Data Flow is …"), 22 are right. A document that states most of
# its definitions lowers the score of the others, and may still define elsewhere what it
# capitalises.
PLAIN = 0.05
# A sentence of parts, "A team consists of four players": of 12 rows that written
# documents gain 11 are right; below it stand events, "The Cup consists of nine heats".
PARTS = 0.2
NOTE_PLAIN = "plain sentence"
SPELT = 0.15  # of a short form with its long form
_FORMAL_WAYS = frozenset({Way.STATED, Way.ACRONYM})
_SLACK = 12  # characters of an article, brackets and plurals
BESIDE = 0.6  # of a second term of one sentence; most such sentences define one


class Scored(NamedTuple):
    """A candidate with its features and its probability.

    `notes` are reasons that no feature gives.
    """

    candidate: DefinitionProposal
    features: Features
    probability: float
    notes: tuple[str, ...] = ()


class Candidates(NamedTuple):
    """The candidates of one document, with their scores."""

    text: str
    usage: Usage
    scored: Sequence[Scored]


def is_sure(definition: Definition) -> bool:
    """Return whether a definition in an informal shape is one for the glossary.

    Args:
        definition: A definition from `find_definitions`, possibly with a threshold
            below `SURE`.
    """
    return definition.confidence >= SURE or NOTE_PLAIN in definition.reasons


def find_definitions(
    text: str,
    blocks: Sequence[Block],
    threshold: float = SURE,
    scorer: DefinitionScorer | None = None,
) -> list[Definition]:
    """Return the definitions of one document, in text order.

    Args:
        text: The text of the document.
        blocks: Its blocks; their spans refer to `text`.
        threshold: The minimum probability of a definition, between 0 and 1.
        scorer: Weights other than the shipped ones.

    Returns:
        The definitions with their confidence, the shape that found them and the
        features that speak for them; their spans refer to `text`.
    """
    weights = scorer or load_scorer()
    return chosen_definitions(score_document(text, blocks, weights), threshold, weights)


def score_document(
    text: str, blocks: Sequence[Block], scorer: DefinitionScorer
) -> Candidates:
    """Return every candidate of a document with its probability.

    Args:
        text: The text of the document.
        blocks: Its blocks; their spans refer to `text`.
        scorer: The weights.
    """
    units = text_units(text, blocks)
    usage = Usage(text, blocks, units)
    candidates = find_candidates(text, blocks, units, usage)
    return Candidates(text, usage, score_candidates(candidates, usage, scorer))


def chosen_definitions(
    candidates: Candidates, threshold: float, scorer: DefinitionScorer
) -> list[Definition]:
    """Return the definitions among the candidates of a document, in text order.

    Args:
        candidates: The candidates of the document.
        threshold: The minimum probability of a definition.
        scorer: The weights, which determine the reasons.
    """
    definitions = [
        _to_row(candidates.text, one, scorer)
        for one in choose(candidates.scored, candidates.usage, threshold)
    ]
    pairs = [
        (one.candidate.definition.term, name)
        for one in candidates.scored
        if _is_expansion(one.candidate) and one.probability >= SPELT
        for name in one.candidate.definition.synonyms
    ]
    return without_repeats(add_synonyms(definitions, candidates.text, pairs))


def _to_row(text: str, one: Scored, scorer: DefinitionScorer) -> Definition:
    """Return a chosen definition as it stands in the glossary."""
    definition, notes = with_antecedent(text, one.candidate)
    definition = with_condition(text, one.candidate, definition)
    update = {
        "term": name_in_sentence(one.candidate),
        "confidence": round(one.probability, 3),
        "found_by": kind(one.candidate),
        "reasons": (*notes, *_list_reasons(one, scorer)),
    }
    return definition.model_copy(update=update)


def _is_formula(candidate: DefinitionProposal) -> bool:
    """Return whether a sentence names its term by words that only name."""
    place = candidate.sentence
    if place is None or candidate.way not in {Way.NAMED, Way.APPOSITION}:
        return False
    return names_by_formula(place.text, candidate.definition.term)


def _list_reasons(one: Scored, scorer: DefinitionScorer) -> tuple[str, ...]:
    says_plainly = (is_plain_sentence, _is_formula, names_parts)
    is_plain = any(says(one.candidate) for says in says_plainly)
    plain = (NOTE_PLAIN,) if is_plain else ()
    return (*one.notes, *plain, *scorer.reasons(one.features))


def score_candidates(
    candidates: Sequence[DefinitionProposal], usage: Usage, scorer: DefinitionScorer
) -> list[Scored]:
    """Return each candidate with its features and probability, in order."""
    return [
        Scored(candidate, row, scorer.probability(row))
        for candidate, row in zip(
            candidates, describe_all(candidates, usage), strict=True
        )
    ]


def choose(judged: Sequence[Scored], usage: Usage, threshold: float) -> list[Scored]:
    """Return the candidates that become definitions, in text order.

    Args:
        judged: The candidates of one document.
        usage: How the document uses its words.
        threshold: The minimum probability.

    Returns:
        The best candidate of each term that says something, and a long form only of a
        short form that nothing defines; of each sentence the best, and others above
        `BESIDE`.
    """
    forms = _other_forms(judged, usage)
    taken: dict[str, Way] = {}  # by folded term
    # A sentence that introduces a short form seldom defines another term.
    per_place: dict[int, list[str]] = defaultdict(list)
    for one in judged:
        if one.candidate.way is Way.ACRONYM and one.probability >= SPELT:
            per_place[one.candidate.at].append(fold(one.candidate.definition.term))
    chosen = []
    for one in sorted(judged, key=_rank):
        key, way = fold(one.candidate.definition.term), one.candidate.way
        if one.probability < _least(one, key, forms, threshold) or not key:
            continue
        if way not in _FORMAL_WAYS and _says_nothing(one.candidate, key, forms):
            continue
        if not _is_free(one, taken.get(key), taken.get(forms.get(key, ""))):
            continue
        own = {key, forms.get(key, key)}
        there = [name for name in per_place[one.candidate.at] if name not in own]
        if way not in _FORMAL_WAYS and not _has_room(one, key, there):
            continue
        taken[key] = Way.ACRONYM if _is_expansion(one.candidate) else way
        per_place[one.candidate.at].append(key)
        chosen.append(one)
    return sorted(chosen, key=lambda one: one.candidate.definition.start)


def _is_expansion(candidate: DefinitionProposal) -> bool:
    """Return whether a candidate gives the long form of a short one and no meaning."""
    return candidate.definition.source is DefinitionSource.ACRONYM


def _other_forms(judged: Sequence[Scored], usage: Usage) -> dict[str, str]:
    """Return each short form's long form and the reverse, folded.

    They stand in brackets or in a table of abbreviations.
    """
    forms = dict(usage.spelt_out)
    for one in judged:
        definition = one.candidate.definition
        if _is_expansion(one.candidate) and one.probability >= SPELT:
            short, long = fold(definition.term), fold(definition.definition)
            forms.setdefault(short, long)
            forms.setdefault(long, short)
    return forms


def is_empty(definition: str) -> bool:
    """Return whether a text only points to words that are not part of it.

    It announces a list or table that is left out, or says no more than where to look
    ("... are attached in Appendix I").

    Args:
        definition: The text of a candidate.
    """
    words = " ".join(definition.split())
    return announces_list(words) or patterns.ONLY_POINTS.fullmatch(words) is not None


def _introduces(
    candidate: DefinitionProposal, key: str, forms: Mapping[str, str]
) -> bool:
    """Return whether a sentence begins with a term and its short form in brackets.

    "The Estates Board (EB) advises …": without the sentence, the row would say no more
    than what the short form stands for.
    """
    place = candidate.sentence
    if place is None or key not in forms or candidate.way in _FORMAL_WAYS:
        return False
    both = {f"{key} {forms[key]}", f"{forms[key]} {key}"}
    opening = fold(place.text[: len(key) + len(forms[key]) + _SLACK])
    says_more = len(candidate.definition.definition) > len(opening)
    return says_more and any(opening.startswith(one) for one in both)


def _says_nothing(
    candidate: DefinitionProposal, key: str, forms: Mapping[str, str]
) -> bool:
    """Return whether an informal definition is empty, or does not say what it is."""
    words = candidate.definition.definition
    other = forms.get(key, key)
    # Of six empty rows of three unlike documents five defined nothing.
    only_forms = fold(words) in {f"{key} {other}", f"{other} {key}"}
    return only_forms or is_empty(words) or is_statement(candidate)


def _is_free(one: Scored, own: Way | None, other: Way | None) -> bool:
    """Return whether a term may be defined, given what defines it and its other form.

    A term may be stated in different words, as may its short form. A short form may
    have several long forms in a list of abbreviations.
    """
    stated = one.candidate.way is Way.STATED
    if _is_expansion(one.candidate):
        return other is None and (own is None or (stated and own is Way.ACRONYM))
    return all(way is None or (stated and way is Way.STATED) for way in (own, other))


def _least(one: Scored, key: str, forms: Mapping[str, str], threshold: float) -> float:
    """Return the minimum probability of a candidate, by its form."""
    way, source = one.candidate.way, one.candidate.definition.source
    least = {Way.STATED: FORMAL, Way.ACRONYM: SPELT}.get(way, threshold)
    if way is Way.STATED and source is DefinitionSource.STATEMENT:
        least = threshold  # a phrase below its term has no connector
    if _introduces(one.candidate, key, forms):
        least = SPELT
    if least > PLAIN and is_plain_sentence(one.candidate):
        least = PLAIN
    if least > PARTS and names_parts(one.candidate):
        least = PARTS
    if _is_formula(one.candidate):
        least = FORMAL
    return min(threshold, least)


def _has_room(one: Scored, key: str, there: Sequence[str]) -> bool:
    """Return whether a sentence that defines the terms `there` may define one more."""
    if any(key in name or name in key for name in there):
        return False
    return not there or one.probability >= BESIDE


def _rank(one: Scored) -> tuple[bool, bool, float, int, str, str]:
    """Return the sort key: what is stated comes first, long forms come last."""
    definition, way = one.candidate.definition, one.candidate.way
    return (
        _is_expansion(one.candidate),
        way is not Way.STATED,
        -one.probability,
        definition.start,
        definition.term,
        way,
    )


def name_in_sentence(candidate: DefinitionProposal) -> str:
    """Return the term as its sentence has it, without an article.

    A heading may have it in the plural: below "Late fees" stands "A Late Fee is …".

    Args:
        candidate: A candidate of any form.
    """
    term, place = candidate.definition.term, candidate.sentence
    if candidate.way is Way.HEADING and place is not None:
        match = next(iter(PhraseIndex([term]).find(place.text)), None)
        if match is not None and match.start <= OPENS:
            term = clean_term(place.text[match.start : match.end])
    first, _, rest = term.partition(" ")
    return rest if rest and first.lower() in patterns.ARTICLES else term
