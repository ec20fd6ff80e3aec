"""The glossary: every term a handbook defines, with its quote and its entity."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field
from typing_extensions import override

from elt_llm_consumer.batch import (
    ProvisionalResult,
    WorkItem,
    run_items,
    unfinished_items,
)
from elt_llm_consumer.corpus import GlossaryEntry, Handbook
from elt_llm_consumer.definitions.term_relations import TermRelations, relate_terms
from elt_llm_consumer.linking.entity_aliases import read_aliases
from elt_llm_consumer.linking.mapping_features import to_mapped_term
from elt_llm_consumer.linking.model_reading import read_model
from elt_llm_consumer.linking.similarity import embed_texts
from elt_llm_consumer.linking.term_mapper import (
    MappingFailedError,
    Match,
    TermMapper,
    TermMatches,
)
from elt_llm_consumer.linking.text_vectors import embed_patiently, list_missing
from elt_llm_consumer.optional_reader import open_reader, unread_passages
from elt_llm_consumer.product import (
    check_schema,
    default_path,
    dump_csv,
    json_text,
    publish_files,
    split_valid,
)
from elt_llm_consumer.product_job import ProductJob
from elt_llm_consumer.reviewed import ReviewedProduct, ReviewedRow, review_rows
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import JobContext, JobReport
from elt_llm_core.records import Record
from elt_llm_core.results import Box, Support
from elt_llm_core.strategy import Models
from elt_llm_query.grounding.quote_match import check_quote

_SUPPORT_ORDER = list(Support)  # best first; a row gets the worst of its spans


class OtherDefinition(Record):
    """Another document's definition of a term of the same name."""

    document: str
    page: int | None
    section: str
    definition: str
    document_id: str
    start: int
    end: int


class GlossaryRecord(ReviewedRow):
    """One row of the glossary.

    `definition` is the text at characters `[start, end)` of the document, verbatim;
    `quote_support` is the verdict of that check. A definition that refers to another
    rule keeps its own words, and `resolved_definition` holds the words of that rule.
    `confidence` is the probability that the row is right; `found_by` names the form
    that proposed it and `reasons` the evidence for it. `broader`, `narrower` and
    `related` are terms of the same glossary; `conflicts` are different definitions of
    the same name.
    """

    term: str
    definition: str
    section: str
    page: int | None
    document: str
    collection: str
    document_id: str
    node_id: str
    start: int
    end: int
    quote_support: Support
    quote_score: float = Field(ge=0, le=1)
    boxes: tuple[Box, ...] = ()
    synonyms: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()
    narrower: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    conflicts: tuple[OtherDefinition, ...] = ()
    definition_source: str
    confidence: float = Field(ge=0, le=1)
    found_by: str
    reasons: tuple[str, ...] = ()
    reference: str = ""
    resolved_definition: str = ""
    resolved_page: int | None = None
    mapped_entity: str = Field(default="", description="empty if there is none")
    entity_domain: str = ""
    fact_sheet_id: str = ""
    mapping_confidence: str
    mapping_rationale: str
    ambiguous: tuple[str, ...] = ()
    status: str = "PENDING"


_REVIEW = tuple(ReviewedRow.model_fields)
COLUMNS = (*(n for n in GlossaryRecord.model_fields if n not in _REVIEW), *_REVIEW)
REVIEWED = ReviewedProduct(
    job="glossary",
    label="term",
    scope=("collection", "document_id"),
    fields=("term", "definition", "synonyms", "mapped_entity"),
    quotes=lambda row: [row["resolved_definition"]],
    status="status",
)


