"""A model drafted from documents alone: entities and relations with quotes.

The entities are the terms that the documents define; their relations are those that
sentences and definitions state. Each has its quote. The draft is also written in the
exchange format of ArchiMate and can be ingested as a model.
"""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

import yaml
from typing_extensions import override

from elt_llm_consumer.batch import WorkItem, run_items
from elt_llm_consumer.catalog_files import draw_mermaid, list_places, name_place
from elt_llm_consumer.catalog_relations import TEXT_SOURCE
from elt_llm_consumer.context_fields import collect_context
from elt_llm_consumer.corpus import Evidence, GlossaryEntry, Handbook
from elt_llm_consumer.definitions.definition_records import DefinitionSource
from elt_llm_consumer.definitions.term_relations import find_genus, relate_terms
from elt_llm_consumer.definitions.terms import clean, fold, fold_word
from elt_llm_consumer.exchange.archimate_file import ArchimateEntry, write_exchange
from elt_llm_consumer.linking.mentions import MentionIndex
from elt_llm_consumer.linking.similarity import SemanticIndex
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
from elt_llm_consumer.stated_relations import find_stated_relations
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import JobContext, JobReport
from elt_llm_core.strategy import Models

KIND_OF = "is a kind of"
OTHER = "data_entity"
ARCHIMATE_TYPES = {
    "role": "BusinessRole",
    "organisation": "BusinessActor",
    "document": "BusinessObject",
    "event": "BusinessEvent",
    "rule": "Requirement",
    "process": "BusinessProcess",
    OTHER: "BusinessObject",
}
ENTITY_COLUMNS = (
    *("name", "category", "definition", "synonyms", "broader", "governance_rules"),
    *("mentions", "section", "archimate_type", "evidence"),
)
RELATION_COLUMNS = (
    *("source", "relationship_type", "target", "cardinality", "origin", "evidence"),
)


class ModelDraftJob(ProductJob):
    """Options of the draft. It reads documents only; `model` is not used."""

    kind: ClassVar[str] = "model_draft"

    @override
    def make(self, context: JobContext, models: Models) -> JobReport:
        reader = open_reader(models, context, fresh=self.fresh)
        handbook = self.open_handbook(context, reader)
        draft = ModelDraft(handbook, models)
        count = len(draft.names)
        if reader is not None and reader.ended_early is not None:
            return reader.ended_early.early_report("model_draft")
        context.progress("definitions", count, count)
        batch = run_items(
            context, "model_draft", draft.items(), draft.entity, fresh=self.fresh
        )
        if batch.stopped:
            return batch.early_report("model_draft")
        relations, invalid = split_valid(
            draft.relations(), "model_draft", "properties/relationships/items"
        )
        report = JobReport(
            job="model_draft",
            counts=batch.counts_with(
                entities=len(batch.successes),
                relationships=len(relations),
                invalid=len(invalid),
            ),
            degradations=(*unread_passages(reader), *batch.degradations, *invalid),
            items=batch.failures,
        )
        path = self.output or default_path(
            context.store.data_dir, "model", self.collections
        )
        files = draft_files(path.with_suffix(".json"), batch.successes, relations)
        return publish_files(context, report, files)


