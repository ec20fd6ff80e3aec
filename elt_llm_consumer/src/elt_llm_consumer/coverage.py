"""How well a handbook covers a model: evidence per entity, and gaps in both."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from elt_llm_consumer.batch import WorkItem, run_items
from elt_llm_consumer.corpus import (
    Evidence,
    Handbook,
    HandbookPassage,
    quote_passage,
)
from elt_llm_consumer.definitions.terms import clean, normalise
from elt_llm_consumer.linking.entity_aliases import read_aliases
from elt_llm_consumer.linking.mentions import EntityMention
from elt_llm_consumer.linking.model_entities import Entity, EntityModel, list_left_out
from elt_llm_consumer.linking.model_reading import read_model
from elt_llm_consumer.linking.similarity import SemanticIndex
from elt_llm_consumer.linking.text_vectors import list_missing
from elt_llm_consumer.optional_reader import open_reader, unread_passages
from elt_llm_consumer.product import (
    check_schema,
    default_path,
    json_text,
    publish_files,
    split_valid,
)
from elt_llm_consumer.product_job import ProductJob
from elt_llm_consumer.reviewed import ReviewedProduct, ReviewedRow, review_rows
from elt_llm_consumer.treatment.treatment_index import (
    AMBIGUOUS,
    VERDICTS,
    Treatment,
    TreatmentIndex,
    raise_by_meaning,
)
from elt_llm_core.config.sections import ConsumerSection
from elt_llm_core.errors import UsageError
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import JobContext, JobReport
from elt_llm_core.records import Record, replace_fields
from elt_llm_core.reviews.review_records import NEEDS_CLARIFICATION
from elt_llm_core.strategy import Models


class Gap(Record):
    """One name of either side. `match` describes how it matched, or other findings.

    MATCHED are the entities with coverage STRONG or MODERATE. If the handbook's term
    fits other entities as well, `handbook_name` is empty and `match` lists them.
    """

    normalized_name: str
    model_name: str
    handbook_name: str
    status: Literal["MATCHED", "MODEL_ONLY", "HANDBOOK_ONLY"]
    match: str
    is_counted: bool = Field(
        default=True, exclude=True, description="whether the shares are of it, too"
    )


def list_gaps(entities: Sequence[Entity], index: TreatmentIndex) -> list[Gap]:
    """Return a row for each entity and for each term without one, sorted by name.

    Args:
        entities: The entities of the model.
        index: Decides which of them the handbook treats.
    """
    rows = [
        replace_fields(_entity_gap(one, index), is_counted=one.kind not in _UNCOUNTED)
        for one in entities
    ]
    rows += [
        _gap("", entry.term, "HANDBOOK_ONLY", index.rationale_of(entry.term))
        for entry in index.terms_without_entity
    ]
    return sorted(
        rows, key=lambda g: (g.normalized_name, g.model_name, g.handbook_name)
    )


def _entity_gap(entity: Entity, index: TreatmentIndex) -> Gap:
    treatment, matches = index.of(entity), index.matches(entity)
    if not treatment.is_covered:
        reason = "; ".join(treatment.reasons)
        if treatment.is_ambiguous:
            reason = AMBIGUOUS + reason.removeprefix(AMBIGUOUS)
        return _gap(entity.name, "", "MODEL_ONLY", reason)
    if not matches:
        return _gap(entity.name, "", "MATCHED", "named, not defined")
    if treatment.ambiguity:
        return _gap(entity.name, "", "MATCHED", treatment.ambiguity)
    mapped = [one for one in matches if one.match.entity is not None]
    first, *others = dict.fromkeys(one.entry.term for one in mapped)
    also = f"; also {', '.join(map(repr, others))}" if others else ""
    return _gap(entity.name, first, "MATCHED", matches[0].match.rationale + also)


def _gap(
    model: str,
    handbook: str,
    status: Literal["MATCHED", "MODEL_ONLY", "HANDBOOK_ONLY"],
    match: str,
) -> Gap:
    return Gap(
        normalized_name=normalise(model or handbook),
        model_name=model,
        handbook_name=handbook,
        status=status,
        match=match,
    )


_PREVIEW = 120  # characters
# Types of ArchiMate and of inventories that a handbook is not asked to define: why and
# when an enterprise changes, and the machines below its applications. They have rows,
# but the shares are of what the handbook should treat.
_UNCOUNTED = frozenset(
    {
        *("assessment", "constraint", "driver", "goal", "objective", "outcome"),
        *("principle", "requirement", "value"),
        *("deliverable", "gap", "implementationevent", "initiative", "plateau"),
        *("project", "workpackage"),
        *("artifact", "communicationnetwork", "device", "distributionnetwork"),
        *("itcomponent", "node", "path", "systemsoftware", "technicalstack"),
        *("technologycollaboration", "technologyevent", "technologyfunction"),
        *("technologyinteraction", "technologyinterface", "technologyprocess"),
        "technologyservice",
    }
)
# Shares of the entity's score: a definition is the strongest evidence, then a
# statement, then a mention.
_WORTH = {"definition": 1.0, "lexical": 0.95}


class ScoredEvidence(Evidence):
    """Evidence with its kind (definition, lexical, semantic) and a score of 0 to 1."""

    kind: str
    score: float = Field(ge=0, le=1)
    matched: str = Field(default="", description="the matching name or alias")


REVIEWED = ReviewedProduct(
    job="coverage",
    label="entity_name",
    scope=("fact_sheet_id", "domain"),
    fields=("verdict",),
    quotes=lambda row: [one["quote"] for one in row["evidence"]],
)


class CoverageJob(ProductJob):
    """Options of the coverage report; `model` names at least one collection."""

    kind: ClassVar[str] = "coverage"

    @override
    def make(self, context: JobContext, models: Models) -> JobReport:
        if not self.model:
            raise UsageError(
                "coverage compares a handbook with a model, but no model is given",
                "pass --model NAME, a collection with a drawing or an inventory",
            )
        aliases = read_aliases(self.aliases or context.config.consumer.aliases)
        reader = open_reader(models, context, fresh=self.fresh)
        handbook = self.open_handbook(context, reader)
        scorer = CoverageScorer(
            handbook,
            read_model(context.store, self.model),
            aliases,
            context.config.consumer,
            SemanticIndex(handbook, models, context),
        )
        terms = len(scorer.handbook.entries)
        if reader is not None and reader.ended_early is not None:
            return reader.ended_early.early_report("coverage")
        context.progress("definitions", terms, terms)
        batch = run_items(
            context, "coverage", scorer.items(), scorer.row, fresh=self.fresh
        )
        if batch.stopped:
            return batch.early_report("coverage")
        rows, reviews = review_rows(
            context if self.reviewed else None,
            REVIEWED,
            scorer.handbook.collections,
            batch.successes,
        )
        gaps = scorer.gaps()
        valid_gaps, invalid = split_valid(
            [gap.model_dump(mode="json") for gap in gaps],
            "coverage",
            "properties/gaps/items",
        )
        content = {
            "summary": {
                **count_verdicts(rows, gaps, scorer.model.entities),
                "ambiguous": list_ambiguous(batch.successes),
            },
            "entities": rows,
            "gaps": valid_gaps,
        }
        verdicts = Counter(row["verdict"] for row in rows)
        report = JobReport(
            job="coverage",
            counts=batch.counts_with(
                **{v.lower(): verdicts[v] for v in VERDICTS},
                **reviews,
                invalid=len(invalid),
            ),
            degradations=(
                *unread_passages(reader),
                *list_missing(scorer.index.missing),
                *list_left_out(scorer.model),
                *batch.degradations,
                *invalid,
            ),
            items=batch.failures,
        )
        path = self.output or default_path(
            context.store.data_dir, "coverage", self.collections
        )
        return publish_files(
            context, report, {"coverage_json": (path, json_text(content, "coverage"))}
        )


class CoverageScorer:
    """Scores entities against a handbook.

    `TreatmentIndex` decides whether the handbook treats the thing. The evidence lets a
    reader check the verdict: definitions, sentences with the name, and semantically
    similar passages. No quote has a higher score than its entity.

    Args:
        handbook: The documents.
        model: The model.
        aliases: Synonyms by entity name.
        config: The bands.
        semantics: Compares texts by the embedder.
    """

    def __init__(
        self,
        handbook: Handbook,
        model: EntityModel,
        aliases: Mapping[str, Sequence[str]],
        config: ConsumerSection,
        semantics: SemanticIndex,
    ) -> None:
        self.handbook = handbook
        self.model = model
        self._semantics = semantics
        self.index = TreatmentIndex(handbook, model, aliases, config, semantics.texts)
        self._aliases = aliases
        self._config = config

    def items(self) -> list[WorkItem]:
        """Return an item per entity, keyed by handbook, model, aliases and bands."""
        config = self._config.model_dump_json(exclude={"aliases"})
        shared = digest(
            self.handbook.identity,
            self.model.identity,
            str(sorted(self._aliases.items())),
            config,
            *sorted(self.index.missing),
        )
        return [
            WorkItem(name=entity.name, parts=(shared, entity.model_dump_json()))
            for entity in self.model.entities
        ]

    def row(self, number: int) -> dict[str, Any]:
        """Return the report's row of one entity.

        Raises ProductError if the row does not match its schema.
        """
        entity = self.model.entities[number]
        nearest = self._semantics.nearest(entity.name, self._config.evidence_top_k)
        near = [(score, p) for score, p in nearest if score >= self._config.thin]
        similarity = nearest[0][0] if nearest else 0.0
        treatment = raise_by_meaning(self.index.of(entity), similarity, self._config)
        evidence = self._evidence(entity, treatment, near)
        mentions = self.index.mentions.of(entity.name)
        named = {self.handbook.passages[m.number].node_id for m in mentions}
        row = {
            "fact_sheet_id": entity.fact_sheet_id,
            "entity_name": entity.name,
            "domain": entity.domain,
            "chunks_found": len(named | {p.node_id for _, p in near}),
            "top_score": round(treatment.score, 4),
            "avg_score": _mean([score for score, _ in nearest]),
            "verdict": treatment.verdict,
            "reasons": [*treatment.reasons, *filter(None, [entity.origin])],
            "evidence": [one.model_dump(mode="json") for one in evidence],
            "top_chunk_preview": clean(evidence[0].quote)[:_PREVIEW]
            if evidence
            else "",
            "review_status": NEEDS_CLARIFICATION
            if treatment.is_ambiguous
            else "PENDING",
            **ReviewedRow().model_dump(mode="json"),
        }
        check_schema(row, "coverage", "properties/entities/items")
        return row

    def gaps(self) -> list[Gap]:
        """Return the gap analysis of model and handbook."""
        return list_gaps(self.model.entities, self.index)

    def _evidence(
        self,
        entity: Entity,
        treatment: Treatment,
        near: Sequence[tuple[float, HandbookPassage]],
    ) -> list[ScoredEvidence]:
        evidence = [
            *self._by_definition(entity, treatment.score),
            *self._by_name(entity, treatment.score),
        ]
        for score, passage in near:
            whole = quote_passage(passage, 0, len(passage.text))
            at_most = min(score, treatment.score)
            evidence.append(_score(whole, "semantic", at_most))
        return sorted(
            evidence, key=lambda one: (-one.score, one.kind, one.document, one.start)
        )

    def _by_definition(self, entity: Entity, score: float) -> list[ScoredEvidence]:
        worth = score * _WORTH["definition"]
        return [
            _score(quote, "definition", worth, entry.term)
            for entry, _ in self.index.matches(entity)
            for quote in self.handbook.quotes(entry)
        ]

    def _by_name(self, entity: Entity, score: float) -> list[ScoredEvidence]:
        use, mentions = self.index.use(entity), self.index.mentions
        first: dict[tuple[int, int], EntityMention] = {}
        for mention in sorted(use.mentions, key=lambda m: (m.plain, m)):
            start, _ = mentions.sentence(mention)
            first.setdefault((mention.number, start), mention)
        worth = score * _WORTH["lexical"]
        return [
            _score(
                quote_passage(
                    self.handbook.passages[mention.number], *mentions.sentence(mention)
                ),
                "lexical",
                worth,
                mention.alias or entity.name,
            )
            for mention in list(first.values())[: self._config.evidence_top_k]
        ]


def _score(
    quote: Evidence, kind: str, score: float, matched: str = ""
) -> ScoredEvidence:
    return ScoredEvidence(
        **quote.model_dump(), kind=kind, score=round(score, 4), matched=matched
    )


def _mean(scores: Sequence[float]) -> float:
    return round(sum(scores) / len(scores), 4) if scores else 0.0


def count_verdicts(
    rows: Sequence[Mapping[str, Any]],
    gaps: Sequence[Gap],
    entities: Sequence[Entity] = (),
) -> dict[str, Any]:
    """Return counts by verdict and gap status, and the shares covered and matched.

    Both shares are equal, because an entity is matched if it is covered. They leave out
    the entities whose type a handbook is not asked to define.

    Args:
        rows: The rows of the report.
        gaps: The gap analysis.
        entities: The entities of the model, for their types.
    """
    verdicts = Counter(row["verdict"] for row in rows)
    statuses = Counter(gap.status for gap in gaps)
    aside = [one for one in entities if one.kind in _UNCOUNTED]
    # By element, because a goal may have the name of a capability.
    keys = {(one.fact_sheet_id, one.domain, one.name) for one in aside}
    keys -= {
        (one.fact_sheet_id, one.domain, one.name)
        for one in entities
        if one.kind not in _UNCOUNTED
    }
    asked = [
        row["verdict"]
        for row in rows
        if (row["fact_sheet_id"], row["domain"], row["entity_name"]) not in keys
    ]
    modelled = [
        gap.status == "MATCHED" for gap in gaps if gap.model_name and gap.is_counted
    ]
    return {
        "entities": len(rows),
        "verdicts": {name: verdicts[name] for name in VERDICTS},
        "gaps": {n: statuses[n] for n in ("MATCHED", "MODEL_ONLY", "HANDBOOK_ONLY")},
        "covered_share": _mean([verdict in VERDICTS[:2] for verdict in asked]),
        "matched_share": _mean(modelled),
        "uncounted": dict(sorted(Counter(one.type for one in aside).items())),
    }


def list_ambiguous(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of entities that a person must decide, in order.

    Args:
        rows: The rows as generated, before a reviewer's decisions.
    """
    open_rows = [row for row in rows if row["review_status"] == NEEDS_CLARIFICATION]
    return sorted({row["entity_name"] for row in open_rows})
