"""Ask collections a question, search them, or write from known passages.

`answering.answer_question` answers a question that has one part; a question with
several is answered part by part where no language model writes, because one sentence of
the documents seldom answers two questions.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from llama_index.core.schema import NodeWithScore

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.results import (
    Degradation,
    DegradationKind,
    QueryResult,
    SearchResult,
)
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.analysis.message_form import split_parts
from elt_llm_query.answering import (
    AnswerWriter,
    answer_question,
    note_fallbacks,
    question_limits,
)
from elt_llm_query.caching.semantic_cache import SemanticCache
from elt_llm_query.conversation.parts import answer_parts
from elt_llm_query.engine import assemble
from elt_llm_query.grounding.labels import LabelSources
from elt_llm_query.grounding.nearest import REFUSED
from elt_llm_query.grounding.sources import to_sources
from elt_llm_query.plan import SearchPlan, quoting_settings, search_settings
from elt_llm_query.request import check_question, open_request
from elt_llm_query.source_search import SourceSearch
from elt_llm_query.stages import strategies_of, writes_answers


def query_collection(
    name: str,
    question: str,
    *,
    store: Store,
    config: RagConfig,
    models: Models,
    where: Mapping[str, Any] | None = None,
) -> QueryResult:
    """Answer `question` from one collection.

    Args:
        name: The collection.
        question: At most 8,000 characters.
        store: The data root.
        config: The settings; the section `query` applies.
        models: The embedder and, for written answers, the language model.
        where: Filters that every chunk must match; see `Collection.ids`.

    Returns:
        The answer; see `query_collections`.

    Raises:
        EltLlmError: See `query_collections`.
    """
    return query_collections(
        [name], question, store=store, config=config, models=models, where=where
    )


def query_collections(  # noqa: PLR0913 - what may be said of a question
    names: Sequence[str],
    question: str,
    *,
    store: Store,
    config: RagConfig,
    models: Models,
    where: Mapping[str, Any] | None = None,
    cache: SemanticCache | None = None,
    named: bool = True,
) -> QueryResult:
    """Answer `question` from all of the named collections together.

    Without a language model, or if it cannot be reached, each part of a question ("How
    long is the notice period and who approves leave?") is answered or refused by
    itself.

    Args:
        names: The collections.
        question: At most 8,000 characters.
        store: The data root.
        config: The settings; the section `query` applies.
        models: The embedder and, for written answers, the language model.
        where: Filters that every chunk must match; see `Collection.ids`.
        cache: A cache kept by a caller that asks more than once; see `build_cache`.
        named: False if the user named no collection, so that all are searched. A
            collection with vectors of another model is then left out, with a
            degradation.

    Returns:
        The answer, with every claim looked up in its ranked sources. A refusal is also
        a result (see `status`); `degradations` lists what was disabled or unavailable.

    Raises:
        UsageError: If the question is empty or too long, no collection is named, or a
            filter does not exist.
        CollectionNotFoundError: If a collection does not exist.
        CollectionMismatchError: If a collection was embedded by another model.
        ConfigError: If a strategy does not exist or has wrong options.
    """
    check_question(question)  # before it is split, which takes minutes for a megabyte
    ask = partial(
        answer_question,
        names,
        store=store,
        models=models,
        where=where,
        cache=cache,
        named=named,
    )
    parts = split_parts(question)
    if len(parts) == 1:
        return ask(question, config=config)
    with question_limits(config, store) as account:
        notes: tuple[Degradation, ...] = ()
        if writes_answers(config, models):
            result = ask(question, config=config)
            if not _is_refused_without_model(result):
                return result
            notes, config = result.degradations, quoting_settings(config)
        each = partial(ask, config=config)
        result = answer_parts(question, parts, each, store, config)
    trace = result.trace.model_copy(update={"models": account.used})
    degradations = tuple(dict.fromkeys([*notes, *result.degradations]))
    return result.model_copy(update={"trace": trace, "degradations": degradations})


def _is_refused_without_model(result: QueryResult) -> bool:
    """Return whether a question was refused because its model failed.

    The sentences that are looked for instead seldom answer two questions at once.
    """
    kinds = {one.kind for one in result.degradations}
    failed = DegradationKind.GENERATION_UNAVAILABLE in kinds
    return failed and result.status in REFUSED


def search_collections(  # noqa: PLR0913 - what may be said of a search
    names: Sequence[str],
    question: str,
    *,
    store: Store,
    config: RagConfig,
    models: Models,
    k: int | None = None,
    where: Mapping[str, Any] | None = None,
    cache: SemanticCache | None = None,
    named: bool = True,
) -> SearchResult:
    """Find the best sources for `question`, without an answer.

    Args:
        names: The collections.
        question: At most 8,000 characters.
        store: The data root.
        config: The settings; the section `query` applies.
        models: The embedder, and the language model of transforms and routers.
        k: Number of sources, instead of the configured one.
        where: Filters that every chunk must match; see `Collection.ids`.
        cache: A cache kept by a caller that asks more than once; see `build_cache`.
        named: As in `query_collections`.

    Returns:
        The sources in rank order.

    Raises:
        EltLlmError: See `query_collections`.
    """
    settings = search_settings(config, k)
    search = SourceSearch(store, settings, models, cache, named)
    with question_limits(config, store) as account:
        request, plan, _, nodes = search.retrieve(names, question, where)
    note_fallbacks(request, account)
    return SearchResult(
        question=question,
        sources=tuple(o.source for o in to_sources(nodes)),
        degradations=request.degradations(plan),
        trace=request.trace(plan, account.used),
    )


def write_from_passages(
    ids: Mapping[str, Sequence[str]],
    question: str,
    *,
    store: Store,
    config: RagConfig,
    models: Models,
) -> QueryResult:
    """Answer from known passages instead of searching.

    Args:
        ids: Collection to the ids of its chunks, best first.
        question: The question, or the subject to write about.
        store: The data root.
        config: The settings; the section `query` applies.
        models: The embedder and, for written answers, the language model.

    Returns:
        The answer, checked as in `query_collections`.

    Raises:
        EltLlmError: See `query_collections`.
    """
    writer = AnswerWriter(store, config, models)
    with question_limits(config, store) as account:
        request = open_request(list(ids), question, store=store, models=models)
        dense = request.bundle.embedding is not None
        plan = SearchPlan.of(config, collections=request.collections, dense=dense)
        engine = assemble(plan, strategies_of(config), models, request.log)
        by_id = {n: store.nodes_by_id(n, several) for n, several in ids.items()}
        given = [
            NodeWithScore(node=by_id[name][one], score=1.0)
            for name, several in ids.items()
            for one in several
            if one in by_id[name]
        ]
        nodes = LabelSources().postprocess_nodes(given)
        return writer.answer(request, plan, engine, nodes, account)
