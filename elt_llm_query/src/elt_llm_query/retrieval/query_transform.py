"""What is searched for: the question, and what a transform makes of it."""

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
    """One text that both indexes are asked for.

    The keyword index sees `bundle.query_str`. The vectors are compared with
    `bundle.embedding`, or with that of its `embedding_strs` where it has none. A list
    found for it weighs `weight` in the fusion; the question's weighs 1.
    """

    bundle: QueryBundle
    weight: float = 1.0

    @property
    def text(self) -> str:
        """What it says, for the trace."""
        texts = dict.fromkeys([self.bundle.query_str, *self.bundle.embedding_strs])
        return " | ".join(texts)


class SearchTransform(BaseQueryTransform):
    """Turns the searches of a question into others: adds to them or replaces them.

    In plain LlamaIndex it is a query transform that gives the first of its searches.
    Where its model fails it raises ModelError, and the searches stay.
    """

    @abstractmethod
    def transform(self, searches: Sequence[Search]) -> list[Search]:
        """The searches to be made in place of `searches`, at least one."""

    @override
    def _run(self, query_bundle: QueryBundle, metadata: dict[str, Any]) -> QueryBundle:
        return self.transform([Search(query_bundle)])[0].bundle

    @override
    def _get_prompts(self) -> PromptDictType:
        return {}

    @override
    def _update_prompts(self, prompts: PromptDictType) -> None:
        """It has none, unless a subclass says so."""


def add_searches(
    searches: Sequence[Search], texts: Iterable[str], weight: float
) -> list[Search]:
    """`searches`, then one of `weight` for each text that is not among them yet."""
    known = {s.bundle.query_str.casefold() for s in searches}
    more = list(searches)
    for text in texts:
        if text.casefold() not in known:
            known.add(text.casefold())
            more.append(Search(QueryBundle(text), weight))
    return more
