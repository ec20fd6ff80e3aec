"""The candidates of the sources that are compared with the question, and their scores.

Candidates that cannot answer by their form or place are dropped, the nearest ones are
compared by meaning, and the calibrated scorer (`scorer.py`) gives each a probability.
"""

from collections.abc import Sequence
from typing import NamedTuple

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import QueryBundle

from elt_llm_core.models.sentence_reader import read_context
from elt_llm_query.analysis.question import QuestionAnalysis
from elt_llm_query.analysis.read_sentence import sentence_before
from elt_llm_query.analysis.term_match import match, rarity
from elt_llm_query.synthesizers.extractive.candidates import (
    Candidate,
    Passage,
    find_candidates,
    lead_text,
)
from elt_llm_query.synthesizers.extractive.claim_spans import drop_bare_leads
from elt_llm_query.synthesizers.extractive.contents_asked import drop_other_contents
from elt_llm_query.synthesizers.extractive.counting_tables import drop_uncounted_tables
from elt_llm_query.synthesizers.extractive.features import lacks_words, to_features
from elt_llm_query.synthesizers.extractive.lead_ins import LeadFinder
from elt_llm_query.synthesizers.extractive.list_stems import drop_fragments
from elt_llm_query.synthesizers.extractive.meanings import (
    EmbeddedSentence,
    EmbeddedSource,
    Features,
    compare_meanings,
)
from elt_llm_query.synthesizers.extractive.question_kinds import lacks_referent
from elt_llm_query.synthesizers.extractive.ranking import (
    ScoredCandidate,
    drop_opposed,
    is_definition_by_form,
    keep_in_form,
    worth_comparing,
)
from elt_llm_query.synthesizers.extractive.row_keys import (
    drop_examples,
    drop_nameless,
    drop_rows_of_others,
)
from elt_llm_query.synthesizers.extractive.scorer import kind_of, load_scorer
from elt_llm_query.synthesizers.extractive.single_rows import (
    drop_single_rows,
    is_rivalled,
    split_unnamed_rows,
)
from elt_llm_query.synthesizers.extractive.whole_lists import ListReader
from elt_llm_query.synthesizers.extractive.whole_tables import keep_unnamed_tables

_CHARACTERS = 600  # limit for an embedded sentence; longer ones are lists or tables


class ComparisonLimits(NamedTuple):
    """How many candidates are embedded, and how many of these are also read."""

    embedded: int
    read: int


class Compared(NamedTuple):
    """The candidates of a question, the compared ones, and the comparison.

    `unnamed` are rows of tables that the question does not distinguish from others.
    """

    everything: list[Candidate]
    chosen: list[Candidate]
    meanings: list[Features]
    unnamed: list[Candidate]


def compare_candidates(
    bundle: QueryBundle,
    question: QuestionAnalysis,
    passages: Sequence[Passage],
    *,
    lists: ListReader,
    embedder: BaseEmbedding | None,
    limits: ComparisonLimits,
) -> Compared:
    """Return the candidates of the passages, and those compared by meaning.

    Args:
        bundle: The question, with its vector if it is known.
        question: The same, analysed.
        passages: The sources.
        lists: Reads the lists around a candidate.
        embedder: Compares sentences with the question; without it words alone do.
        limits: How many are compared.
    """
    vocabularies = [p.stems for p in passages if not p.beside and not p.parts]
    everything = frozenset().union(*vocabularies)
    unknown = any(match(name, everything) == 0 for name in question.names)
    if unknown or lacks_referent(question):
        return Compared([], [], [], [])
    weights = rarity(question.weights, vocabularies)
    leads = LeadFinder(passages)
    candidates = find_candidates(question, passages, weights, leads)
    candidates = lists.with_lists(question, candidates, passages, weights)
    candidates = drop_opposed(candidates)
    candidates, unnamed = split_unnamed_rows(question, candidates, passages)
    candidates = _drop_unfit(question, candidates, passages)
    chosen = worth_comparing(question, candidates, limits.embedded)
    shown = [to_embedded_sentence(passages, c) for c in chosen]
    meanings = compare_meanings(bundle, weights, shown, embedder, read=limits.read)
    return Compared(candidates, chosen, meanings, unnamed)