class ModelDraft:
    """The entities and relations of documents.

    Args:
        handbook: The documents.
        models: Its embedder orders the sentences of an entity.
    """

    def __init__(self, handbook: Handbook, models: Models) -> None:
        self._handbook = handbook
        self._semantics = SemanticIndex(handbook, models)
        self._entries: dict[str, GlossaryEntry] = {}
        for entry in handbook.entries:
            self._entries.setdefault(fold(entity_name(entry)), entry)
        self.names = [entity_name(entry) for entry in self._entries.values()]

    def items(self) -> list[WorkItem]:
        """Return an item for each entity, in the order of their names."""
        shared = digest(self._handbook.identity)
        return [WorkItem(name=name, parts=(shared, name)) for name in self.names]

    def entity(self, number: int) -> dict[str, Any]:
        """Return one entity as a row. Raises ProductError if it breaks its schema."""
        name = self.names[number]
        entry = self._entries[fold(name)]
        definition = entry.definition
        mentions = self._mentions.of(name)
        context = collect_context(
            name, mentions, self._handbook, self._mentions, self._semantics
        )
        rules = context["governance_rules"]
        category = self._category(name)
        spelt_out = definition.source is DefinitionSource.ACRONYM
        row = {
            "name": name,
            "category": category,
            "archimate_type": ARCHIMATE_TYPES[category],
            "synonyms": list(self._aliases[name]),
            "definition": "" if spelt_out else clean(definition.definition),
            "broader": sorted(self._broader.get(name, ())),
            "governance_rules": _dump(rules),
            "mentions": len(mentions),
            "section": definition.section,
            "evidence": _dump(self._handbook.quotes(entry)),
        }
        checked: dict[str, Any] = check_schema(
            row, "model_draft", "properties/entities/items"
        )
        return checked

    def relations(self) -> list[dict[str, Any]]:
        """Return the relations that sentences state, then "is a kind of" relations."""
        rows = [
            _relation_row(
                one.source, one.target, one.verb, "stated", _dump([one.evidence])
            )
            | {"cardinality": one.cardinality}
            for one in find_stated_relations(self.names, self._handbook, self._mentions)
        ]
        for name, kinds in sorted(self._broader.items()):
            quotes = _dump(self._handbook.quotes(self._entries[fold(name)]))
            rows += [
                _relation_row(name, kind, KIND_OF, "definition", quotes)
                for kind in sorted(kinds)
            ]
        return rows

    def _category(self, name: str) -> str:
        """Return the category of an entity, or of its first broader entity with one."""
        names = [name, *sorted(self._broader.get(name, ()))]
        categories = (
            find_category(one, self._entries[fold(one)].definition.definition)
            for one in names
        )
        return next((one for one in categories if one != OTHER), OTHER)

    @cached_property
    def _aliases(self) -> dict[str, list[str]]:
        """Return entities with their other names."""
        aliases = {}
        for name in self.names:
            definition = self._entries[fold(name)].definition
            others = {fold(one): one for one in (definition.term, *definition.synonyms)}
            others.pop(fold(name), None)
            aliases[name] = sorted(others.values())
        return aliases

    @cached_property
    def _mentions(self) -> MentionIndex:
        terms = [entry.term for entry in self._handbook.entries]
        return MentionIndex(self._handbook.passages, self.names, self._aliases, terms)

    @cached_property
    def _broader(self) -> dict[str, set[str]]:
        """Return entities with their broader entities."""
        entries = list(self._entries.values())
        broader: dict[str, set[str]] = {}
        related = relate_terms([entry.definition for entry in entries])
        names = {
            fold(e.term): name for e, name in zip(entries, self.names, strict=True)
        }
        for name, one in zip(self.names, related, strict=True):
            kinds = {names[fold(term)] for term in one.broader if fold(term) in names}
            if kinds - {name}:
                broader[name] = kinds - {name}
        return broader


def entity_name(entry: GlossaryEntry) -> str:
    """Return the term of an entry; for a short form, the long form."""
    definition = entry.definition
    if definition.source is DefinitionSource.ACRONYM:
        return clean(definition.definition)
    return definition.term


def find_category(name: str, definition: str) -> str:
    """Return the category of an entity, a key of `ARCHIMATE_TYPES`.

    Args:
        name: Its name; "Estates Board" is an organisation by its last word.
        definition: Its definition; "a person who …" is a role.
    """
    for phrase in (find_genus(definition), name):
        words = phrase.split()
        last = fold_word(words[-1]) if words else ""
        if last in _categories():
            return _categories()[last]
    return OTHER


@cache
def _categories() -> Mapping[str, str]:
    """Return folded words with the categories that they name."""
    content = files("elt_llm_consumer").joinpath("entity_categories.yaml")
    lists = yaml.safe_load(content.read_text("utf-8"))
    return {fold_word(word): name for name, words in lists.items() for word in words}


