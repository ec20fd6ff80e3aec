"""How well a handbook covers a model: evidence per entity, and gaps in both."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from elt_llm_consumer.batch import WorkItem, run_items
from elt_llm_consumer.corpus import Evidence, GlossaryEntry, Handbook, quote_passage
from elt_llm_consumer.definitions.terms import clean, fold, normalise
from elt_llm_consumer.linking.mentions import EntityMention, MentionIndex
from elt_llm_consumer.linking.model_entities import (
    Entity,
    EntityModel,
    Match,
    Matcher,
    read_aliases,
    read_model,
)
from elt_llm_consumer.linking.similarity import SemanticIndex
from elt_llm_consumer.optional_reader import open_reader, unread
from elt_llm_consumer.product import (
    check_schema,
    default_path,
    json_text,
    publish_files,
    split_valid,
)
from elt_llm_consumer.product_job import ProductJob
from elt_llm_consumer.reviewed import ReviewedProduct, ReviewedRow, review_rows
from elt_llm_core.config.sections import ConsumerSection
from elt_llm_core.errors import UsageError
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import JobContext, JobReport
from elt_llm_core.records import Record
from elt_llm_core.strategy import Models

# Share of equal letters; not measured. About one letter in eight may differ.
_NEAR_SPELLING = 0.88
_SHORTEST_NAME = 5  # characters; one letter makes another word of a shorter name


class Gap(Record):
    """One name of either side. `match` says how it matched, or what else is known."""

    normalized_name: str
    model_name: str
    handbook_name: str
    status: Literal["MATCHED", "MODEL_ONLY", "HANDBOOK_ONLY"]
    match: str


def gaps(
    entities: Sequence[Entity],
    matched: Iterable[tuple[str, Match]],
    mentioned: Iterable[str] = (),
) -> list[Gap]:
    """Return the gap analysis, sorted by name.

    Terms pair with entities by name, alias or synonym; the rest pairs by the same words
    in another order or nearly the same spelling, which `match` then says.

    Args:
        entities: The entities of the model.
        matched: Terms of the handbook with their matches.
        mentioned: Names of entities that the text mentions.
    """
    terms: dict[str, tuple[str, Match]] = {}
    for term, match in matched:
        terms.setdefault(fold(term), (term, match))
    pairs = [(term, m.entity, m.rationale) for term, m in terms.values() if m.entity]
    rows = [
        _gap(entity.name, term, "MATCHED", rationale.split(":")[0])
        for term, entity, rationale in pairs
    ]
    paired = {entity for _, entity, _ in pairs}
    unmatched = [term for term, match in terms.values() if match.entity is None]
    rows += _unpaired_entities(entities, paired, unmatched, frozenset(mentioned))
    rows += [
        _gap("", term, "HANDBOOK_ONLY", "defined, not modelled") for term in unmatched
    ]
    return sorted(
        rows, key=lambda g: (g.normalized_name, g.model_name, g.handbook_name)
    )


def _unpaired_entities(
    entities: Sequence[Entity],
    paired: set[Entity],
    unmatched: list[str],
    mentioned: frozenset[str],
) -> list[Gap]:
    """Entities that no term names; a term that nearly does leaves `unmatched`."""
    names = {fold(e.name) for e in paired}
    rows = []
    for entity in entities:
        if entity in paired:
            continue
        near = _nearest(entity.name, unmatched)
        if fold(entity.name) in names:
            match = "same name in another domain"
            rows.append(_gap(entity.name, "", "MATCHED", match))
        elif near:
            unmatched.remove(near[0])
            rows.append(_gap(entity.name, near[0], "MATCHED", near[1]))
        else:
            known = entity.name in mentioned
            match = "mentioned, not defined" if known else "not mentioned"
            rows.append(_gap(entity.name, "", "MODEL_ONLY", match))
    return rows


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


def _nearest(name: str, terms: Sequence[str]) -> tuple[str, str] | None:
    """The term with the same words or nearly the same spelling, and the reason."""
    key = fold(name)
    for term in sorted(terms):
        other = fold(term)
        if len(key.split()) > 1 and sorted(other.split()) == sorted(key.split()):
            return term, "fuzzy match (same words, other order)"
    best = max(
        ((_ratio(key, fold(term)), term) for term in sorted(terms)), default=None
    )
    if best is not None and best[0] >= _NEAR_SPELLING:
        return best[1], f"fuzzy match (spelling {best[0]:.2f})"
    return None


def _ratio(left: str, right: str) -> float:
    if min(len(left), len(right)) < _SHORTEST_NAME:
        return 0.0
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if (
        matcher.real_quick_ratio() < _NEAR_SPELLING
        or matcher.quick_ratio() < _NEAR_SPELLING
    ):
        return 0.0
    return round(matcher.ratio(), 4)


# Set against the default bands (.70, .55, .40): a definition is strong, and so are
# three mentions; one mention is moderate; those of an alias are one band lower.
_DEFINED = {"high": 0.95, "medium": 0.85, "low": 0.60}
_NAMED = (0.55, 0.62, 0.70)
_BY_ALIAS = 0.10
_PREVIEW = 120  # characters
VERDICTS = ("STRONG", "MODERATE", "THIN", "ABSENT")


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
        scorer = CoverageScorer(
            self.open_handbook(context, reader),
            read_model(context.store, self.model),
            aliases,
            context.config.consumer,
            models,
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
        valid_gaps, invalid = split_valid(
            [gap.model_dump(mode="json") for gap in scorer.gaps()],
            "coverage",
            "properties/gaps/items",
        )
        content = {
            "summary": summary(rows, [Gap.model_validate(gap) for gap in valid_gaps]),
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
            degradations=(*unread(reader), *batch.degradations, *invalid),
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

    The score of an entity is the best of three kinds of evidence:

    - definition: the handbook defines the entity's name (0.95), an alias or synonym of
      it (0.85), or an alias that several entities share (0.60);
    - lexical: the name occurs, as a noun phrase, in one sentence (0.55), two (0.62),
      three or more (0.70); 0.10 less if only aliases occur;
    - semantic: the calibrated cosine of the nearest passage, `SemanticIndex.scores`: 0
      for what every passage has in common with the name, 1 for the same text.

    The verdict is the highest configured band (STRONG, MODERATE, THIN) that the score
    reaches, else ABSENT.
    """

    def __init__(
        self,
        handbook: Handbook,
        model: EntityModel,
        aliases: Mapping[str, Sequence[str]],
        config: ConsumerSection,
        models: Models,
    ) -> None:
        self.handbook = handbook
        self.model = model
        self._aliases = aliases
        self._config = config
        self._matcher = Matcher(model.entities, aliases)
        self._semantics = SemanticIndex(handbook, models)
        self._mentions: MentionIndex | None = None
        self._defined = self._definitions()

    def items(self) -> list[WorkItem]:
        """Return an item per entity, keyed by handbook, model, aliases and bands."""
        config = self._config.model_dump_json(exclude={"aliases"})
        shared = digest(
            self.handbook.identity,
            self.model.identity,
            str(sorted(self._aliases.items())),
            config,
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
        k = self._config.evidence_top_k
        nearest = self._semantics.nearest(entity.name, k)
        mentions = self.mentions.of(entity.name)
        evidence = [*self._by_definition(entity), *self._by_name(entity, mentions)]
        near = [(score, p) for score, p in nearest if score >= self._config.thin]
        for score, passage in near:
            whole = quote_passage(passage, 0, len(passage.text))
            evidence.append(
                ScoredEvidence(
                    **whole.model_dump(), kind="semantic", score=round(score, 4)
                )
            )
        top = max(
            [one.score for one in evidence] + [s for s, _ in nearest[:1]], default=0.0
        )
        numbers = {self.handbook.passages[m.number].node_id for m in mentions}
        evidence.sort(key=lambda one: (-one.score, one.kind, one.document, one.start))
        row = {
            "fact_sheet_id": entity.fact_sheet_id,
            "entity_name": entity.name,
            "domain": entity.domain,
            "chunks_found": len(numbers | {p.node_id for _, p in near}),
            "top_score": round(float(top), 4),
            "avg_score": round(sum(s for s, _ in nearest) / len(nearest), 4)
            if nearest
            else 0.0,
            "verdict": verdict(float(top), self._config),
            "evidence": [one.model_dump(mode="json") for one in evidence],
            "top_chunk_preview": clean(evidence[0].quote)[:_PREVIEW]
            if evidence
            else "",
            "review_status": "PENDING",
            **ReviewedRow().model_dump(mode="json"),
        }
        check_schema(row, "coverage", "properties/entities/items")
        return row

    def gaps(self) -> list[Gap]:
        """Return the gap analysis of model and handbook."""
        matched = [
            (
                entry.term,
                self._matcher.match(entry.term, entry.definition.synonyms),
            )
            for entry in self.handbook.entries
        ]
        mentioned = {e.name for e in self.model.entities if self.mentions.of(e.name)}
        return gaps(self.model.entities, matched, mentioned)

    @property
    def mentions(self) -> MentionIndex:
        """Mentions of the model's names; found when first needed."""
        if self._mentions is None:
            terms = [entry.term for entry in self.handbook.entries]
            self._mentions = MentionIndex(
                self.handbook.passages,
                [entity.name for entity in self.model.entities],
                self._aliases,
                terms,
            )
        return self._mentions

    def _definitions(self) -> dict[Entity, list[tuple[GlossaryEntry, Match]]]:
        definitions: dict[Entity, list[tuple[GlossaryEntry, Match]]] = {}
        for entry in self.handbook.entries:
            match = self._matcher.match(entry.term, entry.definition.synonyms)
            others = [e for e in self.model.entities if e.label in match.ambiguous]
            for entity in [*([match.entity] if match.entity else []), *others]:
                definitions.setdefault(entity, []).append((entry, match))
        return definitions

    def _by_definition(self, entity: Entity) -> list[ScoredEvidence]:
        return [
            ScoredEvidence(
                **quote.model_dump(),
                kind="definition",
                score=_DEFINED[match.confidence],
                matched=entry.term,
            )
            for entry, match in self._defined.get(entity, [])
            for quote in self.handbook.quotes(entry)
        ]

    def _by_name(
        self, entity: Entity, mentions: Sequence[EntityMention]
    ) -> list[ScoredEvidence]:
        own = [mention for mention in mentions if not mention.alias]
        first: dict[tuple[int, int], EntityMention] = {}
        for mention in sorted(own or mentions, key=lambda m: (m.plain, m)):
            start, _ = self.mentions.sentence(mention)
            first.setdefault((mention.number, start), mention)
        if not first:
            return []
        score = _NAMED[min(len(first), len(_NAMED)) - 1] - (0.0 if own else _BY_ALIAS)
        return [
            ScoredEvidence(
                **self._sentence_around(mention).model_dump(),
                kind="lexical",
                score=round(score, 4),
                matched=mention.alias or entity.name,
            )
            for mention in list(first.values())[: self._config.evidence_top_k]
        ]

    def _sentence_around(self, mention: EntityMention) -> Evidence:
        passage = self.handbook.passages[mention.number]
        return quote_passage(passage, *self.mentions.sentence(mention))


def verdict(score: float, config: ConsumerSection) -> str:
    """Return the band of a score."""
    bands = (
        (config.strong, "STRONG"),
        (config.moderate, "MODERATE"),
        (config.thin, "THIN"),
    )
    return next((name for least, name in bands if score >= least), "ABSENT")


def summary(rows: Sequence[Mapping[str, Any]], gaps: Sequence[Gap]) -> dict[str, Any]:
    """Return counts by verdict and gap status, and the shares covered and matched."""
    verdicts = Counter(row["verdict"] for row in rows)
    statuses = Counter(gap.status for gap in gaps)
    covered = verdicts["STRONG"] + verdicts["MODERATE"]
    matched = statuses["MATCHED"]
    modelled = matched + statuses["MODEL_ONLY"]
    return {
        "entities": len(rows),
        "verdicts": {name: verdicts[name] for name in VERDICTS},
        "gaps": {n: statuses[n] for n in ("MATCHED", "MODEL_ONLY", "HANDBOOK_ONLY")},
        "covered_share": round(covered / len(rows), 4) if rows else 0.0,
        "matched_share": round(matched / modelled, 4) if modelled else 0.0,
    }
