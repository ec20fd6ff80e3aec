"""The catalogue: the model's entities and the handbook's own terms in one file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from typing_extensions import override

from elt_llm_consumer.context_fields import (
    FIELDS,
    as_text,
    collect_context,
    first_mention,
)
from elt_llm_consumer.corpus import Evidence, GlossaryEntry, Handbook
from elt_llm_consumer.definitions.terms import fold, normalise
from elt_llm_consumer.linking.mentions import MentionIndex
from elt_llm_consumer.linking.model_entities import (
    Edge,
    Entity,
    EntityModel,
    Match,
    Matcher,
    read_aliases,
    read_model,
)
from elt_llm_consumer.linking.similarity import (
    UNASSIGNED,
    SemanticIndex,
    TaxonomyClassifier,
    review_status,
)
from elt_llm_consumer.product import (
    ProductJob,
    WorkItem,
    check_schema,
    default_path,
    json_text,
    publish_files,
    run_items,
    split_valid,
)
from elt_llm_consumer.reviewed import ReviewedProduct, ReviewedRow, review_rows
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import JobContext, JobReport, Runner
from elt_llm_core.strategy import Models


def assemble(model: EntityModel, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return domain to its subtypes, entities and handbook terms, in record order.

    Every domain of the model is a key, even if all its entities failed.
    """
    domains: dict[str, Any] = {}
    for entity in model.entities:
        domain = domains.setdefault(entity.domain or UNASSIGNED, _domain(model, entity))
        if entity.subtype:
            domain["subtypes"].setdefault(entity.subtype, _subtype(model, entity))
    for row in rows:
        name = row["domain"] or UNASSIGNED
        domain = domains.setdefault(name, _domain(model, Entity(name="", domain=name)))
        record = row["record"]
        if record["source"] == "HANDBOOK_ONLY":
            domain["handbook_only"].append(record)
        elif row["subtype"]:
            domain["subtypes"][row["subtype"]]["entities"].append(record)
        else:
            domain["entities"].append(record)
    return {name: domains[name] for name in sorted(domains)}


def _domain(model: EntityModel, entity: Entity) -> dict[str, Any]:
    sheet = entity.domain_fact_sheet_id
    return {
        "fact_sheet_id": sheet,
        "description": model.descriptions.get(sheet, ""),
        "subtypes": {},
        "entities": [],
        "handbook_only": [],
    }


def _subtype(model: EntityModel, entity: Entity) -> dict[str, Any]:
    sheet = entity.subtype_fact_sheet_id
    return {
        "fact_sheet_id": sheet,
        "description": model.descriptions.get(sheet, ""),
        "entities": [],
    }


NO_DESCRIPTION = "No description in the inventory."
CANDIDATE = (
    "Not in the model: the handbook defines this term; a candidate for the model."
)
NAMED = "named in the handbook, not defined there"
UNNAMED = "not named in the handbook"
REVIEWED = ReviewedProduct(
    job="catalog",
    label="entity_name",
    scope=("fact_sheet_id",),
    fields=tuple(FIELDS),
    quotes=lambda row: [row["source"], row["handbook_term"] or ""],
)
_RANK = {"high": 0, "medium": 1, "low": 2}


class CatalogJob(ProductJob):
    """Options of the catalogue. Without `model` it has only the handbook's terms."""

    @override
    def build(self, models: Models) -> Runner:
        """Return a runner that writes the catalogue and the relationships as JSON."""
        return lambda context: self._run(context, models)

    def _run(self, context: JobContext, models: Models) -> JobReport:
        cataloguer = Cataloguer(
            Handbook(context.store, self.collections, textbook=self.textbook),
            read_model(context.store, self.model),
            read_aliases(self.aliases or context.config.consumer.aliases),
            models,
            context.config.consumer.thin,
        )
        terms = len(cataloguer.handbook.entries)
        context.progress("definitions", terms, terms)
        batch = run_items(
            context, "catalog", cataloguer.items(), cataloguer.record, fresh=self.fresh
        )
        relationships, invalid = split_valid(
            relationship_table(cataloguer.model), "relationships", "items"
        )
        records, reviews = review_rows(
            context if self.reviewed else None,
            REVIEWED,
            cataloguer.handbook.collections,
            [row["record"] for row in batch.successes],
        )
        rows = [
            {**row, "record": record}
            for row, record in zip(batch.successes, records, strict=True)
        ]
        sources = Counter(record["source"].lower() for record in records)
        report = JobReport(
            job="catalog",
            counts=batch.counts_with(
                **dict(sorted(sources.items())), **reviews, invalid=len(invalid)
            ),
            degradations=(*batch.degradations, *invalid),
        )
        path = self.output or default_path(
            context.store.data_dir, "catalog", self.collections
        )
        second_path = path.with_name(f"{path.stem}_relationships.json")
        catalog = assemble(cataloguer.model, rows)
        return publish_files(
            context,
            report,
            {
                "catalog_json": (path, json_text(catalog, "catalog")),
                "relationships_json": (
                    second_path,
                    json_text(relationships, "relationships"),
                ),
            },
        )


