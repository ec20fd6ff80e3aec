"""Answers without a language model: verbatim sentences with labels, or a refusal.

Deterministic. A sentence answers where the question's words stand in it and its
surroundings (weighted by rarity), it means the same (cosine), and it has the form asked
for (a number, a time). Where none passes, it says so and names the nearest sections.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.response.schema import Response
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from numpy.typing import NDArray
from pydantic import Field
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.errors import EmbedError, ModelError
from elt_llm_core.language.rule_numbers import rule_grammar
from elt_llm_core.provenance import RuleSpan
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.analysis.question import Question, analyse
from elt_llm_query.analysis.rule_reference import GOES_ON_KEY, told_of
from elt_llm_query.analysis.term_match import coverage, match, rarity
from elt_llm_query.grounding.claim import CLAIMS_KEY, REFUSED_KEY, UNSERVED_KEY, Claim
from elt_llm_query.grounding.labels import label_of, split_shown
from elt_llm_query.synthesizers.base import ModellessSynthesizer
from elt_llm_query.synthesizers.extractive.candidates import (
    Candidate,
    Passage,
    Placed,
    candidates,
    passage_vocabulary,
    surroundings,
)
from elt_llm_query.synthesizers.extractive.claim_spans import claim_of, rule_claims
from elt_llm_query.synthesizers.extractive.ranking import (
    Scored,
    chosen_of,
    in_form,
    plain,
    ranked,
    unopposed,
    with_namesakes,
    worth_comparing,
)
from elt_llm_query.synthesizers.extractive.relevance import has_stranger
from elt_llm_query.synthesizers.extractive.single_rows import without_single_rows
from elt_llm_query.synthesizers.extractive.unserved_language import (
    LEAD,
    degradation,
    is_served,
    nearest_claims,
    reason_unserved,
)

GOES_ON = "The rule goes on after this."
# Kinds of chunks that are quoted as one piece, and the words that name them.
_WHOLE_KINDS = {
    "table_row": "table row",
    "fact_sheet": "entity fact sheet",
    "relationship": "relationship related",
}
_SHEETS = frozenset(["fact_sheet", "relationship"])
_CHARACTERS = 600  # of a sentence that are embedded; longer ones are lists or tables


class Limits(Strategy[BaseSynthesizer]):
    """What the extractive synthesizer accepts; measured with the embedded model."""

    most: int = Field(default=3, ge=1, le=10, description="sentences of an answer")
    threshold: float = Field(
        default=1.2, ge=0, le=2, description="coverage plus cosine an answer needs"
    )
    lexical_threshold: float = Field(
        default=0.85,
        ge=0,
        le=1,
        description="coverage needed where nothing is embedded",
    )
    compared: int = Field(
        default=16, ge=1, le=60, description="sentences that are embedded"
    )

    @override
    def build(self, models: Models) -> BaseSynthesizer:
        return ExtractiveSynthesizer(embedder=models.embedder, limits=self)


class Extractive(Limits):
    """Verbatim sentences, or a refusal; needs no language model."""


class ExtractiveSynthesizer(ModellessSynthesizer):
    """Picks the sentences of the sources that answer, or refuses.

    The response's metadata holds `claims` (label, node id, span in the node's text),
    `refused`, and `degradation` where the nearest passages stand for an answer because
    the rules do not know a language. `embedder` may be None: then words alone decide,
    more strictly.
    """

    def __init__(
        self, embedder: BaseEmbedding | None = None, limits: Limits | None = None
    ) -> None:
        super().__init__()
        self._embedder = embedder
        self.limits = limits or Extractive()

    @override
    def synthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> Response:
        bundle = QueryBundle(query) if isinstance(query, str) else query
        passages = [_passage(n.node, i) for i, n in enumerate(nodes, start=1)]
        text, claims = self.answer(bundle, passages)
        metadata = {CLAIMS_KEY: claims, REFUSED_KEY: not claims}
        if not claims and (reason := reason_unserved(bundle.query_str, passages)):
            claims = nearest_claims(passages, self.limits.most)
            text = f"{LEAD.format(reason=reason)}\n{_told(claims)}"
            metadata = {CLAIMS_KEY: claims, REFUSED_KEY: True}
            metadata[UNSERVED_KEY] = degradation(reason)
        sources = [*nodes, *(additional_source_nodes or [])]
        return Response(text, source_nodes=sources, metadata=metadata)

    @override
    async def asynthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> Response:
        return self.synthesize(query, nodes, additional_source_nodes)

    @override
    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        shown = [split_shown(chunk, f"S{i}") for i, chunk in enumerate(text_chunks, 1)]
        passages = [Passage(s.label, s.label, s.text, s.heading) for s in shown]
        return self.answer(QueryBundle(query_str), passages)[0]

    @override
    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        return self.get_response(query_str, text_chunks)

    def answer(
        self, bundle: QueryBundle, passages: Sequence[Passage]
    ) -> tuple[str, list[Claim]]:
        """The answer with labels and what it rests on; no claims is a refusal."""
        claims = rule_claims(bundle.query_str, passages)
        if claims:
            goes_on = any(p.goes_on for p in passages)
            return _told(claims) + f"\n{GOES_ON}" * goes_on, claims
        question = analyse(bundle.query_str)
        passages = [p for p in passages if is_served(p)]
        found = self._found(question, bundle, passages)
        best = self._scored(question, found, bundle, passages)
        good = [s for s in best if self._passes(s)]
        good = [s for s in good if s.plain or not self._strange(question, s, passages)]
        if rule := told_of(bundle.query_str):  # what only names it does not tell it
            good = [
                s for s in good if rule_grammar().starts_with(_said(s, passages), rule)
            ]
        chosen = chosen_of(good, question, passages, self.limits.most)
        if not chosen:
            return refusal(passages, best), []
        told = with_namesakes(chosen, found, passages)
        claims = [claim_of(passages[c.passage], c) for c in told]
        return _told(claims), claims

    def _found(
        self, question: Question, bundle: QueryBundle, passages: Sequence[Passage]
    ) -> list[Candidate]:
        """Candidates that may answer; those out of form are left out."""
        vocabularies = [passage_vocabulary(p) for p in passages]
        everything = frozenset().union(*vocabularies)
        if any(match(name, everything) == 0 for name in question.names):
            return []
        weights = rarity(question, vocabularies)
        reach = [coverage(weights, [(v, 1.0)]) for v in vocabularies]
        pieces = candidates(question, passages, weights)
        return [
            c
            for c in without_single_rows(bundle.query_str, unopposed(pieces), passages)
            if in_form(question, c, passages)
            and (reach[c.passage] + 1.0 >= self.limits.threshold or plain(question, c))
        ]

    def _scored(
        self,
        question: Question,
        found: Sequence[Candidate],
        bundle: QueryBundle,
        passages: Sequence[Passage],
    ) -> list[Scored]:
        """The candidates that are worth comparing, best first."""
        compared = worth_comparing(question, found)[: self.limits.compared]
        cosines = self._cosines(bundle, compared, passages)
        return ranked(question, compared, cosines)

    def _cosines(
        self,
        bundle: QueryBundle,
        found: Sequence[Candidate],
        passages: Sequence[Passage],
    ) -> list[float | None]:
        """Cosine of each candidate to the question, None where nothing can embed."""
        if self._embedder is None or not found:
            return [None] * len(found)
        texts = [_embedded_text(passages[c.passage], c) for c in found]
        try:
            asked = bundle.embedding or self._embedder.get_query_embedding(
                bundle.query_str
            )
            vectors = self._embedder.get_text_embedding_batch(texts)
        except (ModelError, EmbedError):
            return [None] * len(found)
        return [float(x) for x in _cosine(np.array(asked), np.array(vectors))]

    def _strange(
        self, question: Question, scored: Scored, passages: Sequence[Passage]
    ) -> bool:
        """True where the sentence and what stands by it are about something else."""
        passage = passages[scored.candidate.passage]
        said = surroundings(passage, scored.candidate)
        return has_stranger(question, said, self._embedder)

    def _passes(self, scored: Scored) -> bool:
        if scored.plain:
            return True
        if scored.cosine is None:
            return scored.candidate.coverage >= self.limits.lexical_threshold
        return scored.evidence >= self.limits.threshold


def _said(scored: Scored, passages: Sequence[Passage]) -> str:
    one = scored.candidate
    return passages[one.passage].text[one.start : one.end]


def _told(claims: Sequence[Claim]) -> str:
    return "\n".join(f"{c.text} [{c.label}]" for c in claims)


def refusal(passages: Sequence[Passage], best: Sequence[Scored] = ()) -> str:
    """One honest sentence, and where the nearest material stands."""
    order = [s.candidate.passage for s in best] + list(range(len(passages)))
    nearest = list(
        dict.fromkeys(passages[i].heading for i in order if passages[i].heading)
    )
    said = "The documents do not answer this."
    return f"{said} Nearest: {'; '.join(nearest[:3])}." if nearest else said


def _passage(node: Any, number: int) -> Passage:
    place = provenance.read(node)
    text = node.text if isinstance(node, TextNode) else node.get_content()
    heading = ", ".join(p for p in (place.document, place.section) if p)
    return Passage(
        label=label_of(node) or f"S{number}",
        node_id=node.node_id,
        text=text,
        heading=heading,
        reading=place.index_text if place.index_text != text else "",
        whole=place.kind in _WHOLE_KINDS,
        about=_WHOLE_KINDS.get(place.kind, ""),
        sheet=place.kind in _SHEETS,
        cells=tuple(
            Placed(c.start - place.span_start, c.end - place.span_start, c.header)
            for c in place.cells
        ),
        rules=tuple(_inside(s, place.span_start) for s in place.rule_spans),
        goes_on=bool(node.metadata.get(GOES_ON_KEY)),
        language=place.text_language,
    )


def _inside(span: RuleSpan, start: int) -> RuleSpan:
    """The span as places in the text of a passage that begins at `start`."""
    moved = {"start": max(span.start - start, 0), "end": max(span.end - start, 0)}
    return span.model_copy(update=moved)


def _embedded_text(passage: Passage, candidate: Candidate) -> str:
    if passage.whole:
        return (passage.reading or passage.text)[:_CHARACTERS]
    return passage.text[candidate.start : candidate.end][:_CHARACTERS]


def _cosine(
    asked: NDArray[np.float64], vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(asked)
    result: NDArray[np.float64] = vectors @ asked / np.maximum(lengths, 1e-12)
    return result
