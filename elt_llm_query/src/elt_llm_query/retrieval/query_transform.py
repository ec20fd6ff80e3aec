"""Searches: the question, and those that transforms derive from it."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.indices.query.query_transform.base import BaseQueryTransform
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import QueryBundle
from typing_extensions import override


@dataclass(frozen=True)
class Search:
    """One text to search for in both indexes.

    The keyword index uses `bundle.query_str`. Vectors are compared with
    `bundle.embedding`, or with the embedding of its `embedding_strs`. Its result list
    has the weight `weight` in the fusion; the question's has 1.
    """

    bundle: QueryBundle
    weight: float = 1.0

    @property
    def text(self) -> str:
        """Return its text for the trace."""
        texts = dict.fromkeys([self.bundle.query_str, *self.bundle.embedding_strs])
        return " | ".join(texts)


class SearchTransform(BaseQueryTransform):
    """Derives searches from those of a question: adds or replaces them.

    In plain LlamaIndex it is a query transform that returns the first of its searches.
    If its model fails it raises ModelError, and the searches stay.
    """

    @abstractmethod
    def transform(self, searches: Sequence[Search]) -> list[Search]:
        """Return the searches to make instead of `searches`, at least one."""

    @override
    def _run(self, query_bundle: QueryBundle, metadata: dict[str, Any]) -> QueryBundle:
        return self.transform([Search(query_bundle)])[0].bundle

    @override
    def _get_prompts(self) -> PromptDictType:
        return {}

    @override
    def _update_prompts(self, prompts: PromptDictType) -> None:
        """Do nothing: it has no prompts unless a subclass defines some."""


def add_searches(
    searches: Sequence[Search], texts: Iterable[str], weight: float
) -> list[Search]:
    """Append a search of `weight` for each text that is not among them yet."""
    known = {s.bundle.query_str.casefold() for s in searches}
    more = list(searches)
    for text in texts:
        if text.casefold() not in known:
            known.add(text.casefold())
            more.append(Search(QueryBundle(text), weight))
    return more
