"""From a file to chunks: read in the other process, routed, cut."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.config import RagConfig
from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_core.strategy import Models
from elt_llm_ingest.answers import Answers
from elt_llm_ingest.chunking import Chunking
from elt_llm_ingest.client import ReadingProcess
from elt_llm_ingest.files import read_bytes
from elt_llm_ingest.formats.registry import MODULES
from elt_llm_ingest.formats.sniff import SUFFIXES
from elt_llm_ingest.gathered import gathered
from elt_llm_ingest.ledger import Seen, Verdict
from elt_llm_ingest.loaders.base import LOADERS
from elt_llm_ingest.plan import Item
from elt_llm_ingest.routing import Target, by_prefix

REASONS = 3  # warnings that explain why nothing could be cut
Scalar = str | int | float | bool


@dataclass
class Part:
    """A document of a file, where it goes, and its chunks."""

    target: Target
    nodes: list[TextNode] = field(repr=False)

    @property
    def texts(self) -> list[str]:
        """What is embedded of the chunks, in order."""
        return [provenance.index_text(node) for node in self.nodes]


@dataclass
class Work:
    """One file on its way into the store; `waiting` holds texts without a vector."""

    seen: Seen
    verdict: Verdict
    loader: str
    data: bytes = field(repr=False)
    parts: list[Part] = field(repr=False)
    waiting: set[str] = field(default_factory=set, repr=False)
    missing: int = 0

    @property
    def chunks(self) -> int:
        """Chunks of all parts."""
        return sum(len(part.nodes) for part in self.parts)

    @property
    def texts(self) -> list[str]:
        """What is embedded of all parts, in order."""
        return [text for part in self.parts for text in part.texts]

    @property
    def done_bytes(self) -> float:
        """How much of the file's size is dealt with, for a forecast."""
        left = len(self.waiting) / self.missing if self.missing else 0.0
        return self.seen.size * (1 - left)


class Reader:
    """Reads and cuts files, one after the other."""

    def __init__(
        self,
        config: RagConfig,
        models: Models,
        process: ReadingProcess,
        metadata: dict[str, Scalar],
        answers: Answers | None = None,
    ) -> None:
        self._config = config
        self._process = process
        self._metadata = metadata
        self._chunking = Chunking(config, models, answers)
        self.chunker_name = self._chunking.name

    def work(self, seen: Seen, verdict: Verdict, collection: str, prefix: str) -> Work:
        """The file, read and cut. Raises LoadError."""
        item = seen.item
        data = read_bytes(item.path)
        # It may have changed since it was looked at: what is stored counts.
        seen = Seen(item, hashlib.sha256(data).hexdigest(), len(data))
        loader, documents = self._process.read(item.path, data, self._loader(item))
        crash_point(CrashPoint.PARSED)
        documents = [
            d.model_copy(update={"warnings": gathered(d.warnings)}) for d in documents
        ]
        if item.title:
            documents[0] = documents[0].model_copy(update={"title": item.title})
        targets = (
            [Target(collection, document) for document in documents]
            if collection
            else by_prefix(prefix, documents)
        )
        parts = [Part(target, self._chunks(target.document)) for target in targets]
        if not any(part.nodes for part in parts):
            raise _without_chunks(item.path.name, documents)
        crash_point(CrashPoint.CHUNKED)
        return Work(seen, verdict, loader, data, parts)

    def _loader(self, item: Item) -> str:
        """A trusted stranger's loader of the name of the file's ending, if any."""
        suffix = item.path.suffix.lower()
        name = suffix.removeprefix(".")
        if suffix in SUFFIXES or name in MODULES or name not in LOADERS.known():
            return ""
        LOADERS.strategy_class(name, self._config.allowed_plugins())
        return name

    def _chunks(self, parsed: ParsedDocument) -> list[TextNode]:
        return [
            self._marked(provenance.write(node, _complete(node, ordinal)))
            for ordinal, node in enumerate(self._chunking.cut(parsed))
        ]

    def _marked(self, node: TextNode) -> TextNode:
        if self._metadata:
            node.metadata = {**self._metadata, **node.metadata}
        return node


def _without_chunks(name: str, documents: Sequence[ParsedDocument]) -> LoadError:
    """A file that could be read, and has nothing that a question could find."""
    shown = [warning for document in documents for warning in document.warnings]
    more = len(shown) - REASONS
    reasons = "; ".join(shown[:REASONS]) + (f"; and {more} more" * (more > 0))
    return LoadError(
        name,
        "no chunk of text comes of it" + (f": {reasons}" if reasons else ""),
        f"see what is read of it: elt-llm inspect {name}",
    )


def _complete(node: TextNode, ordinal: int) -> provenance.Provenance:
    """The node's place; a stranger's chunker may have told its characters only."""
    return provenance.read(node).model_copy(update={"ordinal": ordinal})


def names_of(targets: Sequence[Target]) -> set[tuple[str, str]]:
    """Collection and part of each target."""
    return {(target.collection, target.document.part) for target in targets}
