"""The step that leaves a question only the collections it is for."""

from collections.abc import Iterable

from llama_index.core.base.base_selector import BaseSelector
from llama_index.core.output_parsers.base import OutputParserException
from llama_index.core.tools.types import ToolMetadata

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import ConfigError, EmbedError, ModelError, suggest
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store import Collection, Store
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.preflight import built_or_left_out
from elt_llm_query.request import Request, halved
from elt_llm_query.routers.base import RouterOptions
from elt_llm_query.stages import ROUTERS

ALL = "all"
LONGEST = 600  # characters of a description

# What selectors of LlamaIndex raise where a model's answer is none.
_NO_ANSWER = (ModelError, EmbedError, OutputParserException, ValueError, LookupError)


def routed(
    request: Request, config: RagConfig, models: Models, store: Store
) -> tuple[tuple[Collection, ...], RagConfig]:
    """The collections to search, in the order given, and the configuration to use.

    Where the router chooses none all are searched for half as many sources. Where it
    fails or lacks its model all are searched, and the request says so; also where it
    names collections that `store` has not. Raises ConfigError, also where it has none
    of them.
    """
    collections, query = request.collections, config.query
    name, allowed = query.router_strategy, config.allowed_plugins()
    strategy = ROUTERS.load(name, query.router_options, allowed)
    if name == ALL or len(collections) < 2:  # noqa: PLR2004 - nothing to choose
        return collections, config
    selector = built_or_left_out(lambda: strategy.build(models), request.log)
    if selector is None:
        return collections, config
    _check_names(request, strategy, store)
    with request.log.stage("route", len(collections)) as note:
        try:
            places = _places(request, selector, strategy)
        except _NO_ANSWER as error:
            kind = DegradationKind.ROUTER_UNAVAILABLE
            detail = f"searched all collections: {error}"
            request.log.degrade(Degradation(kind=kind, detail=detail))
            note.n_out = len(collections)
            return collections, config
        note.hits([(collections[place].name, 1.0) for place in places])
    if not places:
        return collections, halved(config)
    return tuple(collections[place] for place in sorted(places)), config


def description(collection: Collection) -> str:
    """What a collection is about, by the titles and sections it has."""
    return "; ".join(collection.topics)[:LONGEST] or collection.name


def _check_names(
    request: Request, strategy: Strategy[BaseSelector], store: Store
) -> None:
    """Tell of collections that the options name and that do not exist."""
    if not isinstance(strategy, RouterOptions):
        return
    existing = {card.name for card in store.collections()}
    targets = strategy.targets()
    if targets and not targets & existing:
        raise ConfigError(
            f"query.router_options lead to {_listed(targets)}, and no such collection "
            "exists",
            suggest(min(targets), existing),
        )
    for name in sorted((targets | strategy.descriptions.keys()) - existing):
        detail = f"query.router_options name {name!r}, a collection that is not there"
        hint = suggest(name, existing)
        kind = DegradationKind.ROUTER_MISLED
        request.log.degrade(Degradation(kind=kind, detail=f"{detail}; {hint}"))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))


def _places(
    request: Request, selector: BaseSelector, strategy: Strategy[BaseSelector]
) -> list[int]:
    """Places of the chosen collections, best first."""
    told = getattr(strategy, "descriptions", {})
    choices = [
        ToolMetadata(name=c.name, description=told.get(c.name) or description(c))
        for c in request.collections
    ]
    found = selector.select(choices, request.bundle)
    return [i for i in dict.fromkeys(found.inds) if 0 <= i < len(choices)]
