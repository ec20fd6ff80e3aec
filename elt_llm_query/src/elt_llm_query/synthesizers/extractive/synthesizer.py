"""Answers without a language model: verbatim sentences with labels, or a refusal.

Deterministic. Sentences without a number, name or negation that the question requires
are left out (`constraints.py`). Among the others and the rows of tables, a calibrated
scorer chooses the answering one and estimates its probability
(`compared_candidates.py`).
Definitions, lines of fact sheets and rows with nearly all words of the question are
recognised by their form. If nothing answers, the answer says so and names the nearest
sections.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.response.schema import Response
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core.language.rule_numbers import rule_grammar
from elt_llm_core.models.none import NoEmbedding
from elt_llm_core.provenance import is_generated
from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.analysis.question import Form, QuestionAnalysis, analyse
from elt_llm_query.grounding.claim import (
    CLAIMS_KEY,
    LISTS_KEY,
    REFUSED_KEY,
    RIVALS_KEY,
    SURE_KEY,
    UNSERVED_KEY,
    WRITTEN_BY_KEY,
    Claim,
)
from elt_llm_query.grounding.labels import LabelSources, split_shown
from elt_llm_query.postprocessors.collection_step import CollectionStep
from elt_llm_query.retrieval.unit_vectors import Lookup, known_vectors, stored_vectors
from elt_llm_query.synthesizers.base_synthesizers import ModellessSynthesizer
from elt_llm_query.synthesizers.extractive.candidates import (
    Candidate,
    Passage,
    surroundings,
)
from elt_llm_query.synthesizers.extractive.claim_spans import (
    claim_of,
    rule_claims,
    section_claims,
)
from elt_llm_query.synthesizers.extractive.compared_candidates import (
    Compared,
    ComparisonLimits,
    compare_candidates,
    score_candidates,
)
from elt_llm_query.synthesizers.extractive.continuations import with_continuations
from elt_llm_query.synthesizers.extractive.joined_things import lacks_a_thing
from elt_llm_query.synthesizers.extractive.lead_ins import (
    LeadIns,
    with_antecedents,
    with_leads,
)
from elt_llm_query.synthesizers.extractive.list_stems import with_stems
from elt_llm_query.synthesizers.extractive.listed_answers import credit_leads
from elt_llm_query.synthesizers.extractive.mere_mentions import (
    only_mentions,
    tells_only_where,
)
from elt_llm_query.synthesizers.extractive.nearest_sentences import find_nearest
from elt_llm_query.synthesizers.extractive.question_kinds import (
    WHICH_ROW,
    is_fragment,
    why_not_enough,
    why_unanswered,
)
from elt_llm_query.synthesizers.extractive.quoted_answer import (
    QuotedAnswer,
    to_answer,
    to_quoted_list,
    write_answer,
)
from elt_llm_query.synthesizers.extractive.ranking import (
    CLOSE,
    ScoredCandidate,
    choose,
    is_unsure,
    keep_proven,
    rank,
    with_namesakes,
)
from elt_llm_query.synthesizers.extractive.refusal import refusal
from elt_llm_query.synthesizers.extractive.restrictions import (
    is_for_some_only,
    prefer_unrestricted,
    tells_of_another,
)
from elt_llm_query.synthesizers.extractive.rival_answers import find_rivals
from elt_llm_query.synthesizers.extractive.row_keys import is_row_of
from elt_llm_query.synthesizers.extractive.source_passages import to_passage
from elt_llm_query.synthesizers.extractive.unserved_languages import (
    LEAD,
    is_served,
    quote_whole,
    reason_unserved,
    to_degradation,
)
from elt_llm_query.synthesizers.extractive.whole_lists import ListReader, WholeLists
from elt_llm_query.synthesizers.extractive.whole_tables import (
    TableRows,
    parts_of,
    read_tables,
    with_labels,
)
from elt_llm_query.synthesizers.foreign_words import lacks_a_word

GOES_ON = "The rule goes on after this."


class ExtractiveOptions(Strategy[BaseSynthesizer]):
    """Verbatim sentences, or a refusal; needs no language model."""

    most: int = Field(default=3, ge=1, le=10, description="sentences of an answer")
    sure: float = Field(
        default=0.4, ge=0, le=1, description="probability that the best one answers"
    )
    sure_lacking: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="the same where its source lacks a word of the question",
    )
    # Of an outside reader's 128 questions, 17 of 26 wrong answers were below these two,
    # and 7 of 60 right ones; see "How sure an answer has to be" in
    # measurements/answers.md.
    certain: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="probability below which an answer says that it is not certain",
    )
    certain_lacking: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description="the same where its source lacks a word of the question",
    )
    threshold: float = Field(
        default=1.2,
        ge=0,
        le=2,
        description="coverage plus cosine that suffices for a row or sheet",
    )
    lexical_threshold: float = Field(
        default=0.85,
        ge=0,
        le=1,
        description="the same as coverage alone, where nothing is embedded",
    )
    compared: int = Field(
        default=8, ge=1, le=60, description="sentences that are embedded"
    )
    # With eight, 555 questions are answered and refused alike; with three, 12 are not
    # ("How long an answer takes" in measurements/answers.md).
    read: int = Field(
        default=5, ge=1, le=60, description="of these, sentences that are also read"
    )

    @override
    def build(self, models: Models) -> BaseSynthesizer:
        none = isinstance(models.embedder, NoEmbedding)
        return ExtractiveSynthesizer(None if none else models.embedder, self)


class ExtractiveSynthesizer(ModellessSynthesizer):
    """Picks the sentences of the sources that answer, or refuses.

    A model's description of a picture is not a source, because it is not the document's
    text.

    The response's metadata holds `claims` (label, node id, span in the node's text),
    `refused`, and `degradation` if the nearest sentences replace an answer because the
    rules do not support a language.

    Args:
        embedder: Compares sentences with the question; one with token vectors is most
            precise. Beside any embedder the sentence reader reads them. Without one
            only words are compared.
        limits: The required evidence; measured with the embedded model.
        vectors: Looks up stored vectors of sources; others are embedded.
        beside: Look up what belongs to a source: the other rows of its small table, and
            the lead-ins above it.
        lists: Reads the lists around a quote from the documents.
    """

    def __init__(
        self,
        embedder: BaseEmbedding | None = None,
        limits: ExtractiveOptions | None = None,
        vectors: Lookup | None = None,
        beside: Sequence[CollectionStep] = (),
        lists: ListReader | None = None,
    ) -> None:
        super().__init__()
        self._lists = lists or ListReader()
        self._wordings: tuple[str, ...] = ()
        self._embedder = embedder
        self.limits = limits or ExtractiveOptions()
        self._vectors = vectors
        self._beside = beside or (TableRows(), LeadIns())

    def over(
        self,
        collections: Sequence[Collection],
        where: Mapping[str, Any] | None = None,
    ) -> "ExtractiveSynthesizer":
        """Return this synthesizer with the stored vectors and rows of collections.

        Rows that `where` excludes are not added.
        """
        changed = copy(self)  # LlamaIndex takes a while to make a new one
        changed._vectors = stored_vectors(collections)  # noqa: SLF001 - of its own class
        changed._beside = [s.over(collections, where) for s in self._beside]  # noqa: SLF001
        changed._lists = ListReader(collections, where)  # noqa: SLF001
        return changed

    def with_wordings(self, wordings: Sequence[str]) -> "ExtractiveSynthesizer":
        """Return this synthesizer with further forms of a definition.

        Args:
            wordings: Sentences with `{term}` and `{definition}`.
        """
        changed = copy(self)
        changed._wordings = tuple(wordings)  # noqa: SLF001 - of its own class
        return changed

    def read(
        self, nodes: Sequence[NodeWithScore]
    ) -> tuple[list[Passage], list[NodeWithScore]]:
        """Return the sources as passages, and the chunks that were added to them.

        The passages of the added chunks come last.

        Args:
            nodes: The sources.
        """
        every = [*nodes]
        for step in self._beside:
            every = step.postprocess_nodes(every)
        known = known_vectors(nodes, self._vectors if self._embedder else None)
        passages = [
            replace(
                to_passage(n.node, i, known.get(n.node.node_id)), beside=i > len(nodes)
            )
            for i, n in enumerate(every, start=1)
        ]
        return passages, every[len(nodes) :]

    @override
    def synthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> Response:
        bundle = QueryBundle(query) if isinstance(query, str) else query
        nodes = [n for n in nodes if not is_generated(n.node)]
        passages, beside = self.read(nodes)
        answer = self._answer(bundle, passages)
        text, claims, extents, added, sure, unsure, rivals = answer
        beside += [NodeWithScore(node=node, score=0.0) for node in added]
        refused = not claims
        metadata: dict[str, Any] = {WRITTEN_BY_KEY: False}
        retrieved = passages[: len(nodes)]
        if refused and (reason := reason_unserved(bundle.query_str, retrieved)):
            claims = self._nearest(bundle.query_str, retrieved)
            text = f"{LEAD.format(reason=reason)}\n{write_answer(claims)}"
            metadata[UNSERVED_KEY] = to_degradation(reason)
        quoted = {claim.node_id for claim in claims}
        if brought := [n for n in beside if n.node.node_id in quoted]:
            nodes = list(LabelSources().postprocess_nodes([*nodes, *brought]))
            relabelled = with_labels(claims, nodes)
            now = dict(zip(claims, relabelled, strict=True))
            extents = [one._replace(last=now[one.last]) for one in extents]
            claims = relabelled
            text = write_answer(claims, extents, unsure=unsure)
        metadata |= {
            SURE_KEY: sure,
            RIVALS_KEY: list(rivals),
            CLAIMS_KEY: [*claims],
            REFUSED_KEY: refused,
            LISTS_KEY: [to_quoted_list(one) for one in extents],
        }
        sources = [*nodes, *(additional_source_nodes or [])]
        return Response(text, source_nodes=sources, metadata=metadata)

    def _nearest(self, question: str, passages: Sequence[Passage]) -> list[Claim]:
        """Return the nearest sentences, where the rules do not serve a language."""
        most = self.limits.most
        return find_nearest(question, passages, most) or quote_whole(passages[:most])

    @override
    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        shown = [split_shown(chunk, f"S{i}") for i, chunk in enumerate(text_chunks, 1)]
        passages = [Passage(s.label, s.label, s.text, s.heading) for s in shown]
        return self.answer(QueryBundle(query_str), passages)[0]

    def answer(
        self, bundle: QueryBundle, passages: Sequence[Passage]
    ) -> tuple[str, list[Claim]]:
        """Return the labelled answer and its claims; without claims a refusal."""
        written = self._answer(bundle, passages)
        return written.text, list(written.claims)

    def _answer(self, bundle: QueryBundle, passages: Sequence[Passage]) -> QuotedAnswer:
        """Return the answer with its claims and lists."""
        question = analyse(bundle.query_str, self._wordings)
        if is_fragment(question):
            return QuotedAnswer(refusal(passages, (), why_unanswered(question)))
        retrieved = [p for p in passages if not p.beside]
        claims = rule_claims(question, retrieved)
        claims = claims or section_claims(question, retrieved, self.limits.most)
        if claims := with_stems(claims, passages):
            goes_on = any(p.goes_on for p in retrieved)
            return QuotedAnswer(write_answer(claims) + f"\n{GOES_ON}" * goes_on, claims)
        passages = [p for p in passages if is_served(p)]
        if whole := self._lists.below_heading(question, passages):
            return to_answer(whole)
        return self._choose_and_quote(bundle, passages + read_tables(passages))

    def _choose_and_quote(
        self, bundle: QueryBundle, passages: Sequence[Passage]
    ) -> QuotedAnswer:
        """Return the chosen sentences with what belongs to them, or a refusal."""
        question = analyse(bundle.query_str, self._wordings)
        compared = self.compare(bundle, passages)
        scored = score_candidates(question, compared, passages)
        best = rank(question, credit_leads(question, scored, passages))
        good = keep_proven(best, self.limits)
        if rule := question.rule.told:  # text that only mentions the rule is no answer
            starts = rule_grammar().starts_with
            good = [s for s in good if starts(s.candidate.text_in(passages), rule)]
        good = prefer_unrestricted(question, good, passages)
        # Lazily, because the check for foreign words costs more than all else.
        near = (s for s in good if not self._has_other_subject(question, s, passages))
        chosen = choose(near, question, passages, self.limits)
        if not chosen and (section := self._lists.short_section(question, passages)):
            return to_answer(section, unsure=True)
        if not chosen:
            return QuotedAnswer(refusal(passages, best, why_unanswered(question)))
        quoted = with_namesakes(chosen, compared.everything, passages)
        whole = self.quote(question, quoted, passages)
        table = bool(passages[chosen[0].candidate.passage].parts)
        rows = [] if table else compared.unnamed
        reason = why_not_enough(question, " ".join(c.text for c in whole.claims))
        row = is_row_of(question, passages[chosen[0].candidate.passage])
        if question.form is Form.NUMBER and not row and _is_in_rows(chosen[0], rows):
            reason = WHICH_ROW
        if reason:
            return QuotedAnswer(refusal(passages, best, reason))
        unsure = self._is_uncertain(question, chosen, whole.claims, passages)
        rivals = find_rivals(question, chosen[0], best, passages)
        answer = to_answer(whole, chosen[0].sure, unsure=unsure)
        return answer._replace(rivals=rivals)

    def _is_uncertain(
        self,
        question: QuestionAnalysis,
        chosen: Sequence[ScoredCandidate],
        claims: Sequence[Claim],
        passages: Sequence[Passage],
    ) -> bool:
        """Return whether an answer gets the line that it may not answer."""
        best = chosen[0]
        sections = [passages[one.candidate.passage].section for one in chosen]
        return (
            is_unsure(best, self.limits)
            or is_for_some_only(question, best.candidate, passages)
            or tells_of_another(question, best.candidate, passages)
            or only_mentions(question, best, claims, passages)
            or tells_only_where(question, claims)
            or lacks_a_thing(question, claims, sections)
        )

    def quote(
        self,
        question: QuestionAnalysis,
        chosen: Sequence[Candidate],
        passages: Sequence[Passage],
    ) -> WholeLists:
        """Return the quotes of candidates, with their lead-ins and whole lists.

        Args:
            question: The question.
            chosen: The candidates that answer.
            passages: The sources.
        """
        pieces = [part for c in chosen for part in parts_of(passages, c)]
        pieces = with_continuations(question, pieces, passages)
        pieces = with_leads(question, with_antecedents(pieces, passages), passages)
        claims = [claim_of(passages[c.passage], c) for c in pieces]
        claims = with_stems(claims, passages)
        return self._lists.complete(question, chosen, claims, passages)

    def compare(self, bundle: QueryBundle, passages: Sequence[Passage]) -> Compared:
        """Return the candidates of the passages, and those compared by meaning.

        Args:
            bundle: The question, with its vector if it is known.
            passages: The sources.
        """
        return compare_candidates(
            bundle,
            analyse(bundle.query_str, self._wordings),
            passages,
            lists=self._lists,
            embedder=self._embedder,
            limits=ComparisonLimits(self.limits.compared, self.limits.read),
        )

    def _has_other_subject(
        self,
        question: QuestionAnalysis,
        scored: ScoredCandidate,
        passages: Sequence[Passage],
    ) -> bool:
        """Return True if a row and its surroundings have another subject."""
        passage = passages[scored.candidate.passage]
        if scored.plain or not passage.whole:
            return False
        around = surroundings(passage, scored.candidate)
        return lacks_a_word(question, around, self._embedder)


def _is_in_rows(best: ScoredCandidate, unnamed: Sequence[Candidate]) -> bool:
    """Return whether rows have nearly as many question words as the best sentence.

    The tolerance is that for two sentences that are quoted together. The requested
    number may then be in the rows as well.
    """
    return any(row.own >= CLOSE * best.candidate.own for row in unnamed)
