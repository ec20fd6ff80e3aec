"""The consolidated catalogue: the model's entities and the handbook's terms as one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from typing_extensions import override

from elt_llm_consumer.context_fields import FIELDS, as_text, context_of, naming
from elt_llm_consumer.corpus import Entry, Evidence, Handbook
from elt_llm_consumer.definitions.names import fold, normalise
from elt_llm_consumer.entity import Entity
from elt_llm_consumer.linking.classifier import UNASSIGNED, Placer, review_status
from elt_llm_consumer.linking.entity_linker import Match, Matcher
from elt_llm_consumer.linking.entity_model import Edge, Model, read_aliases, read_model
from elt_llm_consumer.linking.mentions import Mentions
from elt_llm_consumer.linking.similarity import Semantics
from elt_llm_consumer.outputs import (
    check,
    default_path,
    finished,
    json_text,
    sound,
)
from elt_llm_consumer.product import Item, ProductJob, run_items
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import JobContext, JobReport, Runner
from elt_llm_core.strategy import Models


def assemble(model: Model, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Domains to their subtypes, entities and handbook terms, records in their order.

    Every domain of the model is there, also where all its entities failed.
    """
    found: dict[str, Any] = {}
    for entity in model.entities:
        domain = found.setdefault(entity.domain or UNASSIGNED, _domain(model, entity))
        if entity.subtype:
            domain["subtypes"].setdefault(entity.subtype, _subtype(model, entity))
    for row in rows:
        name = row["domain"] or UNASSIGNED
        domain = found.setdefault(name, _domain(model, Entity(name="", domain=name)))
        record = row["record"]
        if record["source"] == "HANDBOOK_ONLY":
            domain["handbook_only"].append(record)
        elif row["subtype"]:
            domain["subtypes"][row["subtype"]]["entities"].append(record)
        else:
            domain["entities"].append(record)
    return {name: found[name] for name in sorted(found)}


def _domain(model: Model, entity: Entity) -> dict[str, Any]:
    sheet = entity.domain_fact_sheet_id
    return {
        "fact_sheet_id": sheet,
        "description": model.descriptions.get(sheet, ""),
        "subtypes": {},
        "entities": [],
        "handbook_only": [],
    }


def _subtype(model: Model, entity: Entity) -> dict[str, Any]:
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
_RANK = {"high": 0, "medium": 1, "low": 2}


class CatalogJob(ProductJob):
    """Options of the catalogue. Without `model` it holds the handbook's terms only."""

    @override
    def build(self, models: Models) -> Runner:
        """A runner that writes the catalogue and the relationships as JSON files."""
        return lambda context: self._run(context, models)

    def _run(self, context: JobContext, models: Models) -> JobReport:
        cataloguer = Cataloguer(
            Handbook(context.store, self.collections, textbook=self.textbook),
            read_model(context.store, self.model),
            read_aliases(self.aliases or context.config.consumer.aliases),
            models,
            context.config.consumer.thin,
        )
        found_terms = len(cataloguer.handbook.entries)
        context.progress("definitions", found_terms, found_terms)
        outcome = run_items(
            context, "catalog", cataloguer.items(), cataloguer.record, fresh=self.fresh
        )
        relationships, unsound = sound(
            table(cataloguer.model), "relationships", "items"
        )
        sources = Counter(row["record"]["source"].lower() for row in outcome.good)
        report = JobReport(
            job="catalog",
            counts=outcome.counted(
                **dict(sorted(sources.items())), unsound=len(unsound)
            ),
            degradations=(*outcome.degradations, *unsound),
        )
        path = self.output or default_path(
            context.store.data_dir, "catalog", self.collections
        )
        beside = path.with_name(f"{path.stem}_relationships.json")
        catalog = assemble(cataloguer.model, outcome.good)
        return finished(
            context,
            report,
            {
                "catalog_json": (path, json_text(catalog, "catalog")),
                "relationships_json": (
                    beside,
                    json_text(relationships, "relationships"),
                ),
            },
        )