def draft_files(
    path: Path,
    entities: Sequence[Mapping[str, Any]],
    relations: Sequence[Mapping[str, Any]],
) -> dict[str, tuple[Path, str | bytes]]:
    """Return names with paths and contents of all files, for `publish_files`.

    Args:
        path: The JSON file; the others are written next to it.
        entities: Rows of `ModelDraft.entity`.
        relations: Rows of `ModelDraft.relations`.

    Raises:
        ProductError: If the content violates its schema.
    """

    def beside(ending: str) -> Path:
        return path.with_name(f"{path.stem}{ending}")

    content = {"entities": list(entities), "relationships": list(relations)}
    plain = [
        {
            **row,
            "governance_rules": [
                clean(one["quote"]) for one in row["governance_rules"]
            ],
            "evidence": list_places(row["evidence"]),
        }
        for row in entities
    ]
    stated = [
        {
            **row,
            "evidence": [
                f"{clean(one['quote'])} ({name_place(one)})" for one in row["evidence"]
            ],
        }
        for row in relations
    ]
    return {
        "model_json": (path, json_text(content, "model_draft")),
        "entities_csv": (beside("_entities.csv"), dump_csv(ENTITY_COLUMNS, plain)),
        "relationships_csv": (
            beside("_relationships.csv"),
            dump_csv(RELATION_COLUMNS, stated),
        ),
        "model_archimate": (
            beside(".xml"),
            to_archimate(path.stem, entities, relations),
        ),
        "model_mermaid": (beside(".mmd"), _draw(relations)),
    }


def to_archimate(
    name: str,
    entities: Sequence[Mapping[str, Any]],
    relations: Sequence[Mapping[str, Any]],
) -> str:
    """Return a draft as an ArchiMate exchange file.

    Args:
        name: The name of the model.
        entities: Rows of `ModelDraft.entity`.
        relations: Rows of `ModelDraft.relations`.
    """
    ids = {row["name"]: f"id-element-{n}" for n, row in enumerate(entities, 1)}
    types = {row["name"]: row["archimate_type"] for row in entities}
    elements = [
        ArchimateEntry(
            identifier=ids[row["name"]],
            type=row["archimate_type"],
            name=row["name"],
            documentation=row["definition"],
            properties={
                "category": row["category"],
                "synonyms": "; ".join(row["synonyms"]),
                "source": "; ".join(list_places(row["evidence"])),
            },
        )
        for row in entities
    ]
    drawn = [
        ArchimateEntry(
            identifier=f"id-relation-{number}",
            type=_archimate_relation(row, types),
            name=row["relationship_type"],
            documentation=" ".join(clean(one["quote"]) for one in row["evidence"]),
            properties={
                "cardinality": row["cardinality"],
                "source": "; ".join(list_places(row["evidence"])),
            },
            source=ids[row["source"]],
            target=ids[row["target"]],
        )
        for number, row in enumerate(relations, 1)
        if row["source"] in ids and row["target"] in ids
    ]
    return write_exchange(name, elements, drawn)


def _archimate_relation(row: Mapping[str, Any], types: Mapping[str, str]) -> str:
    """Return the relation: specialisation needs equal types, association does not."""
    is_same = types[row["source"]] == types[row["target"]]
    special = row["relationship_type"] == KIND_OF and is_same
    return "Specialization" if special else "Association"


def _draw(relations: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        {
            "entity_a": row["source"],
            "entity_b": row["target"],
            "relationship_type": row["relationship_type"],
            "cardinality": row["cardinality"],
            "source": TEXT_SOURCE,
        }
        for row in relations
    ]
    return draw_mermaid({}, rows)


def _relation_row(
    source: str, target: str, verb: str, origin: str, quotes: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "source": source,
        "target": target,
        "relationship_type": verb,
        "cardinality": "",
        "origin": origin,
        "evidence": quotes,
    }


def _dump(quotes: Sequence[Evidence]) -> list[dict[str, Any]]:
    return [one.model_dump(mode="json") for one in quotes]