def _drop_unfit(
    question: QuestionAnalysis,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """Return candidates that can answer by their form, their row and their table."""
    candidates = drop_single_rows(question, candidates, passages)
    candidates = drop_rows_of_others(question, candidates, passages)
    candidates = drop_examples(question, candidates, passages)
    candidates = drop_nameless(question, candidates, passages)
    candidates = keep_unnamed_tables(question, candidates, passages)
    candidates = drop_uncounted_tables(question, candidates, passages)
    candidates = drop_other_contents(question, candidates, passages)
    candidates = drop_bare_leads(candidates, passages)
    candidates = drop_fragments(candidates, passages)
    return keep_in_form(question, candidates, passages)


def to_embedded_sentence(
    passages: Sequence[Passage], candidate: Candidate
) -> EmbeddedSentence:
    """Return what is embedded and read of a candidate; a row gets its headers.

    Args:
        passages: The sources.
        candidate: One of their candidates.
    """
    passage = passages[candidate.passage]
    source = EmbeddedSource(passage.full_reading.text, passage.vector)
    text = f"{candidate.text_in(passages)} {candidate.scored_below}".strip()
    piece = passage.full_reading.text if passage.whole else text
    before = lead = lead_text(candidate, passages)
    if not lead and not passage.whole:
        before = sentence_before(passage.text, candidate.start)
    heading = f"{passage.heading} {lead}".strip()
    context = read_context(passage.section.rpartition(" > ")[2], before)
    return EmbeddedSentence(
        piece[:_CHARACTERS],
        heading[:_CHARACTERS],
        source,
        None if passage.sheet else context[-_CHARACTERS:],  # a sheet is not scored
    )


def score_candidates(
    question: QuestionAnalysis, compared: Compared, passages: Sequence[Passage]
) -> list[ScoredCandidate]:
    """Return the compared candidates, each with its evidence.

    Args:
        question: The question.
        compared: Its candidates.
        passages: The sources.
    """
    candidates, rows = scorer_rows(question, compared, passages)
    sure: dict[Candidate, float] = {}
    lacking: set[Candidate] = set()
    if rows:
        verdict = load_scorer(kind_of(rows[0])).score(rows)
        best = max(verdict.shares)
        for candidate, share in zip(candidates, verdict.shares, strict=True):
            sure[candidate] = verdict.sure * share / best
        pairs = zip(candidates, rows, strict=True)
        lacking = {candidate for candidate, row in pairs if lacks_words(row)}
    return [
        ScoredCandidate(
            candidate,
            meaning.get("cosine"),
            is_definition_by_form(question, candidate),
            sure.get(candidate),
            lacking=candidate in lacking,
            whole=passages[candidate.passage].whole
            and not passages[candidate.passage].parts,
            rivalled=is_rivalled(question, passages, candidate.passage),
            read=meaning.get("reader"),
            match=meaning.get("match_with_heading"),
            weakest_match=meaning.get("weakest_match"),
        )
        for candidate, meaning in zip(compared.chosen, compared.meanings, strict=True)
    ]


def scorer_rows(
    question: QuestionAnalysis, compared: Compared, passages: Sequence[Passage]
) -> tuple[list[Candidate], list[Features]]:
    """Return the compared sentences and rows, with their features.

    Args:
        question: The question.
        compared: Its candidates; fact sheets have no features.
        passages: The sources.
    """
    pairs = [
        (candidate, meaning)
        for candidate, meaning in zip(compared.chosen, compared.meanings, strict=True)
        if not passages[candidate.passage].sheet
    ]
    candidates = [candidate for candidate, _ in pairs]
    meanings = [meaning for _, meaning in pairs]
    return candidates, to_features(question, candidates, passages, meanings)