class Cataloguer:
    """Makes one record an entity, and one for each term that no entity has."""

    def __init__(
        self,
        handbook: Handbook,
        model: Model,
        aliases: Mapping[str, Sequence[str]],
        models: Models,
        thin: float,
    ) -> None:
        self.handbook = handbook
        self.model = model
        self._aliases = aliases
        self._thin = thin
        self._semantics = Semantics(handbook, models)
        self._placer = Placer(model.entities, self._semantics)
        self._mapped, self._loose = _sorted_out(
            handbook.entries, Matcher(model.entities, aliases)
        )

    def items(self) -> list[Item]:
        """Entities in their order, then the handbook's own terms in theirs."""
        shared = digest(
            self.handbook.identity,
            self.model.identity,
            str(sorted(self._aliases.items())),
            str(self._thin),
        )
        found = [
            Item(name=entity.name, parts=(shared, entity.model_dump_json()))
            for entity in self.model.entities
        ]
        return found + [
            Item(
                name=entry.found.term,
                parts=(shared, entry.row.document_id, entry.found.model_dump_json()),
            )
            for entry in self._loose
        ]

    def record(self, number: int) -> dict[str, Any]:
        """One record with its place: {domain, subtype, record}.

        Raises ProductError for a record that breaks its schema.
        """
        entities = self.model.entities
        if number < len(entities):
            row, kind = self._of_entity(entities[number]), "entity"
        else:
            row, kind = (
                self._of_term(self._loose[number - len(entities)]),
                "handbook_only",
            )
        check(row["record"], "catalog", f"$defs/{kind}")
        return row

    @cached_property
    def _mentions(self) -> Mentions:
        names = [entity.name for entity in self.model.entities]
        terms = [entry.found.term for entry in self.handbook.entries]
        return Mentions(self.handbook.passages, [*names, *terms], self._aliases, terms)

    def _of_entity(self, entity: Entity) -> dict[str, Any]:
        fields, evidence = self._context(entity.name, self._mapped.get(entity, []))
        mapped = self._mapped.get(entity, [])
        entry, match = mapped[0] if mapped else (None, None)
        hits = self._mentions.of(entity.name)
        both = entry is not None or bool(hits)
        if entry is None and not evidence["domain_context"]:
            evidence["domain_context"] = naming(hits, self.handbook, self._mentions)
            fields["domain_context"] = as_text(evidence["domain_context"])
        rationale = NAMED
        if match is not None:
            rationale = match.rationale
        elif not both:
            rationale = self._unnamed(entity)
        record = {
            "fact_sheet_id": entity.fact_sheet_id,
            "entity_name": entity.name,
            "source": "BOTH" if both else "LEANIX_ONLY",
            "leanix_description": entity.description or NO_DESCRIPTION,
            **fields,
            "handbook_term": entry.found.term if entry else None,
            "mapping_confidence": match.confidence if match else "",
            "mapping_rationale": rationale,
            "review_status": _needs_review(match),
            "review_notes": "",
            "relationships": of_entity(entity, self.model.edges),
            "evidence": _dumped(evidence),
        }
        return {"domain": entity.domain, "subtype": entity.subtype, "record": record}

    def _unnamed(self, entity: Entity) -> str:
        """What is known of an entity that the handbook does not name."""
        nearest = self._semantics.nearest(entity.name, 1)
        if nearest and nearest[0][0] >= self._thin:
            return f"{UNNAMED}; only passages near in meaning ({nearest[0][0]:.2f})"
        return UNNAMED

    def _of_term(self, entry: Entry) -> dict[str, Any]:
        fields, evidence = self._context(entry.found.term, [(entry, None)])
        place = self._placer.place(entry.found.term, fields["formal_definition"])
        record = {
            "fact_sheet_id": "",
            "entity_name": entry.found.term,
            "source": "HANDBOOK_ONLY",
            "leanix_description": CANDIDATE,
            **fields,
            "handbook_term": entry.found.term,
            "mapping_confidence": "",
            "mapping_rationale": "discovered in the handbook; no entity has this name",
            "review_status": review_status(place),
            "review_notes": "",
            "relationships": [],
            "inferred": True,
            "inference_tier": place.tier,
            "inference_confidence": place.confidence,
            "inference_reasoning": place.reasoning,
            "alternative_domain": place.alternative,
            "evidence": _dumped(evidence),
        }
        return {"domain": place.domain, "subtype": place.subgroup, "record": record}

    def _context(
        self, name: str, mapped: Sequence[tuple[Entry, Match | None]]
    ) -> tuple[dict[str, str], dict[str, list[Evidence]]]:
        """The eight fields and what each rests on."""
        hits = self._mentions.of(name)
        evidence = context_of(
            name, hits, self.handbook, self._mentions, self._semantics
        )
        evidence["formal_definition"] = (
            self.handbook.quotes(mapped[0][0]) if mapped else []
        )
        _without_repeats(evidence)
        return {field: as_text(evidence[field]) for field in FIELDS}, evidence