class Cataloguer:
    """Builds a record per entity, and one per term that no entity has."""

    def __init__(
        self,
        handbook: Handbook,
        model: EntityModel,
        aliases: Mapping[str, Sequence[str]],
        models: Models,
        thin: float,
    ) -> None:
        self.handbook = handbook
        self.model = model
        self._aliases = aliases
        self._thin = thin
        self._semantics = SemanticIndex(handbook, models)
        self._classifier = TaxonomyClassifier(model.entities, self._semantics)
        self._mapped, self._unmapped = _match_entries(
            handbook.entries, Matcher(model.entities, aliases)
        )

    def items(self) -> list[WorkItem]:
        """Return an item per entity, then one per term that no entity has, in order."""
        shared = digest(
            self.handbook.identity,
            self.model.identity,
            str(sorted(self._aliases.items())),
            str(self._thin),
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
                ),
            )
            for entry in self._unmapped
        ]

    def record(self, number: int) -> dict[str, Any]:
        """Return one record with its location: {domain, subtype, record}.

        Raises ProductError if the record does not match its schema.
        """
        entities = self.model.entities
        if number < len(entities):
            row, kind = self._entity_row(entities[number]), "entity"
        else:
            entry = self._unmapped[number - len(entities)]
            row, kind = self._term_row(entry), "handbook_only"
        check_schema(row["record"], "catalog", f"$defs/{kind}")
        return row

    @cached_property
    def _mentions(self) -> MentionIndex:
        names = [entity.name for entity in self.model.entities]
        terms = [entry.term for entry in self.handbook.entries]
        return MentionIndex(
            self.handbook.passages, [*names, *terms], self._aliases, terms
        )

    def _entity_row(self, entity: Entity) -> dict[str, Any]:
        fields, evidence = self._context(entity.name, self._mapped.get(entity, []))
        mapped = self._mapped.get(entity, [])
        entry, match = mapped[0] if mapped else (None, None)
        mentions = self._mentions.of(entity.name)
        both = entry is not None or bool(mentions)
        if entry is None and not any(evidence.values()):
            evidence["mention"] = first_mention(mentions, self.handbook, self._mentions)
        rationale = NAMED
        if match is not None:
            rationale = match.rationale
        elif not both:
            rationale = self._unmentioned_rationale(entity)
        record = {
            "fact_sheet_id": entity.fact_sheet_id,
            "entity_name": entity.name,
            "source": "BOTH" if both else "LEANIX_ONLY",
            "leanix_description": entity.description or NO_DESCRIPTION,
            **fields,
            "handbook_term": entry.term if entry else None,
            "mapping_confidence": match.confidence if match else "",
            "mapping_rationale": rationale,
            "review_status": _needs_review(match),
            **ReviewedRow().model_dump(mode="json"),
            "relationships": relationships_of(entity, self.model.edges),
            "evidence": _dump_evidence(evidence),
        }
        return {"domain": entity.domain, "subtype": entity.subtype, "record": record}

    def _unmentioned_rationale(self, entity: Entity) -> str:
        """The rationale of an entity that the handbook does not name."""
        nearest = self._semantics.nearest(entity.name, 1)
        if nearest and nearest[0][0] >= self._thin:
            return f"{UNNAMED}; only passages near in meaning ({nearest[0][0]:.2f})"
        return UNNAMED

    def _term_row(self, entry: GlossaryEntry) -> dict[str, Any]:
        fields, evidence = self._context(entry.term, [(entry, None)])
        place = self._classifier.place(entry.term, fields["formal_definition"])
        record = {
            "fact_sheet_id": "",
            "entity_name": entry.term,
            "source": "HANDBOOK_ONLY",
            "leanix_description": CANDIDATE,
            **fields,
            "handbook_term": entry.term,
            "mapping_confidence": "",
            "mapping_rationale": "discovered in the handbook; no entity has this name",
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
        return {"domain": place.domain, "subtype": place.subgroup, "record": record}

    def _context(
        self, name: str, mapped: Sequence[tuple[GlossaryEntry, Match | None]]
    ) -> tuple[dict[str, str], dict[str, list[Evidence]]]:
        """The eight fields, and the evidence of each."""
        mentions = self._mentions.of(name)
        evidence = collect_context(
            name, mentions, self.handbook, self._mentions, self._semantics
        )
        evidence["formal_definition"] = (
            self.handbook.quotes(mapped[0][0]) if mapped else []
        )
        _drop_definition_from_context(evidence)
        return {field: as_text(evidence[field]) for field in FIELDS}, evidence


def _drop_definition_from_context(evidence: Mapping[str, list[Evidence]]) -> None:
    """Drop sentences from the context that overlap the formal definition."""
    taken = [(e.document, e.start, e.end) for e in evidence["formal_definition"]]
    evidence["domain_context"][:] = [
        e
        for e in evidence["domain_context"]
        if not any(
            e.document == d and e.start < end and e.end > start
            for d, start, end in taken
        )
    ]


def _match_entries(
    entries: Sequence[GlossaryEntry], matcher: Matcher
) -> tuple[dict[Entity, list[tuple[GlossaryEntry, Match]]], list[GlossaryEntry]]:
    """Entity to its entries, best match first; and the first entry of other terms."""
    mapped: dict[Entity, list[tuple[GlossaryEntry, Match]]] = {}
    unmapped: dict[str, GlossaryEntry] = {}
    for entry in entries:
        match = matcher.match(entry.term, entry.definition.synonyms)
        if match.entity is None:
            unmapped.setdefault(fold(entry.term), entry)
        else:
            mapped.setdefault(match.entity, []).append((entry, match))
    for matches in mapped.values():
        matches.sort(key=lambda pair: (_RANK[pair[1].confidence], *pair[0].order))
    return mapped, list(unmapped.values())


def _needs_review(match: Match | None) -> str:
    return "NEEDS_CLARIFICATION" if match is not None and match.ambiguous else "PENDING"


def _dump_evidence(evidence: Mapping[str, Sequence[Evidence]]) -> dict[str, Any]:
    """Field to its evidence as JSON; fields without evidence are absent."""
    return {
        field: [quote.model_dump(mode="json") for quote in evidence[field]]
        for field in (*FIELDS, "mention")
        if evidence.get(field)
    }


DIRECTION = "unidirectional"
SOURCE = "LEANIX_CONCEPTUAL_MODEL"


def relationships_of(entity: Entity, edges: Sequence[Edge]) -> list[dict[str, Any]]:
    """Return relationships that start at an entity, then those of its domain.

    `provenance` is "direct", or names the domain's edge that the entity inherits.
    """
    relations = []
    for edge in edges:
        if _is_same_name(edge.source, entity.name) and edge.source_domain in (
            "",
            entity.domain,
        ):
            relations.append(_relation(edge, "direct"))
        elif _is_same_name(edge.source, entity.domain):
            provenance = f"inherited from {edge.source} -> {edge.target}"
            relations.append(_relation(edge, provenance))
    return sorted(
        relations, key=lambda r: (r["provenance"] != "direct", str(sorted(r.items())))
    )


def relationship_table(model: EntityModel) -> list[dict[str, Any]]:
    """Return every edge of the model once, sorted by its normalised ends."""
    rows = {
        (normalise(e.source), normalise(e.target), e.cardinality): {
            "entity_a": e.source.lower(),
            "entity_b": e.target.lower(),
            "relationship_type": e.kind,
            "cardinality": e.cardinality,
            "direction": DIRECTION,
            "source": SOURCE,
        }
        for e in model.edges
    }
    return [rows[key] for key in sorted(rows)]


def _is_same_name(left: str, right: str) -> bool:
    return bool(right) and normalise(left) == normalise(right)


def _relation(edge: Edge, provenance: str) -> dict[str, Any]:
    return {
        "target_entity": edge.target,
        "relationship_type": edge.kind,
        "cardinality": edge.cardinality,
        "direction": DIRECTION,
        "provenance": provenance,
    }
