"""Answers without a language model: verbatim sentences with labels, or a refusal.

Deterministic. A sentence answers if it and its surroundings hold the question's words
(weighted by rarity), it means the same (cosine), and it has the form asked for (a
number, a time). If none does, the answer says so and names the nearest sections.
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
from elt_llm_core.language.detect import question_language
from elt_llm_core.language.languages import ENGLISH, name_of
from elt_llm_core.language.rule_numbers import rule_grammar
from elt_llm_core.models.none import NoEmbedding
from elt_llm_core.provenance import RuleSpan
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.analysis.question import QuestionAnalysis, analyse
from elt_llm_query.analysis.rule_reference import GOES_ON_KEY
from elt_llm_query.analysis.term_match import coverage, match, rarity
from elt_llm_query.grounding.claim import (
    CLAIMS_KEY,
    REFUSED_KEY,
    UNSERVED_KEY,
    WRITTEN_BY_KEY,
    Claim,
)
from elt_llm_query.grounding.labels import label_of, split_shown
from elt_llm_query.prompts import REFUSAL
from elt_llm_query.synthesizers.extractive.candidates import (
    Candidate,
    Passage,
    PlacedCell,
    find_candidates,
    surroundings,
)
from elt_llm_query.synthesizers.extractive.claim_spans import claim_of, rule_claims
from elt_llm_query.synthesizers.extractive.question_kinds import (
    lacks_referent,
    why_unanswered,
)
from elt_llm_query.synthesizers.extractive.ranking import (
    ScoredCandidate,
    choose,
    drop_opposed,
    keep_in_form,
    keep_proven,
    lacks_a_word,
    plain,
    rank,
    with_namesakes,
    worth_comparing,
)
from elt_llm_query.synthesizers.extractive.single_rows import drop_single_rows
from elt_llm_query.synthesizers.wrapping import ModellessSynthesizer

GOES_ON = "The rule goes on after this."
# The rules that take a question apart and weigh sentences are written for English. For
# other languages the nearest passages are shown as what they are, with the reason.
SERVED = frozenset([ENGLISH])
LEAD = "No answer was picked: {reason}. The nearest passages, as they stand:"
_RULES = "the rules that pick an answer know English only"
_INSTEAD = "the nearest passages are shown instead; a language model may answer"
# Kinds of chunks that are quoted as one piece, and the words that name them.
_WHOLE_KINDS = {
    "table_row": "table row",
    "fact_sheet": "entity fact sheet",
    "relationship": "relationship related",
}
_SHEETS = frozenset(["fact_sheet", "relationship"])
_CHARACTERS = 600  # of a sentence that are embedded; longer ones are lists or tables


class ExtractiveOptions(Strategy[BaseSynthesizer]):
    """Verbatim sentences, or a refusal; needs no language model."""

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
        default=8, ge=1, le=60, description="sentences that are embedded"
    )

    @override
    def build(self, models: Models) -> BaseSynthesizer:
        none = isinstance(models.embedder, NoEmbedding)
        return ExtractiveSynthesizer(None if none else models.embedder, self)


class ExtractiveSynthesizer(ModellessSynthesizer):
    """Picks the sentences of the sources that answer, or refuses.

    The response's metadata holds `claims` (label, node id, span in the node's text),
    `refused`, and `degradation` if the nearest passages replace an answer because the
    rules do not know a language.

    Args:
        embedder: Compares sentences with the question. Without one words alone decide,
            more strictly.
        limits: What it accepts; measured with the embedded model.
    """

    def __init__(
        self,
        embedder: BaseEmbedding | None = None,
        limits: ExtractiveOptions | None = None,
    ) -> None:
        super().__init__()
        self._embedder = embedder
        self.limits = limits or ExtractiveOptions()

    @override
    def synthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> Response:
        bundle = QueryBundle(query) if isinstance(query, str) else query
        passages = [_to_passage(n.node, i) for i, n in enumerate(nodes, start=1)]
        text, claims = self.answer(bundle, passages)
        refused = not claims
        metadata: dict[str, Any] = {WRITTEN_BY_KEY: False}
        if refused and (reason := reason_unserved(bundle.query_str, passages)):
            claims = _quote_whole(passages[: self.limits.most])
            text = f"{LEAD.format(reason=reason)}\n{_write(claims)}"
            kind = DegradationKind.LANGUAGE_NOT_SERVED
            detail = f"{reason}; {_INSTEAD}"
            metadata[UNSERVED_KEY] = Degradation(kind=kind, detail=detail)
        metadata |= {CLAIMS_KEY: claims, REFUSED_KEY: refused}
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
        """Return the answer with labels, and its claims; without claims a refusal."""
        question = analyse(bundle.query_str)
        claims = rule_claims(question, passages)
        if claims:
            goes_on = any(p.goes_on for p in passages)
            return _write(claims) + f"\n{GOES_ON}" * goes_on, claims
        passages = [p for p in passages if is_served(p)]
        candidates = self._candidates(question, passages)
        best = self._rank(question, candidates, bundle, passages)
        limits = self.limits
        good = keep_proven(best, limits.threshold, limits.lexical_threshold)
        if rule := question.rule.told:  # what only mentions the rule is no answer
            starts = rule_grammar().starts_with
            good = [s for s in good if starts(s.candidate.text_in(passages), rule)]
        # Read one by one: whether a word is foreign costs more than all the rest.
        near = (s for s in good if s.plain or not self._strange(question, s, passages))
        chosen = choose(near, question, passages, self.limits.most)
        if not chosen:
            return refusal(passages, best, why_unanswered(question)), []
        quoted = with_namesakes(chosen, candidates, passages)
        claims = [claim_of(passages[c.passage], c) for c in quoted]
        return _write(claims), claims

    def _candidates(
        self, question: QuestionAnalysis, passages: Sequence[Passage]
    ) -> list[Candidate]:
        """Candidates that may answer; those out of form are left out."""
        vocabularies = [p.stems for p in passages]
        everything = frozenset().union(*vocabularies)
        unknown = any(match(name, everything) == 0 for name in question.names)
        if unknown or lacks_referent(question):
            return []
        weights = rarity(question.weights, vocabularies)
        reach = [coverage(weights, [(v, 1.0)]) for v in vocabularies]
        candidates = drop_opposed(find_candidates(question, passages, weights))
        candidates = drop_single_rows(question, candidates, passages)
        return [
            c
            for c in keep_in_form(question, candidates, passages)
            if reach[c.passage] + 1.0 >= self.limits.threshold or plain(question, c)
        ]

    def _rank(
        self,
        question: QuestionAnalysis,
        candidates: Sequence[Candidate],
        bundle: QueryBundle,
        passages: Sequence[Passage],
    ) -> list[ScoredCandidate]:
        """The candidates that are worth comparing, best first."""
        compared = worth_comparing(question, candidates)[: self.limits.compared]
        cosines = self._cosines(bundle, compared, passages)
        return rank(question, compared, cosines)

    def _cosines(
        self,
        bundle: QueryBundle,
        candidates: Sequence[Candidate],
        passages: Sequence[Passage],
    ) -> list[float | None]:
        """Cosine of each candidate to the question, None where nothing can embed."""
        if self._embedder is None or not candidates:
            return [None] * len(candidates)
        texts = [_embedded_text(passages[c.passage], c) for c in candidates]
        try:
            asked = bundle.embedding or self._embedder.get_query_embedding(
                bundle.query_str
            )
            vectors = self._embedder.get_text_embedding_batch(texts)
        except (ModelError, EmbedError):
            return [None] * len(candidates)
        return [float(x) for x in _cosine(np.array(asked), np.array(vectors))]

    def _strange(
        self,
        question: QuestionAnalysis,
        scored: ScoredCandidate,
        passages: Sequence[Passage],
    ) -> bool:
        """True if the sentence and its surroundings are about something else."""
        passage = passages[scored.candidate.passage]
        around = surroundings(passage, scored.candidate)
        return lacks_a_word(question, around, self._embedder)


def _write(claims: Sequence[Claim]) -> str:
    return "\n".join(f"{c.text} [{c.label}]" for c in claims)


def _quote_whole(passages: Sequence[Passage]) -> list[Claim]:
    return [
        Claim(p.label, p.node_id, 0, len(p.text), " ".join(p.text.split()))
        for p in passages
    ]


def is_served(passage: Passage) -> bool:
    """Return whether the rules know the language of a passage."""
    return (passage.language or ENGLISH) in SERVED


def reason_unserved(question: str, passages: Sequence[Passage]) -> str:
    """Why the rules cannot answer the question from the passages.

    Args:
        question: The question as it was asked.
        passages: What was found for it.

    Returns:
        One clause that names the language: that of the nearest passage, or that of the
        question. Empty where the rules serve both: passages further down in another
        language do not keep an English question from being refused.
    """
    if passages and not is_served(passages[0]):
        return (
            f"{_RULES}, and the nearest passage is in {name_of(passages[0].language)}"
        )
    asked = question_language(question, {p.language or ENGLISH for p in passages})
    if asked and asked not in SERVED:
        return f"{_RULES}, and the question is in {name_of(asked)}"
    return ""


def refusal(
    passages: Sequence[Passage],
    best: Sequence[ScoredCandidate] = (),
    reason: str = "",
) -> str:
    """Return a refusal with the nearest headings, and its reason if it is known.

    Args:
        passages: The sources.
        best: The candidates, best first, whose headings are named first.
        reason: A sentence on the kind of question.
    """
    order = [s.candidate.passage for s in best] + list(range(len(passages)))
    headings = (passages[i].heading for i in order if passages[i].heading)
    nearest = list(dict.fromkeys(headings))[:3]
    places = f"Nearest: {'; '.join(nearest)}." if nearest else ""
    return " ".join(part for part in (REFUSAL, places, reason) if part)


def _to_passage(node: Any, number: int) -> Passage:
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
            PlacedCell(c.start - place.span_start, c.end - place.span_start, c.header)
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
