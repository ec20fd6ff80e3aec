"""The catalogue: the model's entities and the handbook's own terms in one file."""

import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field
from typing_extensions import override

from elt_llm_consumer.batch import BatchResult, run_items
from elt_llm_consumer.catalog_files import catalog_files
from elt_llm_consumer.catalog_rows import REVIEWED, assemble
from elt_llm_consumer.catalog_scope import CatalogScope, read_static_context
from elt_llm_consumer.cataloguer import Cataloguer
from elt_llm_consumer.linking.entity_aliases import read_aliases
from elt_llm_consumer.linking.model_entities import list_left_out
from elt_llm_consumer.linking.model_reading import read_model
from elt_llm_consumer.linking.similarity import SemanticIndex
from elt_llm_consumer.linking.text_vectors import list_missing
from elt_llm_consumer.optional_reader import (
    list_placing_failures,
    open_placer,
    open_reader,
    unread_passages,
)
from elt_llm_consumer.product import default_path, publish_files, split_valid
from elt_llm_consumer.product_job import ProductJob
from elt_llm_consumer.reviewed import product_name, review_rows
from elt_llm_core.errors import UnknownProductError
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import JobContext, JobReport
from elt_llm_core.strategy import Models

if TYPE_CHECKING:
    from elt_llm_consumer.handbook_reader import HandbookReader
    from elt_llm_consumer.linking.term_placer import TermPlacer

_PART = 60  # characters of a part's name, well below the limit of file systems
_DIGEST = 8  # hex digits that tell two long names apart


class CatalogJob(ProductJob):
    """Options of the catalogue. Without `model` it has only the handbook's terms."""

    kind: ClassVar[str] = "catalog"
    domains: tuple[str, ...] = Field(default=(), description="only these domains")
    entities: tuple[str, ...] = Field(default=(), description="only these entities")
    skip_relationships: bool = Field(
        default=False, description="neither read nor write relationships"
    )
    skip_handbook: bool = Field(
        default=False, description="only what the model says; no document is read"
    )
    forced: tuple[str, ...] = Field(
        default=(), description="entities that count as named by the handbook"
    )
    static_context: Path | None = Field(
        default=None, description="YAML file of entity to fields and their texts"
    )

    @override
    def input_files(self, context: JobContext) -> list[Path]:
        files = super().input_files(context)
        own = (context.config.consumer.table_columns, self.static_context)
        return [*files, *(path for path in own if path is not None)]

    def _scope(self) -> CatalogScope:
        return CatalogScope(
            domains=self.domains,
            entities=self.entities,
            skip_relationships=self.skip_relationships,
            skip_handbook=self.skip_handbook,
            forced=self.forced,
            static=read_static_context(self.static_context),
        )

    @override
    def make(self, context: JobContext, models: Models) -> JobReport:
        reader = open_reader(models, context, fresh=self.fresh)
        handbook = self.open_handbook(context, reader)
        cataloguer = Cataloguer(
            handbook,
            read_model(context.store, self.model),
            read_aliases(self.aliases or context.config.consumer.aliases),
            SemanticIndex(handbook, models, context),
            context.config.consumer,
            self._scope(),
        )
        terms = len(cataloguer.entries)
        if reader is not None and reader.ended_early is not None:
            return reader.ended_early.early_report("catalog")
        context.progress("definitions", terms, terms)
        placer = open_placer(models, context, fresh=self.fresh)
        if placer is not None:
            cataloguer.choose_places(placer)
            if placer.ended_early is not None:
                return placer.ended_early.early_report("catalog")
        batch = run_items(
            context, "catalog", cataloguer.items(), cataloguer.record, fresh=self.fresh
        )
        if batch.stopped:
            return batch.early_report("catalog")
        return self._publish(context, cataloguer, batch, reader, placer)

    def _publish(
        self,
        context: JobContext,
        cataloguer: Cataloguer,
        batch: BatchResult,
        reader: "HandbookReader | None",
        placer: "TermPlacer | None",
    ) -> JobReport:
        """Write the records with the relations, and report what is missing."""
        table, invalid = split_valid(
            cataloguer.relation_table(), "relationships", "items"
        )
        rows, reviews = review_rows(
            context if self.reviewed else None,
            REVIEWED,
            cataloguer.handbook.collections,
            batch.successes,
            is_partial=self._is_partial(context, cataloguer),
        )
        sources = Counter(row["source"].lower() for row in rows)
        report = JobReport(
            job="catalog",
            counts=batch.counts_with(
                **dict(sorted(sources.items())), **reviews, invalid=len(invalid)
            ),
            degradations=(
                *unread_passages(reader),
                *list_placing_failures(placer),
                *list_missing(*cataloguer.missing),
                *list_left_out(cataloguer.model),
                *batch.degradations,
                *invalid,
            ),
            items=batch.failures,
        )
        catalog = assemble(cataloguer.model, rows)
        relations = None if self.skip_relationships else table
        files = catalog_files(self._path(context), catalog, rows, relations)
        return publish_files(context, report, files)

    def _is_partial(self, context: JobContext, cataloguer: Cataloguer) -> bool:
        """Return whether the rows are less than the catalogue that people review.

        Without the handbook every row loses what was approved of it, without the
        relationships what is exported of them, and without the model the entities are
        missing; that is no change of the documents, so it reopens and replaces nothing,
        and no term counts as removed.
        """
        if cataloguer.scope.is_partial or self._lacks_model(context):
            return True
        lacks_handbook, lacks_relations = self.skip_handbook, self.skip_relationships
        return any(
            (lacks_handbook and row.get("source") != "MODEL_ONLY")
            or (lacks_relations and row.get("relationships"))
            for row in self._rows_under_review(context)
        )

    def _lacks_model(self, context: JobContext) -> bool:
        """Return whether no model is given and the reviewed catalogue has entities."""
        return not self.model and any(
            row.get("source") != "HANDBOOK_ONLY"
            for row in self._rows_under_review(context)
        )

    def _rows_under_review(self, context: JobContext) -> list[dict[str, Any]]:
        """Return the rows of the last whole run; none if there was none."""
        name = product_name(REVIEWED.job, self.collections)
        with suppress(UnknownProductError):
            items = context.store.reviews.items(name)
            return [one.proposal.content for one in items if one.proposal]
        return []

    def _path(self, context: JobContext) -> Path:
        """Return the main file; that of a part is named by what it has or lacks.

        One without a model is a part beside a catalogue that was made with one.
        The dot keeps it from being a file of a whole catalogue: no collection has one
        in its name, so a domain "flat" is not the flat list.
        """
        if self.output is not None:
            return self.output
        path = default_path(context.store.data_dir, "catalog", self.collections)
        chosen = [re.sub(r"\W+", "-", one) for one in (*self.domains, *self.entities)]
        parts = ["only", *chosen] if chosen else []
        parts += ["without-model"] if self._lacks_model(context) else []
        parts += ["without-handbook"] if self.skip_handbook else []
        parts += ["without-relationships"] if self.skip_relationships else []
        if not parts:
            return path
        part = "_".join(parts)
        if len(part) > _PART:
            part = f"{part[:_PART]}-{digest(part)[:_DIGEST]}"
        return path.with_name(f"{path.stem}.{part}{path.suffix}")
