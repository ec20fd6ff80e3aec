"""Common parts of jobs that write: sections as batch items, versions, files."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import Field

from elt_llm_consumer.batch import BatchResult, WorkItem, run_items
from elt_llm_consumer.corpus import Handbook
from elt_llm_consumer.product import default_path, publish_files
from elt_llm_consumer.writing.assembly import assemble_text, failed_section
from elt_llm_consumer.writing.part_writer import PartRequest, PartWriter
from elt_llm_consumer.writing.topics import Topic, find_topics
from elt_llm_consumer.writing.written_formats import (
    ENDINGS,
    check_formats,
    format_text,
)
from elt_llm_core.config.domain_packs import find_pack
from elt_llm_core.errors import ModelError
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import JobContext, JobReport, Runner
from elt_llm_core.models import as_counting
from elt_llm_core.strategy import Models, Strategy
from elt_llm_core.versions import VersionKind
from elt_llm_core.written import WrittenSection, WrittenText, documents_digest
from elt_llm_query.library import resolve_collections


class WritingJob(Strategy[Runner]):
    """Options of all jobs that write."""

    collections: tuple[str, ...] = Field(
        default=(), description="collections to read; default: all"
    )
    gap_rounds: int = Field(
        default=0,
        ge=0,
        le=5,
        description="rounds of further searches for missing parts",
    )
    formats: tuple[str, ...] = Field(
        default=(), description=f"files to write: {', '.join(ENDINGS)}; none: no file"
    )
    output: Path | None = Field(default=None, description="the first file to write")
    fresh: bool = Field(default=False, description="write finished sections again")


class Authoring:
    """One run of a writing job: its collections, its writer, its keys."""

    def __init__(self, job: WritingJob, context: JobContext, models: Models) -> None:
        self.job = job
        self.context = context
        self.collections = tuple(resolve_collections(context.store, job.collections))
        self.formats = check_formats(job.formats)
        self.parts = PartWriter(context, models, self.collections, job.gap_rounds)
        wordings = context.config.consumer.definition_patterns
        self.handbook = Handbook(context.store, self.collections, wordings=wordings)
        self._models = models

    def topics(self, file: Path | None, pack: str) -> tuple[Topic, ...]:
        """Return the topics of a file, of a pack, or of the collections' sections."""
        configured = self.context.config.consumer
        chosen = file or (None if pack else configured.topics)
        if chosen is None and not pack and configured.pack:
            own = find_pack(configured.pack)
            pack = configured.pack if own.seed_topics else ""
        return find_topics(self.context.store, self.collections, chosen, pack)

    def key(self, *parts: str) -> str:
        """Return everything that a section depends on: settings, models, documents."""
        store = self.context.store
        states = (f"{name} {store.state(name)}" for name in self.collections)
        settings = self.context.config.hash("models", "query")
        return digest(*parts, settings, *self._model_digests(), *states)

    def _model_digests(self) -> tuple[str, ...]:
        """Return digests of the models; a name if a server does not report one."""
        digests = [as_counting(self._models.embedder).digest]
        for llm in (self._models.llm, self._models.llm_for("judge")):
            known = ""
            with suppress(ModelError):  # unavailable; the journal may suffice
                known = str(getattr(llm, "model_digest", ""))
            digests.append(f"{llm.metadata.model_name if llm else ''} {known}")
        return tuple(digests)

    def write(self, run: str, requests: Sequence[PartRequest], key: str) -> BatchResult:
        """Write sections, except those in the journal."""
        items = [
            WorkItem(
                name=part.heading,
                parts=(key, str(self.job.gap_rounds), part.model_dump_json()),
            )
            for part in requests
        ]
        return run_items(
            self.context,
            run,
            items,
            lambda number: self.parts.write(requests[number]).model_dump(mode="json"),
            fresh=self.job.fresh,
            at_once=self.context.config.consumer.items_at_once,
        )

    def assemble(
        self,
        kind: VersionKind,
        fields: Mapping[str, Any],
        requests: Sequence[PartRequest],
        batch: BatchResult,
    ) -> WrittenText:
        """Assemble the sections; failed ones get a placeholder."""
        document_id = str(requests[0].where.get("document_id", ""))
        reasons = {one.name: one.detail for one in batch.failures}
        sections = [
            WrittenSection.model_validate(result)
            if result is not None
            else failed_section(
                part.id, part.heading, part.level, reasons.get(part.heading, "")
            )
            for part, result in zip(requests, batch.results, strict=True)
        ]
        return assemble_text(
            sections,
            kind=kind,
            collections=self.collections,
            writer=self.parts.writer,
            sources_digest=documents_digest(
                self.context.store, self.collections, document_id
            ),
            document_id=document_id,
            **fields,
        )

    def keep(self, text: WrittenText, key: str) -> int:
        """Store the text as a version, and return its number."""
        content = text.model_dump(mode="json")
        version = self.context.store.versions.add(
            text.kind, text.subject, key, content, again=self.job.fresh
        )
        return version.number

    def publish(self, report: JobReport, texts: Sequence[WrittenText]) -> JobReport:
        """Write the files of all texts, together."""
        files: dict[str, tuple[Path, str | bytes]] = {}
        for text in texts:
            stem = self._stem(text, alone=len(texts) == 1)
            for form in self.formats:
                name = form if len(texts) == 1 else f"{text.subject}_{form}"
                path = stem.with_name(stem.name + ENDINGS[form])
                files[name] = (path, format_text(text, form))
        return publish_files(self.context, report, files) if files else report

    def _stem(self, text: WrittenText, *, alone: bool) -> Path:
        name = f"{text.kind.value}_{text.subject}"
        output = self.job.output
        if output is None:
            path = default_path(self.context.store.data_dir, name, self.collections)
            return path.with_suffix("")
        stem = output.with_suffix("") if output.suffix in ENDINGS.values() else output
        return stem if alone else stem.with_name(f"{stem.name}_{text.subject}")