def _without_repeats(evidence: Mapping[str, list[Evidence]]) -> None:
    """A sentence that holds the definition is not told again as context."""
    taken = [(e.document, e.start, e.end) for e in evidence["formal_definition"]]
    evidence["domain_context"][:] = [
        e
        for e in evidence["domain_context"]
        if not any(
            e.document == d and e.start < end and e.end > start
            for d, start, end in taken
        )
    ]


def _sorted_out(
    entries: Sequence[Entry], matcher: Matcher
) -> tuple[dict[Entity, list[tuple[Entry, Match]]], list[Entry]]:
    """Entity to its definitions, surest first; and the first one of each other term."""
    mapped: dict[Entity, list[tuple[Entry, Match]]] = {}
    loose: dict[str, Entry] = {}
    for entry in entries:
        match = matcher.match(entry.found.term, entry.found.synonyms)
        if match.entity is None:
            loose.setdefault(fold(entry.found.term), entry)
        else:
            mapped.setdefault(match.entity, []).append((entry, match))
    for found in mapped.values():
        found.sort(key=lambda pair: (_RANK[pair[1].confidence], *pair[0].order))
    return mapped, list(loose.values())


def _needs_review(match: Match | None) -> str:
    return "NEEDS_CLARIFICATION" if match is not None and match.ambiguous else "PENDING"


def _dumped(evidence: Mapping[str, Sequence[Evidence]]) -> dict[str, Any]:
    """Evidence lists of the fields that have any, by field."""
    return {
        field: [one.model_dump(mode="json") for one in evidence[field]]
        for field in FIELDS
        if evidence[field]
    }


DIRECTION = "unidirectional"
SOURCE = "LEANIX_CONCEPTUAL_MODEL"


def of_entity(entity: Entity, edges: Sequence[Edge]) -> list[dict[str, Any]]:
    """Relationships that begin at an entity, its own first, then its domain's.

    `provenance` is "direct", or names the domain edge that the member inherits.
    """
    found = []
    for edge in edges:
        if _is(edge.source, entity.name) and edge.source_domain in ("", entity.domain):
            found.append(_relation(edge, "direct"))
        elif _is(edge.source, entity.domain):
            said = f"inherited from {edge.source} -> {edge.target}"
            found.append(_relation(edge, said))
    return sorted(
        found, key=lambda r: (r["provenance"] != "direct", str(sorted(r.items())))
    )


def table(model: Model) -> list[dict[str, Any]]:
    """Every edge of the model once, both ends in their order of the model."""
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


def _is(left: str, right: str) -> bool:
    return bool(right) and normalise(left) == normalise(right)


def _relation(edge: Edge, provenance: str) -> dict[str, Any]:
    return {
        "target_entity": edge.target,
        "relationship_type": edge.kind,
        "cardinality": edge.cardinality,
        "direction": DIRECTION,
        "provenance": provenance,
    }
