"""The main path: one question, some collections, one result.

question
│ model             an exact answer of an enterprise model ends here
│ embed             once for all collections, and taken apart once
│ cache             sources of a similar question, if a cache is configured
│ route             the collections it is for, if a router is configured
│ transform         more searches, or other ones        ┐
│ dense, keyword    hits of each collection             │
│ definition_first  those that define the asked term    │
│ fuse, fetch       one list of candidates              │
│ candidate         added or weighted, if configured    │
│ rerank            the best reranker_top_k             │ one plain LlamaIndex
│ postprocess       added or cut, if configured         │ RetrieverQueryEngine
│ trust             weighed by priority, where any is set
│ rule_lookup       the rule that is asked for, whole   │
│ namesakes         every fact sheet of an asked name   │
│ rule_filter       only the rules of a filter          │
│ references        lists that "[3]" in a text points to│
│ label             [S1] ... [Sn]                       │
│ earlier           passages cited earlier in the conversation
│ sufficiency       searched again for what they lack   │
│ tables            a whole table, if it can answer     │
│ synthesize        an answer with labels               ┘
│ verify            a citation for each claim, or none
▼
QueryResult

One `SearchPlan` holds what each stage keeps.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.document import BlockKind
from elt_llm_core.enterprise.model import SIDECAR_KIND
from elt_llm_core.models.gateway.kept_answers import keep_answers
from elt_llm_core.models.gateway.spending import Account, count_days, open_account
from elt_llm_core.patience import at_most
from elt_llm_core.question_traces import keep_trace
from elt_llm_core.results import (
    Citation,
    Conflict,
    Degradation,
    DegradationKind,
    QueryResult,
    Status,
)
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.caching.semantic_cache import SemanticCache
from elt_llm_query.earlier_passages import NO_EARLIER, EarlierPassages, add_earlier
from elt_llm_query.grounding.citations import Checked, check_answer
from elt_llm_query.grounding.claim import LISTS_KEY, RIVALS_KEY, SURE_KEY
from elt_llm_query.grounding.conflicts import find_conflicts
from elt_llm_query.grounding.judges import confirm_paraphrases
from elt_llm_query.grounding.nearest import REFUSED, quote_nearest
from elt_llm_query.grounding.sources import (
    Offered,
    locator,
    note_unquoted,
    to_sources,
)
from elt_llm_query.model_answer import ModelAnswer, answer_from_model
from elt_llm_query.plan import SearchPlan, table_settings
from elt_llm_query.request import Request, open_request
from elt_llm_query.source_search import SourceSearch
from elt_llm_query.stages import build_or_leave_out, strategies_of
from elt_llm_query.sufficiency.gap_rounds import (
    FoundSources,
    complete_sources,
    order_again,
)
from elt_llm_query.synthesizers.extractive.meanings import comparison_with

# Among the fact sheets of a model, the rows of a table would not be retrieved.
TABLE_ROWS: Mapping[str, Any] = {"kind": BlockKind.TABLE_ROW.value}
ANSWER_CUT = Degradation(
    kind=DegradationKind.ANSWER_CUT,
    detail="the model's answer reached the token limit (num_predict) before it "
    "was complete",
)


@contextmanager
def question_limits(config: RagConfig, store: Store) -> Iterator[Account]:
    """Set the time limit, the budget and the cached model answers of a question.

    Returns the account of its model calls.
    """
    with (
        at_most(config.query.question_timeout),
        keep_answers(store.journal),
        count_days(store.day_ledger),
        open_account("question", config.gateway) as account,
    ):
        yield account


def note_fallbacks(request: Request, account: Account) -> None:
    """Add a degradation if a fallback model answered."""
    for failure in dict.fromkeys(account.fallbacks):
        detail = f"a fallback model was used: {failure}"
        note = Degradation(kind=DegradationKind.OTHER_MODEL, detail=detail)
        request.log.degrade(note)


def answer_question(  # noqa: PLR0913 - what may be said of a question
    names: Sequence[str],
    question: str,
    *,
    store: Store,
    config: RagConfig,
    models: Models,
    where: Mapping[str, Any] | None = None,
    cache: SemanticCache | None = None,
    named: bool = True,
    earlier: EarlierPassages = NO_EARLIER,
) -> QueryResult:
    """Answer a question that has one part, from the named collections together.

    Args:
        names: The collections.
        question: At most 8,000 characters.
        store: The data root.
        config: The settings; the section `query` applies.
        models: The embedder and, for written answers, the language model.
        where: Filters that every chunk must match; see `Collection.ids`.
        cache: A cache kept by a caller that asks more than once; see `build_cache`.
        named: As in `query_collections`.
        earlier: Passages that earlier turns of a conversation cited.

    Returns:
        The answer; see `query_collections`.

    Raises:
        EltLlmError: See `query_collections`.
    """
    search = SourceSearch(store, config, models, cache, named)
    writer = AnswerWriter(store, config, models)
    with question_limits(config, store) as account:
        stated = None if where else writer.ask_model(names, question)
        result = writer.answer_exactly(stated, names, question, account, named=named)
        if result is None:
            request, plan, engine, nodes = search.retrieve(names, question, where)
            nodes = add_earlier(
                earlier, nodes, plan, engine, request.bundle, request.log
            )
            nodes = writer.complete(request, plan, engine, nodes)
            result = writer.answer(request, plan, engine, nodes, account)
            if stated is not None:
                result = stated.with_refusal(result)
    if config.query.trace == "none":
        return result
    return keep_trace(store, result, names, config.query.traces_kept)


def _verify(
    request: Request,
    response: RESPONSE_TYPE,
    sources: Sequence[Offered],
    store: Store,
    config: RagConfig,
    models: Models,
) -> tuple[Checked, tuple[Citation, ...], tuple[Conflict, ...]]:
    """Return the checked answer, the nearest passages of a refusal, and conflicts."""
    question = request.question
    with request.log.stage("verify", len(sources)) as note:
        policy = config.query.citation_policy
        strategy = strategies_of(config).judge
        judge = build_or_leave_out(strategy, models, request.log)
        confirm = partial(confirm_paraphrases, judge=judge, log=request.log)
        checked = check_answer(response, sources, store, policy, question, confirm)
        note.n_out = len(checked.citations)
        locate = locator(store)
        # Only a refusal needs it, and to know a question's language may cost a second.
        refused = checked.status in REFUSED
        compare = comparison_with(question, models.embedder) if refused else None
        nearest = quote_nearest(checked.status, question, sources, locate, compare)
        rivals = (response.metadata or {}).get(RIVALS_KEY, ())
        conflicts = find_conflicts(
            checked.status, question, checked.statements, sources, locate, rivals
        )
    return checked, nearest, conflicts


@dataclass(frozen=True)
class AnswerWriter:
    """Answers a question from its sources, and looks every statement up in them."""

    store: Store
    config: RagConfig
    models: Models

    def answer(
        self,
        request: Request,
        plan: SearchPlan,
        engine: RetrieverQueryEngine,
        nodes: list[NodeWithScore],
        account: Account,
    ) -> QueryResult:
        """Return the answer from these sources, with every statement looked up."""
        write = partial(engine.synthesize, request.bundle, nodes)
        return self._check(request, plan, nodes, account, write)

    def ask_model(self, names: Sequence[str], question: str) -> ModelAnswer | None:
        """Return what an enterprise model states on a question, or None."""
        if not self.config.query.use_model_graph:
            return None
        return answer_from_model(names, question, self.store)

    def answer_exactly(
        self,
        stated: ModelAnswer | None,
        names: Sequence[str],
        question: str,
        account: Account,
        *,
        named: bool,
    ) -> QueryResult | None:
        """Return the answer of a table or a model, or None to search the documents.

        A table in scope that lists what the model lists too is the answer alone: it may
        have more rows, and the model says of itself that it is "in the model".
        """
        if stated is None or stated.response is None:
            return None
        if stated.is_listing and self.config.query.use_tables:
            listed = self._ask_tables(names, question, account, named=named)
            if stated.is_in_table(listed):
                return listed
        return self._answer_from_model(stated, names, question, account, named=named)

    def _ask_tables(
        self, names: Sequence[str], question: str, account: Account, *, named: bool
    ) -> QueryResult:
        """Return the answer from rows of tables, without a language model."""
        config = table_settings(self.config)
        models = Models(self.models.embedder)
        search = SourceSearch(self.store, config, models, None, named)
        request, plan, engine, nodes = search.retrieve(names, question, TABLE_ROWS)
        writer = AnswerWriter(self.store, config, models)
        return writer.answer(request, plan, engine, nodes, account)

    def _answer_from_model(
        self,
        stated: ModelAnswer,
        names: Sequence[str],
        question: str,
        account: Account,
        *,
        named: bool,
    ) -> QueryResult | None:
        """Return the checked answer of an enterprise model, or None without one."""
        if stated.response is None:
            return None
        response, nodes = stated.response, stated.nodes
        request = open_request(
            names, question, store=self.store, models=self.models, named=named
        )
        dense = request.bundle.embedding is not None
        plan = SearchPlan.of(self.config, collections=request.collections, dense=dense)
        with request.log.stage("model", len(nodes)) as note:
            note.n_out = len(nodes)
        result = self._check(request, plan, nodes, account, lambda: response)
        return result if result.status is Status.ANSWERED else None

    def _check(
        self,
        request: Request,
        plan: SearchPlan,
        nodes: Sequence[NodeWithScore],
        account: Account,
        write: Callable[[], RESPONSE_TYPE],
    ) -> QueryResult:
        """Check what `write` returns against its sources and build the result."""
        before = account.used.cut
        response = write()
        sources = to_sources(response.source_nodes)
        checked, nearest, conflicts = _verify(
            request, response, sources, self.store, self.config, self.models
        )
        note_unquoted(nodes, response.source_nodes, request.log)
        note_fallbacks(request, account)
        if account.used.cut > before:
            request.log.degrade(ANSWER_CUT)
        return QueryResult(
            question=request.question,
            status=checked.status,
            answer=checked.answer,
            statements=checked.statements,
            sources=tuple(o.source for o in sources),
            citations=checked.citations,
            removed=checked.removed,
            nearest=nearest,
            lists=tuple((response.metadata or {}).get(LISTS_KEY, ())),
            sure=(response.metadata or {}).get(SURE_KEY),
            conflicts=conflicts,
            degradations=request.degradations(plan),
            trace=request.trace(plan, account.used),
        )

    def complete(
        self,
        request: Request,
        plan: SearchPlan,
        engine: RetrieverQueryEngine,
        nodes: list[NodeWithScore],
    ) -> list[NodeWithScore]:
        """Return the sources, completed by the configured sufficiency strategy."""
        log, bundle = request.log, request.bundle
        strategy = strategies_of(self.config).sufficiency
        step = build_or_leave_out(strategy, self.models, log)
        if step is None:
            return nodes

        def draft(given: list[NodeWithScore]) -> list[str]:
            response = engine.synthesize(bundle, given)
            offered = to_sources(response.source_nodes)
            policy = self.config.query.citation_policy
            checked = check_answer(
                response, offered, self.store, policy, request.question
            )
            return [removed.text for removed in checked.removed]

        sources = FoundSources(
            question=request.question,
            nodes=nodes,
            search=lambda text: engine.retriever.retrieve(QueryBundle(text)),
            order=lambda every: order_again(engine, bundle, every),
            draft=draft,
            log=log,
            collections=plan.collections,
            where=plan.where,
            ask_graph=self._graph(plan),
        )
        return complete_sources(step, sources)

    def _graph(self, plan: SearchPlan) -> Callable[[str], list[NodeWithScore]] | None:
        """Return the function that finds the proof of an answer from a model."""
        names = [collection.name for collection in plan.collections]
        is_asked = self.config.query.use_model_graph and not plan.where
        if not is_asked or not any(self.store.sidecars(n, SIDECAR_KIND) for n in names):
            return None

        def ask(question: str) -> list[NodeWithScore]:
            stated = answer_from_model(names, question, self.store)
            return list(stated.nodes) if stated else []

        return ask
