"""The records of the catalogue: one per entity, and one per term without an entity."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from elt_llm_consumer.batch import WorkItem
from elt_llm_consumer.catalog_relations import EntityRelations
from elt_llm_consumer.catalog_rows import place_of
from elt_llm_consumer.catalog_scope import CatalogScope
from elt_llm_consumer.column_subjects import read_columns
from elt_llm_consumer.context_fields import (
    FIELDS,
    as_text,
    collect_context,
    first_mention,
)
from elt_llm_consumer.corpus import Evidence, GlossaryEntry, Handbook
from elt_llm_consumer.definitions.definition_pipeline import is_sure
from elt_llm_consumer.definitions.definition_records import DefinitionSource
from elt_llm_consumer.definitions.terms import fold, normalise
from elt_llm_consumer.linking.mentions import MentionIndex
from elt_llm_consumer.linking.model_entities import Entity, EntityModel
from elt_llm_consumer.linking.similarity import (
    Placement,
    SemanticIndex,
    TaxonomyClassifier,
    UndecidedTerm,
    review_status,
)
from elt_llm_consumer.linking.term_mapper import Match
from elt_llm_consumer.linking.text_vectors import MissingVector
from elt_llm_consumer.product import check_schema
from elt_llm_consumer.reviewed import ReviewedRow
from elt_llm_consumer.stated_relations import find_stated_relations
from elt_llm_consumer.table_fields import RowFields, TableFields
from elt_llm_consumer.treatment.treatment_index import (
    AMBIGUOUS,
    Treatment,
    TreatmentIndex,
    raise_by_meaning,
)
from elt_llm_core.config.sections import ConsumerSection
from elt_llm_core.identifiers import digest
from elt_llm_core.reviews.review_records import NEEDS_CLARIFICATION

if TYPE_CHECKING:
    from elt_llm_consumer.linking.term_placer import TermPlacer

NO_DESCRIPTION = "No description in the inventory."
NO_INVENTORY = "No description: the model has no inventory."
CANDIDATE = (
    "Not in the model: the handbook defines this term; a candidate for the model."
)
NAMED = "named in the handbook, not defined there"
UNSURE = f"{AMBIGUOUS}the handbook has the name, perhaps of another thing"
OTHER_SENSE = "the handbook has the name, but hardly of this thing"
FORCED = "forced: it counts as named by the handbook"
NOT_READ = "the handbook was not read"


class Cataloguer:
    """Builds a record per entity, and one per term without an entity.

    Args:
        handbook: The documents.
        model: The whole model.
        aliases: Synonyms by entity name.
        semantics: Compares texts by the embedder.
        config: The bands.
        scope: What the catalogue contains; None for everything.
    """

    def __init__(
        self,
        handbook: Handbook,
        model: EntityModel,
        aliases: Mapping[str, Sequence[str]],
        semantics: SemanticIndex,
        config: ConsumerSection,
        scope: CatalogScope | None = None,
    ) -> None:
        self.handbook = handbook
        self.scope = scope or CatalogScope()
        self.model = self.scope.restrict(model)
        self._whole = model
        self._aliases = aliases
        self._config = config
        self._columns = read_columns(config.table_columns)
        self._semantics = semantics
        self._classifier = TaxonomyClassifier(model.entities, semantics)
        self._forced = set(map(normalise, self.scope.forced))
        self._static = {
            normalise(name): fields for name, fields in self.scope.static.items()
        }
        self.entries = [] if self.scope.skip_handbook else handbook.entries
        self._index = TreatmentIndex(
            handbook,
            EntityModel() if self.scope.skip_handbook else model,
            aliases,
            config,
            semantics.texts,
        )
        no_terms = self.scope.skip_handbook or self.scope.is_partial
        self._unmapped = [] if no_terms else self._index.terms_without_entity
        self._classifier.prepare(
            (entry.term, as_text(handbook.quotes(entry))) for entry in self._unmapped
        )
        self._chosen: dict[str, Placement] = {}

    @property
    def missing(self) -> tuple[Mapping[str, MissingVector], ...]:
        """Return the texts that were not compared by place or by sense, and why."""
        return self._classifier.missing, self._index.missing

    def choose_places(self, placer: "TermPlacer") -> None:
        """Let a language model choose between the domains of uncertain terms.

        Only of those that are near to a domain: what is far from all fits none.
        Raises ModelError.
        """
        undecided = []
        for entry in self._unmapped:
            definition = as_text(self.handbook.quotes(entry))
            place = self._classifier.place(entry.term, definition)
            if place.tier == "existing" and place.confidence != "high":
                options = self._classifier.options(entry.term, definition)
                undecided.append(UndecidedTerm(entry.term, definition, options))
        self._chosen = placer.place(undecided)

    def items(self) -> list[WorkItem]:
        """Return an item per entity, then one per term without an entity, in order."""
        shared = digest(
            self.handbook.identity,
            self._whole.identity,
            str(sorted(self._aliases.items())),
            self._config.model_dump_json(exclude={"aliases", "table_columns"}),
            self._columns.identity,
            self.scope.model_copy(
                update={"domains": (), "entities": ()}
            ).model_dump_json(),
            *sorted({*self._classifier.missing, *self._index.missing}),
        )
        items = [
            WorkItem(name=entity.name, parts=(shared, entity.model_dump_json()))
            for entity in self.model.entities
        ]
        return items + [
            WorkItem(
                name=entry.term,
                parts=(
                    shared,
                    entry.document.document_id,
                    entry.definition.model_dump_json(),
                    self._chosen[entry.term].model_dump_json()
                    if entry.term in self._chosen
                    else "",
                ),
            )
            for entry in self._unmapped
        ]

    def record(self, number: int) -> dict[str, Any]:
        """Return one record as a flat row, with the columns of `PLACE`.

        Raises ProductError if the record does not match its schema.
        """
        entities = self.model.entities
        if number < len(entities):
            entity = entities[number]
            record, place = self._entity_record(entity), place_of(self.model, entity)
            kind = "entity"
        else:
            entry = self._unmapped[number - len(entities)]
            record, place = self._term_record(entry)
            kind = "handbook_only"
        return {**check_schema(record, "catalog", f"$defs/{kind}"), **place}

    @cached_property
    def _mentions(self) -> MentionIndex:
        if self.scope.skip_handbook:
            return MentionIndex([], [], self._aliases)
        return self._index.mentions

    @cached_property
    def _tables(self) -> TableFields:
        if self.scope.skip_handbook:
            return TableFields((), (), ())
        names = [entity.name for entity in self._whole.entities]
        terms = [entry.term for entry in self.entries]
        aliases = [alias for name in names for alias in self._mentions.names(name)[1:]]
        return TableFields(
            self.handbook.tables(), names, [*terms, *aliases], self._columns
        )

    @cached_property
    def _relations(self) -> EntityRelations:
        entities = () if self.scope.skip_handbook else self._whole.entities
        names = [one.name for one in entities if self._index.of(one).is_covered]
        stated = find_stated_relations(names, self.handbook, self._mentions)
        return EntityRelations(self._whole.edges, stated)

    def relation_table(self) -> list[dict[str, Any]]:
        """Return every relation of the model and of the text once."""
        if self.scope.skip_relationships:
            return []
        return self._relations.table(self._whole.entities)

    def _entity_record(self, entity: Entity) -> dict[str, Any]:
        treatment = self._treatment(entity)
        is_forced = normalise(entity.name) in self._forced
        both = is_forced or treatment.is_covered
        # What is said of another thing of that name is not said of the entity.
        mapped = self._index.matches(entity) if treatment.is_covered else []
        match = mapped[0].match if mapped else None
        term, confidence = None, match.confidence if match else ""
        if match is not None and match.entity is not None:
            term = mapped[0].entry.term
        elif is_forced:
            term, confidence = entity.name, "medium"
        fields, evidence = self._context(entity.name, mapped, is_meant=both)
        written = self._static.get(normalise(entity.name), {})
        # A conflict in a field that static context replaces is not shown.
        is_open = both and bool(self._rows(entity.name).conflicts.keys() - written)
        fields |= written
        return {
            "fact_sheet_id": entity.fact_sheet_id,
            "entity_name": entity.name,
            "source": "BOTH" if both else "MODEL_ONLY",
            "leanix_description": entity.description
            or (NO_DESCRIPTION if self._whole.has_inventory else NO_INVENTORY),
            **fields,
            "handbook_term": term,
            "mapping_confidence": confidence,
            "mapping_rationale": self._rationale(entity, match, treatment),
            "review_status": NEEDS_CLARIFICATION
            if is_open
            else _needs_review(match, treatment),
            **ReviewedRow().model_dump(mode="json"),
            "relationships": []
            if self.scope.skip_relationships
            else self._relations.of(entity),
            "evidence": _dump_evidence(evidence),
        }

    def _treatment(self, entity: Entity) -> Treatment:
        """Return whether the handbook treats an entity; as in the coverage report."""
        if self.scope.skip_handbook:
            return Treatment(
                verdict="ABSENT", score=0.0, reasons=(NOT_READ,), is_named=False
            )
        treatment = self._index.of(entity)
        if treatment.is_named:
            return treatment
        nearest = self._semantics.nearest(entity.name, 1)
        similarity = nearest[0][0] if nearest else 0.0
        return raise_by_meaning(treatment, similarity, self._config)

    def _rationale(
        self, entity: Entity, match: Match | None, treatment: Treatment
    ) -> str:
        """Return how the handbook names the entity, and which fields are manual."""
        if normalise(entity.name) in self._forced and (
            match is None or match.entity is None
        ):
            also = f"; {treatment.ambiguity}" if treatment.ambiguity else ""
            reason = FORCED + also
        elif match is not None:
            reason = match.rationale
        elif treatment.is_covered:
            reason = NAMED
        else:
            why = "; ".join(treatment.reasons).removeprefix(AMBIGUOUS)
            unsure = UNSURE if treatment.is_ambiguous else OTHER_SENSE
            reason = f"{unsure}: {why}" if treatment.is_named else why
        if entity.origin:
            reason = f"{reason}; {entity.origin}"
        written = sorted(self._static.get(normalise(entity.name), {}))
        return f"{reason}; static context: {', '.join(written)}" if written else reason

    def _term_record(
        self, entry: GlossaryEntry
    ) -> tuple[dict[str, Any], dict[str, str]]:
        fields, evidence = self._context(entry.term, [(entry, None)], is_meant=True)
        place = self._chosen.get(entry.term) or self._classifier.place(
            entry.term, fields["formal_definition"]
        )
        record = {
            "fact_sheet_id": "",
            "entity_name": entry.term,
            "source": "HANDBOOK_ONLY",
            "leanix_description": CANDIDATE,
            **fields,
            "handbook_term": entry.term,
            "mapping_confidence": "",
            "mapping_rationale": self._index.rationale_of(entry.term),
            "review_status": review_status(place),
            **ReviewedRow().model_dump(mode="json"),
            "relationships": [],
            "inferred": True,
            "inference_tier": place.tier,
            "inference_confidence": place.confidence,
            "inference_reasoning": place.reasoning,
            "alternative_domain": place.alternative,
            "evidence": _dump_evidence(evidence),
        }
        near = self._places.get((place.domain, place.subgroup))
        entity = near or Entity(name=entry.term, domain=place.domain)
        return record, place_of(self.model, entity)

    @cached_property
    def _places(self) -> dict[tuple[str, str], Entity]:
        """Return domains and subtypes with an entity in each."""
        return {(one.domain, one.subtype): one for one in self._whole.entities}

    def _context(
        self,
        name: str,
        mapped: Sequence[tuple[GlossaryEntry, Match | None]],
        *,
        is_meant: bool,
    ) -> tuple[dict[str, str], dict[str, list[Evidence]]]:
        """Return the eight fields, and the evidence of each; else a first mention."""
        mentions = self._mentions.of(name)
        evidence = collect_context(
            name,
            mentions if is_meant else (),
            self.handbook,
            self._mentions,
            self._semantics,
        )
        defining = [entry for entry, match in mapped if _defines(entry, match, name)]
        evidence["formal_definition"] = (
            self.handbook.quotes(defining[0]) if defining else []
        )
        _drop_definition(evidence)
        fields = {field: as_text(evidence[field]) for field in FIELDS}
        rows = self._rows(name) if is_meant else RowFields({}, {})
        for field in rows.fields:
            evidence[field][:0] = map(self.handbook.quote_row, rows.rows[field])
            sentences = [fields[field]] if fields[field] else []
            fields[field] = "\n".join([*rows.lines(field), *sentences])
        if not any(evidence.values()):
            evidence["mention"] = first_mention(mentions, self.handbook, self._mentions)
        return fields, evidence

    def _rows(self, name: str) -> RowFields:
        """Return what tables say of an entity or a term."""
        return self._tables.of(self._mentions.names(name))


def _defines(entry: GlossaryEntry, match: Match | None, name: str) -> bool:
    """Return whether an entry defines an entity.

    The row of a term without an entity exists because of its definition. One that
    several entities fit defines none of them for certain, nor does the long form of a
    short form define the entity of that name.
    """
    definition = entry.definition
    if match is None:
        return True
    if match.entity is None or definition.source is DefinitionSource.ACRONYM:
        return False
    if fold(definition.definition) == fold(name):
        return False
    if definition.source is not DefinitionSource.STATEMENT:
        return True
    # The text announced by a colon is missing. Otherwise the glossary's threshold holds
    # here too: at .5 the catalogue called undefined what glossary and coverage report
    # showed as defined. A reviewer sees the same sentence in either.
    is_whole = not definition.definition.rstrip().endswith(":")
    return is_whole and is_sure(definition)


def _drop_definition(evidence: Mapping[str, list[Evidence]]) -> None:
    """Drop the formal definition from fields that it does not fill.

    It is no further context, and "a Hire Deed is the contract that …" names no other
    agreement.
    """
    taken = [(e.document, e.start, e.end) for e in evidence["formal_definition"]]
    for field in ("domain_context", "associated_agreements"):
        evidence[field][:] = [
            e
            for e in evidence[field]
            if not any(
                e.document == d and e.start < end and e.end > start
                for d, start, end in taken
            )
        ]


def _needs_review(match: Match | None, treatment: Treatment) -> str:
    """A person decides where the entity or the sense of its name is open."""
    several = match is not None and bool(match.ambiguous)
    is_open = several or treatment.is_ambiguous
    return NEEDS_CLARIFICATION if is_open else "PENDING"


def _dump_evidence(evidence: Mapping[str, Sequence[Evidence]]) -> dict[str, Any]:
    """Return fields with their evidence as JSON, without empty ones."""
    return {
        field: [quote.model_dump(mode="json") for quote in evidence[field]]
        for field in (*FIELDS, "mention")
        if evidence.get(field)
    }
