"""The stage, and what every enricher has: nothing is cut, nothing is read or quoted."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.schema import BaseNode, TextNode, TransformComponent
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.provenance import INDEX_GAP, Provenance, index_text, read, write
from elt_llm_core.strategy import Stage

ENRICHERS: Stage[TransformComponent] = Stage("enrichers")
JOINED = " > "


@dataclass(frozen=True)
class Addition:
    """What is added to one chunk.

    `before` goes in front of the indexed text: its first parts are left out where not
    all have room. `after` goes behind it, part by part while there is room.
    """

    before: Sequence[str] = ()
    after: Sequence[str] = ()
    date: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    problem: str = ""


class Enricher(TransformComponent):
    """Adds to what is embedded and put into the keyword index, never to the text.

    What has no room below the embedder's `max_tokens` is left out, so that no model
    cuts anything off. Called with chunks in reading order and, where there is one, the
    document they are of as `parsed`; gives copies in the same order.
    """

    max_tokens: int = Field(default=256, ge=8, description="the embedder's limit")

    _count: Callable[[str], int] = PrivateAttr()

    def __init__(self, count_tokens: Callable[[str], int], **fields: Any) -> None:
        super().__init__(**fields)
        self._count = count_tokens

    @abstractmethod
    def additions(
        self, nodes: Sequence[TextNode], parsed: ParsedDocument | None
    ) -> Iterator[Addition]:
        """What is added to each chunk, in order."""

    @override
    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:
        parsed = kwargs.get("parsed")
        texts = [node for node in nodes if isinstance(node, TextNode)]
        added = iter(zip(texts, self.additions(texts, parsed), strict=True))
        return [
            self._with(*next(added)) if isinstance(node, TextNode) else node
            for node in nodes
        ]

    def _with(self, node: TextNode, added: Addition) -> TextNode:
        place = read(node)
        told = {"date": added.date or place.date}
        told["problem"] = "; ".join(filter(None, (place.problem, added.problem)))
        changed = write(node, place.model_copy(update=told))
        changed = self._before(changed, added)
        for part in added.after:
            changed = self._after(changed, part)
        changed.metadata.update(added.metadata)
        return write(changed, read(changed))

    def _before(self, node: TextNode, added: Addition) -> TextNode:
        for first in range(len(added.before)):
            said = JOINED.join(added.before[first:])
            place = read(node)
            made = _joined(said, place.index_before)
            tried = write(node, place.model_copy(update={"index_before": made}))
            if self._count(index_text(tried)) <= self.max_tokens:
                return tried
        return node

    def _after(self, node: TextNode, said: str) -> TextNode:
        place = read(node)
        made = _joined(place.index_after, said)
        tried = write(node, place.model_copy(update={"index_after": made}))
        return tried if self._count(index_text(tried)) <= self.max_tokens else node


def title_of(place: Provenance, parsed: ParsedDocument | None) -> str:
    """What the document is called."""
    return parsed.title if parsed is not None else place.document


def _joined(first: str, then: str) -> str:
    return INDEX_GAP.join(filter(None, (first, then)))
