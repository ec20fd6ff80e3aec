"""The job that takes documents in: plan, read, chunk, embed, store, publish."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from llama_index.core.schema import TextNode
from pydantic import Field, model_validator
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import CollectionMismatchError, GenerationError, IngestError
from elt_llm_core.jobs import JobContext, JobReport, Runner
from elt_llm_core.models.protocol import CountingEmbedder, as_counting
from elt_llm_core.names import collection_name, digest
from elt_llm_core.results import DegradationKind
from elt_llm_core.store import DocumentRow, NewDocument
from elt_llm_core.store.writer import Writer
from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.chunkers.base import SourceDocument, make_chunker
from elt_llm_ingest.client import ReadingProcess
from elt_llm_ingest.embedding import embed_missing
from elt_llm_ingest.formats.registry import LAYER, MODULES
from elt_llm_ingest.formats.sniff import SUFFIXES
from elt_llm_ingest.loaders.base import LOADERS, mime_of, read_bytes
from elt_llm_ingest.plan import Item, Plan, make_plan, no_longer_there
from elt_llm_ingest.routing import Target, by_prefix
from elt_llm_ingest.safety import Limits, check_size
from elt_llm_ingest.tally import Tally

Scalar = str | int | float | bool


class IngestJob(Strategy[Runner]):
    """Takes files and folders into a collection.

    A file that is there with the same content and settings is left alone. A file that
    cannot be read is reported and the others go on. Exactly one of `collection` and
    `collection_prefix` is given; with a prefix, models and inventories are spread over
    `<prefix>_entities`, `<prefix>_relationships` and one `<prefix>_<type>` each.
    """

    paths: tuple[str, ...] = Field(min_length=1, description="files and folders")
    collection: str = Field(default="", description="where the documents go")
    collection_prefix: str = Field(default="", description="of several collections")
    rebuild: bool = Field(default=False, description="read unchanged files again too")
    wait: float = Field(default=0.0, ge=0, description="seconds for another writer")
    uris: tuple[str, ...] = Field(default=(), description="addresses, one a path")
    titles: tuple[str, ...] = Field(default=(), description="titles, one a path")
    dry_run: bool = Field(default=False, description="read and cut, store nothing")
    metadata: dict[str, Scalar] = Field(
        default_factory=dict, description="put on every chunk"
    )

    @model_validator(mode="after")
    def _one_target(self) -> "IngestJob":
        if bool(self.collection) == bool(self.collection_prefix):
            msg = "give either collection or collection_prefix"
            raise ValueError(msg)
        return self

    @override
    def build(self, models: Models) -> Runner:
        return lambda context: _Run(self, models, context).run()


class _Run:
    """One run of the job."""

    def __init__(self, job: IngestJob, models: Models, context: JobContext) -> None:
        self._job = job
        self._context = context
        self._tally = Tally()
        self._embedder: CountingEmbedder = as_counting(models.embedder)
        self._chunker, self._chunker_name = make_chunker(context.config, models)
        self._config_key = digest("ingest", LAYER, self._chunker_name, _extra(job))[:16]
        self._known = _known(context, job)
        self._seen: dict[str, str] = {}

    def run(self) -> JobReport:
        """Do it. Raises IngestError where not one file could be taken in."""
        job = self._job
        collection_name(job.collection or f"{job.collection_prefix}_x")
        plan = make_plan(job.paths, job.uris, job.titles)
        crash_point(CrashPoint.SCANNED)
        self._tally.warn(self._label, "", plan.notes)
        self._check_prompt()
        self._tally.warn(self._label, "", no_longer_there(job.paths, self._known))
        with ReadingProcess(_limits(self._context)) as reading:
            reading.start()  # it warms up while the store is opened
            if job.dry_run:
                self._take_all(plan, reading, None)
            else:
                with self._context.store.writer(job.wait) as writer:
                    self._take_all(plan, reading, writer)
                    self._publish(writer)
        counts = self._tally.counts
        taken = counts["added"] + counts["updated"] + counts["unchanged"]
        if not taken and self._tally.first is not None:
            raise self._tally.first
        return self._tally.report()

    @property
    def _label(self) -> str:
        return self._job.collection or self._job.collection_prefix

    def _check_prompt(self) -> None:
        if not self._embedder.prompt_known:
            detail = f"{self._embedder.model_name} may want a prompt that is not known"
            kind = DegradationKind.UNKNOWN_EMBEDDER_PROMPT
            self._tally.note(kind, self._label, detail)

    def _take_all(
        self, plan: Plan, reading: ReadingProcess, writer: Writer | None
    ) -> None:
        for error in plan.failed:
            self._tally.fail(self._label, error)
        total = len(plan.items)
        for index, item in enumerate(plan.items):
            self._context.progress("read", index, total, item.name)
            try:
                self._take(item, reading, writer)
            except CollectionMismatchError:
                raise
            except IngestError as error:
                self._tally.fail(self._label, error)
        self._context.progress("read", total, total)

    def _take(self, item: Item, reading: ReadingProcess, writer: Writer | None) -> None:
        check_size(str(item.path), _size(item), reading.limits)
        data = read_bytes(item.path)
        sha256 = hashlib.sha256(data).hexdigest()
        rows = self._known.get(item.uri, [])
        if not self._job.rebuild and rows and self._is_current(rows, sha256):
            self._tally.counts["unchanged"] += 1
            return
        twin = self._seen.setdefault(sha256, item.name)
        if twin != item.name and not rows:
            self._tally.counts["unchanged"] += 1
            note = f"the same file as {twin}, which was taken in"
            self._tally.warn(self._label, item.name, [note])
            return
        documents = reading.parse(item.path, data, self._loader(item))
        crash_point(CrashPoint.PARSED)
        if item.title:
            documents[0] = documents[0].model_copy(update={"title": item.title})
        targets = self._targets(documents)
        for target in targets:
            self._store(item, target, data, sha256, writer)
            self._tally.warn(target.collection, item.name, target.document.warnings)
        self._drop_stale(rows, targets, writer)
        self._tally.counts["updated" if rows else "added"] += 1

    def _is_current(self, rows: Sequence[DocumentRow], sha256: str) -> bool:
        return all(
            row.sha256 == sha256 and row.config_key == self._config_key for row in rows
        )

    def _loader(self, item: Item) -> str:
        """A trusted stranger's loader of the name of the file's ending, if any."""
        suffix = item.path.suffix.lower()
        name = suffix.removeprefix(".")
        if suffix in SUFFIXES or name in MODULES or name not in LOADERS.known():
            return ""
        LOADERS.strategy_class(name, self._context.config.allowed_plugins())
        return name

    def _targets(self, documents: Sequence[ParsedDocument]) -> list[Target]:
        if self._job.collection:
            return [Target(self._job.collection, d) for d in documents]
        return by_prefix(self._job.collection_prefix, documents)

    def _store(
        self,
        item: Item,
        target: Target,
        data: bytes,
        sha256: str,
        writer: Writer | None,
    ) -> None:
        nodes = self._chunks(target.document)
        crash_point(CrashPoint.CHUNKED)
        self._tally.counts["chunks"] += len(nodes)
        if writer is None:
            return
        self._prepare(writer, target.collection)
        self._tally.counts["embedded"] += embed_missing(
            writer, self._embedder, nodes, self._context.progress, item.name
        )
        crash_point(CrashPoint.EMBEDDED)
        self._context.progress("store", 0, 1, item.name)
        keep = self._context.config.ingest.keep_originals
        writer.put_document(
            target.collection,
            NewDocument(
                uri=item.uri,
                name=item.name,
                sha256=sha256,
                mime=mime_of(item.path),
                parsed=target.document,
                nodes=nodes,
                original=data if keep else None,
                config_key=self._config_key,
            ),
        )
        self._context.progress("store", 1, 1, item.name)
        self._tally.touched.add(target.collection)

    def _prepare(self, writer: Writer, collection: str) -> None:
        """The collection; made anew if its embedder changed and that was asked for."""
        if collection in self._tally.touched:
            return
        try:
            writer.ensure_collection(collection, self._embedder, self._chunker_name)
        except CollectionMismatchError:
            if not self._job.rebuild:
                raise
            writer.drop_collection(collection)
            writer.ensure_collection(collection, self._embedder, self._chunker_name)

    def _chunks(self, parsed: ParsedDocument) -> list[TextNode]:
        document = SourceDocument.of(parsed)
        found = self._chunker.get_nodes_from_documents([document])
        nodes = [node for node in found if isinstance(node, TextNode) and node.text]
        return [
            self._marked(provenance.write(node, _complete(node, ordinal)))
            for ordinal, node in enumerate(nodes)
        ]

    def _marked(self, node: TextNode) -> TextNode:
        if self._job.metadata:
            node.metadata = {**self._job.metadata, **node.metadata}
        return node

    def _drop_stale(
        self,
        rows: Sequence[DocumentRow],
        targets: Sequence[Target],
        writer: Writer | None,
    ) -> None:
        """Parts of the file's earlier version that the new one does not have."""
        kept = {(t.collection, t.document.part) for t in targets}
        for row in rows:
            if writer is not None and (row.collection, row.part) not in kept:
                writer.remove_document(row.document_id)
                self._tally.touched.add(row.collection)

    def _publish(self, writer: Writer) -> None:
        """New generations where they are due, also where an earlier run broke off."""
        known = {row.collection for rows in self._known.values() for row in rows}
        names = sorted(self._tally.touched | known)
        fraction = self._context.config.stores.delta_fraction
        for index, name in enumerate(names, start=1):
            try:
                writer.publish([name], fraction)
            except GenerationError as error:
                # The truth has everything and answers without an index, only slower.
                kind = DegradationKind.EXACT_ENGINE
                self._tally.note(kind, name, str(error))
            self._context.progress("index", index, len(names), name)


def _limits(context: JobContext) -> Limits:
    wanted = context.config.ingest
    return Limits(
        timeout=wanted.parse_timeout,
        memory_mb=wanted.parse_memory_mb,
        max_file_mb=wanted.max_file_mb,
        max_pages=wanted.max_pages,
    )


def _extra(job: IngestJob) -> str:
    """Options that change what is stored of an unchanged file."""
    return json.dumps([job.metadata, job.titles], sort_keys=True)


def _known(context: JobContext, job: IngestJob) -> Mapping[str, list[DocumentRow]]:
    """The documents that are there, by address."""
    found: dict[str, list[DocumentRow]] = {}
    for card in context.store.collections():
        prefix = job.collection_prefix
        ours = prefix and card.name.startswith(f"{prefix}_")
        if card.name == job.collection or ours:
            for row in context.store.documents(card.name):
                found.setdefault(row.uri, []).append(row)
    return found


def _complete(node: TextNode, ordinal: int) -> provenance.Provenance:
    """The node's place; a stranger's chunker may have told its characters only."""
    return provenance.read(node).model_copy(update={"ordinal": ordinal})


def _size(item: Item) -> int:
    try:
        return item.path.stat().st_size
    except OSError:
        return 1  # reading it will say why
