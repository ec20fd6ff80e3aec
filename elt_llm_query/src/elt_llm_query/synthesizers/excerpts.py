"""Select the sentences of the sources that are most relevant to a subject.

Unlike `extractive`, which looks for an answer, it selects what a reader of the subject
would mark: for summaries and the sections of reports. Deterministic, and without a
language model.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.response.schema import Response
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core.models.none import NoEmbedding
from elt_llm_core.provenance import is_generated
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.analysis.question import analyse
from elt_llm_query.analysis.read_sentence import Sentence, read, sentences
from elt_llm_query.analysis.term_match import coverage, rarity
from elt_llm_query.grounding.claim import (
    CLAIMS_KEY,
    REFUSED_KEY,
    WRITTEN_BY_KEY,
    Claim,
)
from elt_llm_query.grounding.labels import split_shown
from elt_llm_query.prompts import NO_SURE_ANSWER
from elt_llm_query.synthesizers.base_synthesizers import ModellessSynthesizer
from elt_llm_query.synthesizers.extractive.candidates import Passage
from elt_llm_query.synthesizers.extractive.list_stems import (
    is_fragment,
    read_items,
    with_stems,
)
from elt_llm_query.synthesizers.extractive.meanings import (
    EmbeddedSentence,
    compare_meanings,
)
from elt_llm_query.synthesizers.extractive.source_passages import to_passage

# A sentence of fewer words is a heading, a label or a fragment of a list.
SHORTEST = 5
_CHARACTERS = 600  # of a sentence that are embedded; longer ones are lists or tables
HEADING = 0.5  # what a word of the subject counts in the heading of a sentence
FAR = 0.5  # share of the subject's words needed where no passage has those of `about`
# What a sentence or list item ends with; an entry of a table of contents does not.
_ENDS = re.compile(r"(?:[.!;,)\]\"\u201d\u2019]|\b(?:and|or))$")


class ExcerptsOptions(Strategy[BaseSynthesizer]):
    """Verbatim sentences most relevant to a subject; needs no language model."""

    most: int = Field(default=6, ge=1, le=200, description="sentences")
    each: int = Field(
        default=3, ge=1, le=200, description="maximum sentences per passage"
    )
    about: str = Field(
        default="",
        description="words of which an excerpt or its section must contain one",
    )
    share: float = Field(
        default=0.25, ge=0, le=1, description="minimum number of words of the subject"
    )

    @override
    def build(self, models: Models) -> BaseSynthesizer:
        none = isinstance(models.embedder, NoEmbedding)
        return ExcerptsSynthesizer(None if none else models.embedder, self)


class _Excerpt(NamedTuple):
    passage: int
    sentence: Sentence
    share: float


class ExcerptsSynthesizer(ModellessSynthesizer):
    """Collects sentences of the sources in reading order, each once.

    Args:
        embedder: Compares sentences with the subject; without one words alone decide.
        limits: The number of sentences, and their minimum relevance.
    """

    def __init__(
        self,
        embedder: BaseEmbedding | None = None,
        limits: ExcerptsOptions | None = None,
    ) -> None:
        super().__init__()
        self._embedder = embedder
        self.limits = limits or ExcerptsOptions()

    @override
    def synthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> Response:
        bundle = QueryBundle(query) if isinstance(query, str) else query
        nodes = [hit for hit in nodes if not is_generated(hit.node)]
        passages = [to_passage(hit.node, i) for i, hit in enumerate(nodes, start=1)]
        claims = self.collect(bundle, passages)
        metadata = {
            WRITTEN_BY_KEY: False,
            CLAIMS_KEY: claims,
            REFUSED_KEY: not claims,
        }
        sources = [*nodes, *(additional_source_nodes or [])]
        return Response(_join(claims), source_nodes=sources, metadata=metadata)

    @override
    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        shown = [split_shown(chunk, f"S{i}") for i, chunk in enumerate(text_chunks, 1)]
        passages = [Passage(s.label, s.label, s.text, s.heading) for s in shown]
        return _join(self.collect(QueryBundle(query_str), passages))

    def collect(self, bundle: QueryBundle, passages: Sequence[Passage]) -> list[Claim]:
        """Return the sentences as claims, by the rank of their passages.

        Args:
            bundle: The subject, with its vector if it is known.
            passages: The sources, best first.
        """
        weights = rarity(analyse(bundle.query_str).weights, [p.stems for p in passages])
        about = frozenset(analyse(self.limits.about).weights)
        several = [p for p in passages if not about or about & p.stems]
        least = self.limits.share if several else max(self.limits.share, FAR)
        items = read_items(passages)
        near = [
            _Excerpt(number, sentence, share)
            for number, passage in enumerate(passages)
            for sentence in _tellings(passage)
            if not is_fragment(items, number, sentence.start)
            if not several or _is_about(about, sentence, passage)
            if (share := _share(weights, sentence, passage)) >= least
        ]
        shown = [_to_embed(passages[e.passage], e.sentence) for e in near]
        meanings = compare_meanings(bundle, weights, shown, self._embedder)
        scores = [
            excerpt.share + meaning.get("cosine", 0.0)
            for excerpt, meaning in zip(near, meanings, strict=True)
        ]
        # The best first; among equals the order of the sources.
        order = sorted(range(len(near)), key=lambda at: (-scores[at], at))
        chosen = self._choose([near[at] for at in order])
        claims = [
            _to_claim(passages[excerpt.passage], excerpt.sentence)
            for excerpt in sorted(chosen, key=lambda e: (e.passage, e.sentence.start))
        ]
        return with_stems(claims, passages)

    def _choose(self, best: Sequence[_Excerpt]) -> list[_Excerpt]:
        """The first ones, no text twice and not too many of one passage."""
        chosen: list[_Excerpt] = []
        lines: set[str] = set()
        for excerpt in best:
            line = excerpt.sentence.folded_line
            of_passage = sum(one.passage == excerpt.passage for one in chosen)
            if line in lines or of_passage >= self.limits.each:
                continue
            lines.add(line)
            chosen.append(excerpt)
            if len(chosen) == self.limits.most:
                break
        return chosen


def _tellings(passage: Passage) -> Iterator[Sentence]:
    """The sentences of a passage that tell something; a table row is one piece."""
    if passage.whole:
        yield Sentence(0, len(passage.text), passage.text)
        return
    headings = read(passage.heading).folded_line
    for sentence in sentences(passage.text):
        short = len(sentence.words) < SHORTEST or sentence.folded_line in headings
        if not short and _ENDS.search(sentence.text.rstrip()):
            yield sentence


def _is_about(about: frozenset[str], sentence: Sentence, passage: Passage) -> bool:
    return not about or bool(about & (sentence.stems | passage.above.stems))


def _share(weights: dict[str, float], sentence: Sentence, passage: Passage) -> float:
    own = passage.whole_text.stems if passage.whole else sentence.stems
    return coverage(weights, ((own, 1.0), (passage.above.stems, HEADING)))


def _to_embed(passage: Passage, sentence: Sentence) -> EmbeddedSentence:
    if passage.whole:
        return EmbeddedSentence((passage.reading or passage.text)[:_CHARACTERS], "")
    return EmbeddedSentence(sentence.text[:_CHARACTERS], passage.heading)


def _to_claim(passage: Passage, sentence: Sentence) -> Claim:
    text = " ".join(sentence.text.split())
    return Claim(passage.label, passage.node_id, sentence.start, sentence.end, text)


def _join(claims: Sequence[Claim]) -> str:
    return "\n".join(f"{c.text} [{c.label}]" for c in claims) or NO_SURE_ANSWER
