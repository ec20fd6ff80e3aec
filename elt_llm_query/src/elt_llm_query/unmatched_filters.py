"""Why a filter left nothing to search: which key matches no chunk, and known values."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store import Collection

READ = 2000  # chunks of a collection whose values are read
SHOWN = 5  # values of a key


def describe_unmatched(
    where: Mapping[str, Any], collections: Sequence[Collection]
) -> Degradation | None:
    """Return a note if filters match no chunk of the collections.

    Args:
        where: The filters of a question.
        collections: The collections that were searched.

    Returns:
        The note: the filters that match nothing, values that chunks have instead, and
        the known keys. None if a chunk matches, or without filters.
    """
    if not where or any(c.ids(c.own_filters(where)) for c in collections):
        return None
    alone = [
        key
        for key, value in sorted(where.items())
        if not any(c.ids(c.own_filters({key: value})) for c in collections)
    ]
    text = "no chunk matches the filters" + (
        f": {'; '.join(_describe(key, where[key], collections) for key in alone)}"
        if alone
        else " together, though each of them matches some"
    )
    known = sorted(set(chain.from_iterable(c.filter_keys for c in collections)))
    return Degradation(
        kind=DegradationKind.FILTER_UNMATCHED,
        detail=f"{text}. Known keys: {', '.join(known)}",
    )


def _describe(key: str, value: Any, collections: Sequence[Collection]) -> str:
    values = list(dict.fromkeys(chain.from_iterable(_values(key, collections))))
    if not values:
        return f"{_write(key, value)} (no chunk has a value of {key})"
    more = len(values) - SHOWN
    sample = ", ".join(values[:SHOWN]) + (f" and {more} more" if more > 0 else "")
    return f"{_write(key, value)} (values of {key}: {sample})"


def _write(key: str, value: Any) -> str:
    """Return a filter as it is written on the command line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}{sign}{one}" for sign, one in value.items())
    return f"{key}={value}"


def _values(key: str, collections: Sequence[Collection]) -> Iterator[list[str]]:
    for collection in collections:
        ids = sorted(collection.ids({}))[:READ]
        nodes = collection.nodes(ids).values()
        for node in sorted(nodes, key=lambda n: provenance.read(n).span_start):
            yield [str(value) for value in _values_of(key, node) if value]


def _values_of(key: str, node: TextNode) -> Sequence[Any]:
    place = provenance.read(node)
    match key:
        case "rule":
            return place.rules
        case "figure":
            return (place.figure_number,)
        case "mentioned_figure":
            return place.figure_references
        case "page" | "date" | "kind" | "section" | "document" | "document_id":
            return (getattr(place, key),)
        case _:
            return (node.metadata.get(key),)
