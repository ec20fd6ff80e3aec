"""The glossary: every term a handbook defines, with its proof and its entity."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field
from typing_extensions import override

from elt_llm_consumer.corpus import Entry, Handbook
from elt_llm_consumer.linking.entity_linker import Match, Matcher
from elt_llm_consumer.linking.entity_model import Model, read_aliases, read_model
from elt_llm_consumer.outputs import (
    check,
    default_path,
    dump_csv,
    finished,
    json_text,
    sound,
)
from elt_llm_consumer.product import Item, ProductJob, run_items
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import JobContext, JobReport, Runner
from elt_llm_core.records import Record
from elt_llm_core.results import Box, Support
from elt_llm_core.strategy import Models
from elt_llm_query.grounding.quote_match import check_quote

_ORDER = list(Support)


class GlossaryRecord(Record):
    """One row of the glossary.

    `definition` is letter for letter what stands at characters `[start, end)` of the
    document; `quote_support` is the verdict of looking it up there again. A definition
    that points to another rule keeps its own words, and `resolved_definition` holds the
    words of that rule.
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
    definition_source: str
    reference: str = ""
    resolved_definition: str = ""
    resolved_page: int | None = None
    mapped_entity: str = Field(default="", description="empty where there is none")
    entity_domain: str = ""
    fact_sheet_id: str = ""
    mapping_confidence: str
    mapping_rationale: str
    ambiguous: tuple[str, ...] = ()
    status: str = "PENDING"


COLUMNS = tuple(GlossaryRecord.model_fields)


class GlossaryJob(ProductJob):
    """Options of the glossary. Without `model` no term is mapped."""

    @override
    def build(self, models: Models) -> Runner:
        """A runner that needs no model and writes a CSV and a JSON file."""
        return self._run

    def _run(self, context: JobContext) -> JobReport:
        handbook = Handbook(context.store, self.collections, textbook=self.textbook)
        model = read_model(context.store, self.model)
        aliases = read_aliases(self.aliases or context.config.consumer.aliases)
        entries = handbook.entries
        context.progress("definitions", len(entries), len(entries))
        matcher = Matcher(model.entities, aliases)
        outcome = run_items(
            context,
            "glossary",
            items(handbook, entries, model, aliases),
            lambda i: check(_row(handbook, entries[i], matcher), "glossary", "items"),
            fresh=self.fresh,
        )
        rows = outcome.good
        named = [one.model_dump(mode="json") for one in handbook.undefined]
        undefined, unsound = sound(
            named, "undefined", "properties/undefined_terms/items"
        )
        csv_file, json_file, undefined_file = self._files(context)
        report = JobReport(
            job="glossary",
            counts=outcome.counted(terms=len(rows), unsound=len(unsound)),
            degradations=(*outcome.degradations, *unsound),
        )
        listed = {"undefined_terms": undefined}
        return finished(
            context,
            report,
            {
                "glossary_csv": (csv_file, dump_csv(COLUMNS, rows)),
                "glossary_json": (json_file, json_text(rows, "glossary")),
                "undefined_terms": (undefined_file, json_text(listed, "undefined")),
            },
        )

    def _files(self, context: JobContext) -> tuple[Path, Path, Path]:
        """The CSV and the JSON file, and the JSON file of terms not defined."""
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


def items(
    handbook: Handbook,
    entries: Sequence[Entry],
    model: Model,
    aliases: Mapping[str, Sequence[str]],
) -> list[Item]:
    """One item a definition; its key covers the document, the model and the aliases."""
    shared = digest(handbook.identity, model.identity, str(sorted(aliases.items())))
    return [
        Item(
            name=entry.found.term,
            parts=(shared, entry.row.document_id, entry.found.model_dump_json()),
        )
        for entry in entries
    ]


def _row(handbook: Handbook, entry: Entry, matcher: Matcher) -> dict[str, Any]:
    return record(handbook, entry, matcher).model_dump(mode="json")


def record(handbook: Handbook, entry: Entry, matcher: Matcher) -> GlossaryRecord:
    """The row of one definition, its quote looked up in the document again."""
    one, row = entry.found, entry.row
    text = handbook.text(row.document_id)
    checks = [check_quote(text[start:end], text) for start, end in one.spans]
    match = matcher.match(one.term, one.synonyms)
    passage = handbook.passage_at(row.document_id, one.start)
    return GlossaryRecord(
        term=one.term,
        definition=one.definition,
        section=one.section,
        page=one.page,
        document=passage.document if passage else row.name,
        collection=row.collection,
        document_id=row.document_id,
        node_id=passage.node_id if passage else "",
        start=one.start,
        end=one.end,
        quote_support=max((c.support for c in checks), key=_ORDER.index),
        quote_score=min(c.score for c in checks),
        boxes=handbook.boxes(row.document_id, one.spans),
        synonyms=one.synonyms,
        definition_source=one.source.value,
        reference=one.reference,
        resolved_definition=one.resolved.text if one.resolved else "",
        resolved_page=one.resolved.page if one.resolved else None,
        **_mapping(match),
    )


def _mapping(match: Match) -> dict[str, Any]:
    """The columns that say which entity a term is."""
    said: dict[str, Any] = {
        "mapping_confidence": match.confidence,
        "mapping_rationale": match.rationale,
        "ambiguous": match.ambiguous,
    }
    if match.entity is None:
        return said
    return {
        **said,
        "mapped_entity": match.entity.name,
        "entity_domain": match.entity.domain,
        "fact_sheet_id": match.entity.fact_sheet_id,
    }
