"""What `elt-llm query` and `elt-llm search` print, in this process or from a server."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from elt_llm_core.cli.terminal import harmless, json_text
from elt_llm_core.config import RagConfig
from elt_llm_core.errors import UsageError
from elt_llm_core.results import (
    Degradation,
    DegradationKind,
    QueryResult,
    SearchResult,
)
from elt_llm_core.store import Store
from elt_llm_core.store.health import require_data
from elt_llm_core.strategy import Models
from elt_llm_query.query import query_collections, search_collections
from elt_llm_query.render import answer_text, sources_text


@dataclass(frozen=True)
class Asked:
    """A question as the command line gives it."""

    command: str
    question: str
    collections: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    top_k: int | None = None
    as_json: bool = False
    colour: bool = False
    declined: str = ""  # why a running server did not answer

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Asked":
        """Return the question that JSON holds, its lists as tuples."""
        lists = {name: tuple(plain[name]) for name in ("collections", "filters")}
        return cls(**{**plain, **lists})


def printed(
    asked: Asked,
    *,
    store: Store,
    config: RagConfig,
    models: Callable[[], Models],
) -> str:
    """Return what the command prints.

    Args:
        asked: The question with its options.
        store: The data root.
        config: The configuration in force.
        models: Makes the models; called after the collections were found.

    Returns:
        The text for people, or one JSON object.

    Raises:
        EltLlmError: As `query_collections` and `search_collections` do.
    """
    names = names_of(store, asked.collections)
    where = where_of(asked.filters)
    if asked.command == "search":
        found = search_collections(
            names,
            asked.question,
            store=store,
            config=config,
            models=models(),
            k=asked.top_k,
            where=where,
            named=bool(asked.collections),
        )
        return _shown(found, asked, lambda: sources_text(found, colour=asked.colour))
    result = query_collections(
        names,
        asked.question,
        store=store,
        config=config,
        models=models(),
        where=where,
        named=bool(asked.collections),
    )
    return _shown(result, asked, lambda: answer_text(result, colour=asked.colour))


def where_of(given: tuple[str, ...]) -> dict[str, list[str]]:
    """Filters by key, as they were given. Raises UsageError for one without `=`."""
    where: dict[str, list[str]] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not (key and equals and value):
            raise UsageError(
                f"the filter {one!r} names no key and value", "write --where KEY=VALUE"
            )
        where.setdefault(key, []).append(value)
    return where


def names_of(store: Store, given: tuple[str, ...]) -> list[str]:
    """The collections given, else all. Raises NoDataError, or UsageError for none."""
    names = list(given) or [card.name for card in store.collections()]
    if not names:
        require_data(store.data_dir)
        raise UsageError(
            "there are no collections yet",
            "add documents first: elt-llm ingest PATH --collection NAME",
        )
    return names


def _shown(
    result: QueryResult | SearchResult, asked: Asked, human: Callable[[], str]
) -> str:
    if not asked.as_json:
        return harmless(human())
    notes = result.degradations
    if asked.declined:
        kind = DegradationKind.SERVER_DECLINED
        notes = (*notes, Degradation(kind=kind, detail=asked.declined))
    plain = result.model_copy(update={"degradations": notes}).model_dump(mode="json")
    return json_text(plain)
