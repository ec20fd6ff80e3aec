"""Prepare a question: open and check the collections, embed the question."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from llama_index.core.schema import QueryBundle

from elt_llm_core.errors import (
    CollectionMismatchError,
    ModelError,
    UsageError,
)
from elt_llm_core.identifiers import item_key
from elt_llm_core.models import as_counting
from elt_llm_core.results import Degradation, DegradationKind, ModelCost, QueryTrace
from elt_llm_core.store import Collection, Store
from elt_llm_core.store.database.filters import FIXED, refuse_unknown
from elt_llm_core.strategy import Models
from elt_llm_query.analysis.question import QuestionAnalysis, analyse
from elt_llm_query.plan import SearchPlan
from elt_llm_query.resilience import raise_without_fallback
from elt_llm_query.retrieval.unit_vectors import embed_beginning
from elt_llm_query.trace import TraceLog

# About 1,300 words, far beyond an embedder's limit.
MOST_CHARACTERS = 8_000
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass
class Request:
    """The input of one question. `where` restricts the chunks."""

    question: str
    collections: tuple[Collection, ...]
    bundle: QueryBundle
    analysis: QuestionAnalysis
    where: Mapping[str, Any] = field(default_factory=dict)
    log: TraceLog = field(default_factory=TraceLog)

    def degradations(self, plan: SearchPlan) -> tuple[Degradation, ...]:
        """Return those of the searched collections, then those of the stages."""
        of_collections = [d for c in plan.collections for d in c.degradations]
        return tuple(dict.fromkeys([*of_collections, *self.log.degradations]))

    def trace(self, plan: SearchPlan, used: ModelCost) -> QueryTrace:
        """Return the stages so far; equal questions and indexes have equal ids."""
        generations = {c.name: c.generation for c in plan.collections}
        config_hash = plan.config.hash("models", "query")
        limits = [f"{key}={value!r}" for key, value in sorted(self.where.items())]
        versions = [f"{name}={number}" for name, number in sorted(generations.items())]
        return QueryTrace(
            query_id=item_key(self.question, config_hash, *versions, *limits)[:16],
            config_hash=config_hash,
            generations=generations,
            stages=tuple(self.log.stages),
            models=used,
        )


def open_request(
    names: Sequence[str],
    question: str,
    *,
    store: Store,
    models: Models,
    where: Mapping[str, Any] | None = None,
    named: bool = True,
) -> Request:
    """Open the collections, analyse the question and embed it.

    Args:
        names: Collections to search; repeated ones count once.
        question: At most 8,000 characters.
        store: The data root.
        models: The embedder of the question.
        where: Filters that every chunk must match.
        named: Whether the user named the collections. If not, a collection with vectors
            of another model is left out, with a degradation, as long as another
            remains.

    Raises:
        UsageError: If the question is empty or too long, no collection is named, or a
            filter does not exist.
        CollectionNotFoundError: If a collection does not exist.
        CollectionMismatchError: If a collection was embedded by another model.
    """
    check_question(question)
    if not names:
        raise UsageError("no collection to search", "name one with --collection")
    collections = tuple(store.open(name) for name in dict.fromkeys(names))
    bundle, limits = QueryBundle(question), dict(where or {})
    request = Request(question, collections, bundle, analyse(question), limits)
    _check_filters(limits, collections)  # before a model is called
    if any(c.card.chunks for c in collections):
        _embed(request, models, named=named)
    return request


def check_question(question: str) -> None:
    """Check the text of a question.

    Args:
        question: At most 8,000 characters.

    Raises:
        UsageError: If it is empty, too long or not valid Unicode.
    """
    if not any(c.isalnum() for c in question):
        raise UsageError("the question is empty", "write a question")
    if _SURROGATE.search(question):
        raise UsageError(
            "the question contains a character that is not valid Unicode",
            "write it in UTF-8",
        )
    if len(question) > MOST_CHARACTERS:
        raise UsageError(
            f"the question has {len(question)} characters",
            f"use at most {MOST_CHARACTERS}",
        )


def _check_filters(where: Mapping[str, Any], collections: Sequence[Collection]) -> None:
    """Raise UsageError for a key that no collection has, or a wrong value."""
    if others := where.keys() - FIXED:  # attributes of documents must be looked up
        refuse_unknown(others, chain.from_iterable(c.filter_keys for c in collections))
    for collection in collections if where else ():
        collection.ids(where)


def _embed(request: Request, models: Models, *, named: bool) -> None:
    """Embed the question once; add a degradation if that is not possible."""
    with request.log.stage("embed", 1) as note:
        try:
            _leave_out_unlike(request, models, named=named)
            vector = _vector(request, models)
        except ModelError as error:
            raise_without_fallback()
            kind = DegradationKind.EMBEDDER_UNAVAILABLE
            detail = f"searched by keywords only: {error}"
            request.log.degrade(Degradation(kind=kind, detail=detail))
            return
        request.bundle = QueryBundle(request.question, embedding=vector)
        note.n_out = 1


def _leave_out_unlike(request: Request, models: Models, *, named: bool) -> None:
    """Keep the collections whose vectors are comparable with the embedder's.

    Raises CollectionMismatchError for a named one, or if none remains.
    """
    digest = as_counting(models.embedder).digest
    now = (models.embedder.model_name, digest)
    unlike = {
        c.name: CollectionMismatchError.of_embedder(
            c.name, (c.card.embedder, c.card.embedder_digest), now
        )
        for c in request.collections
        if c.card.embedder_digest != digest
    }
    if unlike and (named or len(unlike) == len(request.collections)):
        raise next(iter(unlike.values()))
    for name, error in unlike.items():
        kind = DegradationKind.COLLECTION_LEFT_OUT
        detail = f"skipped: {error}"
        request.log.degrade(Degradation(kind=kind, collection=name, detail=detail))
    request.collections = tuple(c for c in request.collections if c.name not in unlike)


def _vector(request: Request, models: Models) -> list[float]:
    """Return the question's vector; for a question over the limit, of its beginning."""
    text = " ".join(request.question.split())
    vector, embedded = embed_beginning(models.embedder.get_query_embedding, text)
    if embedded != text:
        kind = DegradationKind.PROMPT_SHORTENED
        detail = "the question is too long for the embedder and was truncated"
        request.log.degrade(Degradation(kind=kind, detail=detail))
    return vector
