"""`elt-llm topics`: list topics, write their summaries, and concept reports."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field
from typing_extensions import override

from elt_llm_consumer.batch import BatchResult
from elt_llm_consumer.corpus import HandbookPassage
from elt_llm_consumer.linking.entity_aliases import read_aliases
from elt_llm_consumer.linking.mentions import MentionIndex
from elt_llm_consumer.writing.part_writer import PartRequest
from elt_llm_consumer.writing.report_job import count_parts
from elt_llm_consumer.writing.report_template import (
    find_template,
    known_templates,
    make_slug,
)
from elt_llm_consumer.writing.topics import Topic, choose_topics
from elt_llm_consumer.writing.writing_job import Authoring, WritingJob
from elt_llm_consumer.writing.written_formats import ENDINGS, format_text
from elt_llm_core.errors import UsageError
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.jobs import JobContext, JobReport, Runner
from elt_llm_core.strategy import Models, Strategy
from elt_llm_core.versions import VersionKind
from elt_llm_core.written import WrittenText, is_stale
from elt_llm_query import search_collections

SUMMARY_SENTENCES = 8  # of a summary without a model: half a page
NEAREST = 30  # passages for a concept that no passage names, such as a misspelt one
PASSAGES_AT_ONCE = 40  # of a section: the window of a small model
LEVELS = 2  # of a section path, used to group the mentions of a concept


class _OfTopics(WritingJob):
    """Options of jobs on topics."""

    topics: tuple[str, ...] = Field(
        default=(), description="only these ids or names; none means all"
    )
    file: Path | None = Field(default=None, description="YAML file of topics")
    pack: str = Field(default="", description="name of a pack whose seeds are topics")

    def choose(self, authoring: Authoring) -> tuple[Topic, ...]:
        """Return the topics that the options select."""
        return choose_topics(authoring.topics(self.file, self.pack), self.topics)


class TopicListJob(_OfTopics):
    """Options of a list of topics."""

    @override
    def build(self, models: Models) -> Runner:
        """Return a runner that writes the topics as a JSON file."""
        return lambda context: self._run(context, models)

    def _run(self, context: JobContext, models: Models) -> JobReport:
        authoring = Authoring(self, context, models)
        topics = self.choose(authoring)
        listed = [
            {
                **topic.model_dump(mode="json"),
                "summaries": [
                    {
                        "number": row.number,
                        "created": row.created,
                        "stale": is_stale(context.store, row),
                    }
                    for row in context.store.versions.rows(VersionKind.TOPIC, topic.id)
                ],
            }
            for topic in topics
        ]
        path = self.output or context.store.data_dir / "output" / "topics.json"
        return _list_report("topic_list", "topics", path, listed)


class TemplateListJob(Strategy[Runner]):
    """Options of a list of the shipped templates."""

    output: Path = Field(description="the JSON file to write")

    @override
    def build(self, models: Models) -> Runner:
        """Return a runner that writes the templates as a JSON file."""
        return lambda _: self._write()

    def _write(self) -> JobReport:
        templates = [
            {"name": name, **find_template(name).model_dump(mode="json")}
            for name in known_templates()
        ]
        return _list_report("template_list", "templates", self.output, templates)


class WrittenFileJob(Strategy[Runner]):
    """Options for writing a stored version to a file."""

    kind: VersionKind
    subject: str
    number: int
    form: str = Field(description="json, markdown, html or docx")
    output: Path

    @override
    def build(self, models: Models) -> Runner:
        """Return a runner that writes the file."""
        return self._run

    def _run(self, context: JobContext) -> JobReport:
        version = context.store.versions.get(self.kind, self.subject, self.number)
        content = format_text(WrittenText.model_validate(version.content), self.form)
        path = self.output.with_suffix(ENDINGS[self.form])
        write_atomic(path, content if isinstance(content, bytes) else content.encode())
        return JobReport(job="written_file", counts={}, files={self.form: str(path)})


class TopicsJob(_OfTopics):
    """Options of summaries: one of each topic, numbered by topic."""

    @override
    def build(self, models: Models) -> Runner:
        """Return a runner that writes a summary of each topic."""
        return lambda context: self._run(context, models)

    def _run(self, context: JobContext, models: Models) -> JobReport:
        authoring = Authoring(self, context, models)
        topics = self.choose(authoring)
        requests = [_summary_request(topic) for topic in topics]
        key = authoring.key("topics")
        batch = authoring.write("topics", requests, key)
        if batch.stopped:
            return batch.early_report("topics")
        texts = [
            authoring.assemble(
                VersionKind.TOPIC,
                {
                    "subject": topic.id,
                    "title": topic.name,
                    "description": topic.description,
                },
                [request],
                batch.only(number),
            )
            for number, (topic, request) in enumerate(
                zip(topics, requests, strict=True)
            )
            if batch.results[number] is not None
        ]
        for text in texts:
            authoring.keep(text, key)
        return authoring.publish(_report("topics", batch, texts), texts)


class ConceptJob(WritingJob):
    """Options of a report of every mention of a concept."""

    concept: str = Field(min_length=1, max_length=300)
    aliases: Path | None = Field(
        default=None, description="YAML file of name to synonyms"
    )

    @override
    def build(self, models: Models) -> Runner:
        """Return a runner that writes the report."""
        return lambda context: self._run(context, models)

    def _run(self, context: JobContext, models: Models) -> JobReport:
        authoring = Authoring(self, context, models)
        aliases = read_aliases(self.aliases or context.config.consumer.aliases)
        passages = authoring.handbook.passages
        mentions = MentionIndex(passages, [self.concept], aliases).of(self.concept)
        mentioned = [passages[n] for n in dict.fromkeys(m.number for m in mentions)]
        nearest = not mentioned
        if nearest:
            mentioned = self._nearest(authoring, context, models)
        if not mentioned:
            raise UsageError(
                f"no passage mentions {self.concept!r}",
                "use the name that the documents use",
            )
        requests = list(_concept_requests(self.concept, mentioned))
        key = authoring.key("concept")
        batch = authoring.write("concept", requests, key)
        if batch.stopped:
            return batch.early_report("concept")
        where = "nearest to it; none names it" if nearest else "that mention it"
        fields: dict[str, Any] = {
            "subject": make_slug(self.concept),
            "title": self.concept,
            "description": f"From the {len(mentioned)} passages {where}.",
        }
        text = authoring.assemble(VersionKind.CONCEPT, fields, requests, batch)
        authoring.keep(text, key)
        report = _report("concept", batch, [text])
        counts = {**report.counts, "passages": len(mentioned)}
        return authoring.publish(report.model_copy(update={"counts": counts}), [text])

    def _nearest(
        self, authoring: Authoring, context: JobContext, models: Models
    ) -> list[HandbookPassage]:
        """Return the passages nearest in meaning, for a misspelt or reworded name."""
        result = search_collections(
            authoring.collections,
            self.concept,
            store=context.store,
            config=context.config,
            models=models,
            k=NEAREST,
        )
        ids = {source.node_id for source in result.sources}
        return [p for p in authoring.handbook.passages if p.node_id in ids]


def _list_report(
    job: str, name: str, path: Path, listed: Sequence[Mapping[str, Any]]
) -> JobReport:
    """Write a temporary list for the caller; it is no product and not published."""
    text = json.dumps({name: list(listed)}, ensure_ascii=False, indent=2) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text.encode())
    return JobReport(job=job, counts={name: len(listed)}, files={name: str(path)})


def _summary_request(topic: Topic) -> PartRequest:
    return PartRequest(
        id=topic.id,
        heading=topic.name,
        guidance=topic.description,
        context=topic.name,
        where=topic.where,
        excerpts=SUMMARY_SENTENCES,
    )


def _concept_requests(
    concept: str, passages: Sequence[HandbookPassage]
) -> Iterator[PartRequest]:
    """One section for each part of a document, with all of its passages."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for passage in passages:
        path = " > ".join(passage.section.split(" > ")[:LEVELS])
        key = (passage.collection, passage.document, path)
        groups.setdefault(key, []).append(passage.node_id)
    several = len({document for _, document, _ in groups}) > 1
    for number, ((collection, document, path), ids) in enumerate(groups.items(), 1):
        label = f"{document}: {path}" if several and path else path or document
        for start in range(0, len(ids), PASSAGES_AT_ONCE):
            part = tuple(ids[start : start + PASSAGES_AT_ONCE])
            yield PartRequest(
                id=f"{number}-{start // PASSAGES_AT_ONCE + 1}",
                heading=label,
                subject=concept,
                context=f"Everything the documents say about {concept}",
                passages={collection: part},
                excerpts=200,
            )


def _report(job: str, batch: BatchResult, texts: Sequence[WrittenText]) -> JobReport:
    return JobReport(
        job=job,
        counts=batch.counts_with(**count_parts(*texts)),
        degradations=batch.degradations,
        items=batch.failures,
    )
