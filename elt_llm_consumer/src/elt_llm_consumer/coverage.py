"""How well a handbook covers a model: evidence per entity, and the gaps both ways."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

from pydantic import Field
from typing_extensions import override

from elt_llm_consumer.corpus import Entry, Evidence, Handbook, quoted
from elt_llm_consumer.definitions.names import clean, fold, normalise
from elt_llm_consumer.entity import Entity
from elt_llm_consumer.linking.entity_linker import Match, Matcher
from elt_llm_consumer.linking.entity_model import Model, read_aliases, read_model
from elt_llm_consumer.linking.mentions import Hit, Mentions
from elt_llm_consumer.linking.similarity import Semantics
from elt_llm_consumer.outputs import (
    check,
    default_path,
    finished,
    json_text,
    sound,
)
from elt_llm_consumer.product import Item, ProductJob, run_items
from elt_llm_core.config.sections import ConsumerSection
from elt_llm_core.errors import UsageError
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import JobContext, JobReport, Runner
from elt_llm_core.records import Record
from elt_llm_core.strategy import Models

NEAR = 0.88
SHORTEST = 5  # characters; shorter names are nearly anything


class Gap(Record):
    """One name on either side. `match` says how it matched, or what else is known."""

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
    """The gap analysis, by name. `mentioned` are entities whose name is in the text.

    Terms pair with entities by name, alias or synonym; what is left is paired by the
    same words in another order or nearly the same spelling, and said to be so.
    """
    terms: dict[str, tuple[str, Match]] = {}
    for term, match in matched:
        terms.setdefault(fold(term), (term, match))
    pairs = [(term, m.entity, m.rationale) for term, m in terms.values() if m.entity]
    found = [
        _gap(entity.name, term, "MATCHED", said.split(":")[0])
        for term, entity, said in pairs
    ]
    seen = {entity for _, entity, _ in pairs}
    loose = [term for term, match in terms.values() if match.entity is None]
    found += _left(entities, seen, loose, frozenset(mentioned))
    found += [
        _gap("", term, "HANDBOOK_ONLY", "defined, not modelled") for term in loose
    ]
    return sorted(
        found, key=lambda g: (g.normalized_name, g.model_name, g.handbook_name)
    )


def _left(
    entities: Sequence[Entity],
    seen: set[Entity],
    loose: list[str],
    mentioned: frozenset[str],
) -> list[Gap]:
    """The entities no term names; a term that nearly names one leaves `loose`."""
    shared = {fold(e.name) for e in seen}
    found = []
    for entity in entities:
        if entity in seen:
            continue
        near = _nearest(entity.name, loose)
        if fold(entity.name) in shared:
            said = "same name in another domain"
            found.append(_gap(entity.name, "", "MATCHED", said))
        elif near:
            loose.remove(near[0])
            found.append(_gap(entity.name, near[0], "MATCHED", near[1]))
        else:
            known = entity.name in mentioned
            said = "mentioned, not defined" if known else "not mentioned"
            found.append(_gap(entity.name, "", "MODEL_ONLY", said))
    return found


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
    """The term with the same words or nearly the same spelling, and how it matched."""
    key = fold(name)
    for term in sorted(terms):
        other = fold(term)
        if len(key.split()) > 1 and sorted(other.split()) == sorted(key.split()):
            return term, "fuzzy match (same words, other order)"
    best = max(
        ((_ratio(key, fold(term)), term) for term in sorted(terms)), default=None
    )
    if best is not None and best[0] >= NEAR:
        return best[1], f"fuzzy match (spelling {best[0]:.2f})"
    return None


def _ratio(left: str, right: str) -> float:
    if min(len(left), len(right)) < SHORTEST:
        return 0.0
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if matcher.real_quick_ratio() < NEAR or matcher.quick_ratio() < NEAR:
        return 0.0
    return round(matcher.ratio(), 4)


DEFINED = {"high": 0.95, "medium": 0.85, "low": 0.60}
NAMED = (0.55, 0.62, 0.70)
BY_ALIAS = 0.10
PREVIEW = 120
VERDICTS = ("STRONG", "MODERATE", "THIN", "ABSENT")


class Scored(Evidence):
    """Evidence with its kind (definition, lexical, semantic) and its score, 0 to 1."""

    kind: str
    score: float = Field(ge=0, le=1)
    matched: str = Field(default="", description="the name or alias that was found")


class CoverageJob(ProductJob):
    """Options of the coverage report; `model` names at least one collection."""

    @override
    def build(self, models: Models) -> Runner:
        """A runner that embeds entity names and writes one JSON file."""
        return lambda context: self._run(context, models)

    def _run(self, context: JobContext, models: Models) -> JobReport:
        if not self.model:
            raise UsageError(
                "coverage compares a handbook with a model, and no model is named",
                "pass --model NAME, a collection with a drawing or an inventory",
            )
        aliases = read_aliases(self.aliases or context.config.consumer.aliases)
        surveyor = Surveyor(
            Handbook(context.store, self.collections, textbook=self.textbook),
            read_model(context.store, self.model),
            aliases,
            context.config.consumer,
            models,
        )
        found_terms = len(surveyor.handbook.entries)
        context.progress("definitions", found_terms, found_terms)
        outcome = run_items(
            context, "coverage", surveyor.items(), surveyor.row, fresh=self.fresh
        )
        rows = outcome.good
        listed, unsound = sound(
            [gap.model_dump(mode="json") for gap in surveyor.gaps()],
            "coverage",
            "properties/gaps/items",
        )
        content = {
            "summary": summary(rows, [Gap.model_validate(gap) for gap in listed]),
            "entities": rows,
            "gaps": listed,
        }
        verdicts = Counter(row["verdict"] for row in rows)
        report = JobReport(
            job="coverage",
            counts=outcome.counted(
                **{v.lower(): verdicts[v] for v in VERDICTS}, unsound=len(unsound)
            ),
            degradations=(*outcome.degradations, *unsound),
        )
        path = self.output or default_path(
            context.store.data_dir, "coverage", self.collections
        )
        return finished(
            context, report, {"coverage_json": (path, json_text(content, "coverage"))}
        )


class Surveyor:
    """Scores entities against a handbook.

    The score of an entity is the best of three kinds of evidence:

    - definition: the handbook defines the entity's name (0.95), an alias or synonym of
      it (0.85), or an alias that several entities share (0.60);
    - lexical: the name stands, as a noun phrase, in one sentence (0.55), two (0.62),
      three or more (0.70); 0.10 less where only aliases are found;
    - semantic: the calibrated cosine of the nearest passage (`Semantics.scores`), 0 for
      what every passage has in common with the name, 1 for the same text.

    The verdict is STRONG, MODERATE or THIN from the configured bands on, else ABSENT.
    """

    def __init__(
        self,
        handbook: Handbook,
        model: Model,
        aliases: Mapping[str, Sequence[str]],
        config: ConsumerSection,
        models: Models,
    ) -> None:
        self.handbook = handbook
        self.model = model
        self._aliases = aliases
        self._config = config
        self._matcher = Matcher(model.entities, aliases)
        self._semantics = Semantics(handbook, models)
        self._mentions: Mentions | None = None
        self._defined = self._definitions()

    def items(self) -> list[Item]:
        """One item an entity; its key covers handbook, model, aliases and bands."""
        config = self._config.model_dump_json(exclude={"aliases"})
        shared = digest(
            self.handbook.identity,
            self.model.identity,
            str(sorted(self._aliases.items())),
            config,
        )
        return [
            Item(name=entity.name, parts=(shared, entity.model_dump_json()))
            for entity in self.model.entities
        ]

    def row(self, number: int) -> dict[str, Any]:
        """The report's row of one entity.

        Raises ProductError for a row that breaks its schema.
        """
        entity = self.model.entities[number]
        k = self._config.evidence_top_k
        nearest = self._semantics.nearest(entity.name, k)
        hits = self.mentions.of(entity.name)
        evidence = [*self._by_definition(entity), *self._by_name(entity, hits)]
        near = [(score, p) for score, p in nearest if score >= self._config.thin]
        for score, passage in near:
            whole = quoted(passage, 0, len(passage.text))
            evidence.append(
                Scored(**whole.model_dump(), kind="semantic", score=round(score, 4))
            )
        top = max(
            [one.score for one in evidence] + [s for s, _ in nearest[:1]], default=0.0
        )
        numbers = {self.handbook.passages[hit.number].node_id for hit in hits}
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
            "top_chunk_preview": clean(evidence[0].quote)[:PREVIEW] if evidence else "",
        }
        check(row, "coverage", "properties/entities/items")
        return row

    def gaps(self) -> list[Gap]:
        """The gap analysis both ways."""
        matched = [
            (
                entry.found.term,
                self._matcher.match(entry.found.term, entry.found.synonyms),
            )
            for entry in self.handbook.entries
        ]
        mentioned = {e.name for e in self.model.entities if self.mentions.of(e.name)}
        return gaps(self.model.entities, matched, mentioned)

    @property
    def mentions(self) -> Mentions:
        """Every mention of the model's names; made when first needed."""
        if self._mentions is None:
            terms = [entry.found.term for entry in self.handbook.entries]
            self._mentions = Mentions(
                self.handbook.passages,
                [entity.name for entity in self.model.entities],
                self._aliases,
                terms,
            )
        return self._mentions

    def _definitions(self) -> dict[Entity, list[tuple[Entry, Match]]]:
        found: dict[Entity, list[tuple[Entry, Match]]] = {}
        for entry in self.handbook.entries:
            match = self._matcher.match(entry.found.term, entry.found.synonyms)
            also = set(match.ambiguous)
            named = [e for e in self.model.entities if also and e.label in also]
            for entity in [*([match.entity] if match.entity else []), *named]:
                found.setdefault(entity, []).append((entry, match))
        return found

    def _by_definition(self, entity: Entity) -> list[Scored]:
        return [
            Scored(
                **one.model_dump(),
                kind="definition",
                score=DEFINED[match.confidence],
                matched=entry.found.term,
            )
            for entry, match in self._defined.get(entity, [])
            for one in self.handbook.quotes(entry)
        ]

    def _by_name(self, entity: Entity, hits: Sequence[Hit]) -> list[Scored]:
        own = [hit for hit in hits if not hit.alias]
        used = sorted(own or hits, key=lambda hit: (hit.plain, hit))
        first: dict[tuple[int, int], Hit] = {}
        for hit in used:
            first.setdefault((hit.number, self.mentions.sentence(hit)[0]), hit)
        if not first:
            return []
        score = NAMED[min(len(first), len(NAMED)) - 1] - (0.0 if own else BY_ALIAS)
        return [
            Scored(
                **self._said(hit).model_dump(),
                kind="lexical",
                score=round(score, 4),
                matched=hit.alias or entity.name,
            )
            for hit in list(first.values())[: self._config.evidence_top_k]
        ]

    def _said(self, hit: Hit) -> Evidence:
        """The sentence around a mention."""
        return quoted(self.handbook.passages[hit.number], *self.mentions.sentence(hit))


def verdict(score: float, config: ConsumerSection) -> str:
    """The band of a score."""
    bands = (
        (config.strong, "STRONG"),
        (config.moderate, "MODERATE"),
        (config.thin, "THIN"),
    )
    return next((name for least, name in bands if score >= least), "ABSENT")


def summary(rows: Sequence[Mapping[str, Any]], found: Sequence[Gap]) -> dict[str, Any]:
    """Counts by verdict and by gap status, and the two shares to watch."""
    verdicts = Counter(row["verdict"] for row in rows)
    statuses = Counter(gap.status for gap in found)
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