class GlossaryJob(ProductJob):
    """Options of the glossary. Without `model` no term is mapped to an entity.

    If a language model is configured, it reads the passages too.
    """

    kind: ClassVar[str] = "glossary"

    @override
    def make(self, context: JobContext, models: Models) -> JobReport:
        reader = open_reader(models, context, fresh=self.fresh)
        handbook = self.open_handbook(context, reader)
        model = read_model(context.store, self.model)
        aliases = read_aliases(self.aliases or context.config.consumer.aliases)
        entries = handbook.entries
        if reader is not None and reader.ended_early is not None:
            return reader.ended_early.early_report("glossary")
        context.progress("definitions", len(entries), len(entries))
        shared = digest(
            handbook.identity,
            model.identity,
            str(sorted(aliases.items())),
            _embedder_identity(context),
        )
        items = work_items(shared, entries)
        embed = embed_patiently(partial(embed_texts, models), context)
        matches = TermMatches(
            TermMapper(model.entities, aliases, embed),
            [to_mapped_term(one.definition) for one in entries],
            unfinished_items(context, "glossary", items, self.fresh),
        )
        relations = relate_terms([entry.definition for entry in entries])

        def build_row(number: int) -> dict[str, Any]:
            row = glossary_record(handbook, entries[number], matches[number])
            row = row.model_copy(
                update=_relation_fields(handbook, entries, relations[number])
            )
            checked: dict[str, Any] = check_schema(
                row.model_dump(mode="json"), "glossary", "items"
            )
            return checked if matches.is_whole(number) else ProvisionalResult(checked)

        try:
            batch = run_items(context, "glossary", items, build_row, fresh=self.fresh)
        except MappingFailedError as failed:
            raise failed.error from failed
        if batch.stopped:
            return batch.early_report("glossary")
        rows, reviews = review_rows(
            context if self.reviewed else None,
            REVIEWED,
            handbook.collections,
            batch.successes,
        )
        undefined, invalid = split_valid(
            [term.model_dump(mode="json") for term in handbook.undefined_terms],
            "undefined",
            "properties/undefined_terms/items",
        )
        spent = {"model_calls": reader.calls} if reader else {}
        report = JobReport(
            job="glossary",
            counts=batch.counts_with(
                terms=len(rows), invalid=len(invalid), **reviews, **spent
            ),
            degradations=(
                *unread_passages(reader),
                *list_missing(matches.missing),
                *batch.degradations,
                *invalid,
            ),
            items=batch.failures,
        )
        csv_file, json_file, undefined_file = self._files(context)
        undefined_text = json_text({"undefined_terms": undefined}, "undefined")
        return publish_files(
            context,
            report,
            {
                "glossary_csv": (csv_file, dump_csv(COLUMNS, rows)),
                "glossary_json": (json_file, json_text(rows, "glossary")),
                "undefined_terms": (undefined_file, undefined_text),
            },
        )

    def _files(self, context: JobContext) -> tuple[Path, Path, Path]:
        """Return the CSV file, the JSON file and the JSON file of undefined terms."""
        path = self.output or default_path(
            context.store.data_dir, "glossary", self.collections
        )
        stem = path.with_suffix("") if path.suffix in {".csv", ".json"} else path
        name = stem.name
        return (
            stem.with_name(f"{name}.csv"),
            stem.with_name(f"{name}.json"),
            stem.with_name(f"{name}_undefined.json"),
        )


def _embedder_identity(context: JobContext) -> str:
    """Return the configured embedder, by which descriptions are compared."""
    section = context.config.models
    options = json.dumps(section.embedder_options, sort_keys=True, default=str)
    return f"{section.embedder_strategy} {options}"


def work_items(shared: str, entries: Sequence[GlossaryEntry]) -> list[WorkItem]:
    """Return an item per definition.

    Args:
        shared: What all rows depend on.
        entries: The definitions.
    """
    return [
        WorkItem(
            name=entry.term,
            parts=(
                shared,
                entry.document.document_id,
                entry.definition.model_dump_json(),
            ),
        )
        for entry in entries
    ]


def _relation_fields(
    handbook: Handbook, entries: Sequence[GlossaryEntry], relations: TermRelations
) -> dict[str, Any]:
    """Return the fields of a row that depend on other rows."""
    others = [entries[number] for number in relations.conflicts]
    return {
        **relations.model_dump(include={"broader", "narrower", "related"}),
        "conflicts": tuple(other_definition(handbook, one) for one in others),
    }


def other_definition(handbook: Handbook, entry: GlossaryEntry) -> OtherDefinition:
    """Return a definition as a conflict of another one."""
    definition, document = entry.definition, entry.document
    passage = handbook.passage_at(document.document_id, definition.start)
    return OtherDefinition(
        document=passage.document if passage else document.name,
        page=definition.page,
        section=definition.section,
        definition=definition.definition,
        document_id=document.document_id,
        start=definition.start,
        end=definition.end,
    )


def glossary_record(
    handbook: Handbook, entry: GlossaryEntry, match: Match
) -> GlossaryRecord:
    """Return the row of one definition, its quote checked against the document."""
    definition, document = entry.definition, entry.document
    document_id = document.document_id
    text = handbook.text(document_id)
    spans = definition.spans
    first, last = spans[0][0], spans[-1][1]
    checks = [check_quote(text[start:end], text) for start, end in spans]
    passage = handbook.passage_at(document_id, first)
    resolved = definition.resolved
    entity = match.entity
    return GlossaryRecord(
        term=definition.term,
        definition=definition.definition,
        section=definition.section,
        page=definition.page,
        document=passage.document if passage else document.name,
        collection=document.collection,
        document_id=document_id,
        node_id=passage.node_id if passage else "",
        start=first,
        end=last,
        quote_support=max((c.support for c in checks), key=_SUPPORT_ORDER.index),
        quote_score=min(c.score for c in checks),
        boxes=handbook.boxes(document_id, spans),
        synonyms=definition.synonyms,
        definition_source=definition.source.value,
        confidence=definition.confidence,
        found_by=definition.found_by,
        reasons=definition.reasons,
        reference=definition.reference,
        resolved_definition=resolved.text if resolved else "",
        resolved_page=resolved.page if resolved else None,
        mapped_entity=entity.name if entity else "",
        entity_domain=entity.domain if entity else "",
        fact_sheet_id=entity.fact_sheet_id if entity else "",
        mapping_confidence=match.confidence,
        mapping_rationale=match.rationale,
        ambiguous=match.ambiguous,
    )
