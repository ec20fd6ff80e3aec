"""The routing stage: restrict a question to the chosen collections."""

from collections.abc import Iterable

from llama_index.core.base.base_selector import BaseSelector
from llama_index.core.output_parsers.base import OutputParserException
from llama_index.core.tools.types import ToolMetadata

from elt_llm_core.errors import ConfigError, EmbedError, ModelError, suggest
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store import Collection, Store
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.components import NamesCollections
from elt_llm_query.plan import SearchPlan
from elt_llm_query.request import Request
from elt_llm_query.stages import Strategies, build_or_leave_out

ALL = "all"
# Characters of a description: those of a dozen collections fit into one prompt.
LONGEST = 600

# Errors of LlamaIndex's selectors for an answer that cannot be parsed.
_NO_ANSWER = (ModelError, EmbedError, OutputParserException, ValueError, LookupError)


def choose_collections(
    plan: SearchPlan,
    request: Request,
    strategies: Strategies,
    models: Models,
    store: Store,
) -> SearchPlan:
    """Return the plan for the collections that the router chooses.

    If it chooses none, all are searched for half as many sources. If it fails or its
    model is missing, all are searched, with a degradation; options that name missing
    collections are reported too.

    Raises:
        ConfigError: If the options of the router are wrong, or it can only choose
            collections that do not exist.
    """
    options, collections = strategies.router, plan.collections
    if plan.config.query.router_strategy == ALL or len(collections) < 2:  # noqa: PLR2004 - nothing to choose
        return plan
    selector = build_or_leave_out(options, models, request.log)
    if selector is None:
        return plan
    _check_names(request, options, store)
    with request.log.stage("route", len(collections)) as note:
        try:
            chosen = _select(request, selector, options)
        except _NO_ANSWER as error:
            kind = DegradationKind.ROUTER_UNAVAILABLE
            detail = f"searched all collections: {error}"
            request.log.degrade(Degradation(kind=kind, detail=detail))
            note.n_out = len(collections)
            return plan
        note.hits([(collections[place].name, 1.0) for place in chosen])
    if not chosen:
        return plan.halve()
    return plan.over([collections[place] for place in sorted(chosen)])


def describe(collection: Collection) -> str:
    """Return a description of a collection from its titles and sections."""
    return "; ".join(collection.topics)[:LONGEST] or collection.name


def _check_names(
    request: Request, options: Strategy[BaseSelector], store: Store
) -> None:
    """Add degradations for collections that the options name and that do not exist."""
    if not isinstance(options, NamesCollections):
        return
    existing = {card.name for card in store.collections()}
    targets = options.targets()
    if targets and not targets & existing:
        raise ConfigError(
            f"query.router_options refer to {_quote_all(targets)}, and no such "
            "collection exists",
            suggest(min(targets), existing),
        )
    for name in sorted((targets | options.descriptions.keys()) - existing):
        detail = f"query.router_options name {name!r}, a collection that does not exist"
        hint = suggest(name, existing)
        kind = DegradationKind.ROUTER_MISLED
        request.log.degrade(Degradation(kind=kind, detail=f"{detail}; {hint}"))


def _quote_all(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))


def _select(
    request: Request, selector: BaseSelector, options: Strategy[BaseSelector]
) -> list[int]:
    """Return the positions of the chosen collections, best first."""
    given = options.descriptions if isinstance(options, NamesCollections) else {}
    choices = [
        ToolMetadata(name=c.name, description=given.get(c.name) or describe(c))
        for c in request.collections
    ]
    selected = selector.select(choices, request.bundle)
    return [i for i in dict.fromkeys(selected.inds) if 0 <= i < len(choices)]
