"""Reads SKOS of any origin: labels in one language, hierarchies stated either way."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from rdflib import RDF, RDFS, Graph, Literal, URIRef
from rdflib.namespace import DCTERMS, PROV, SDO, SKOS
from rdflib.term import Node

from elt_llm_consumer.exchange.glossary_format import shorten
from elt_llm_consumer.exchange.glossary_terms import (
    DefinitionKind,
    Glossary,
    Path,
    RelationKind,
    Resource,
    Term,
    TermEvidence,
    TermRelation,
    TermStatus,
)
from elt_llm_consumer.exchange.skos_vocabulary import ELT, OA, RELATIONS, TEXTS, WORDS
from elt_llm_core.errors import ExchangeError
from elt_llm_core.product_exports import Problem
from elt_llm_core.results import Box

_PAGE = re.compile(
    r"page=(\d+)(?:&xywh=percent:([-\d.]+),([-\d.]+),([-\d.]+),([-\d.]+))?"
)
_SINGLE = frozenset({"definition", "note", "definition_kind", "status"})
_PLACES = 6


class SkosReader:
    """Reads the terms of a graph.

    Args:
        graph: The triples of a file.
        language: The language to prefer among labels; "" prefers those without one.
    """

    def __init__(self, graph: Graph, language: str) -> None:
        self._graph = graph
        self._language = language

    @cached_property
    def concepts(self) -> list[Node]:
        """Return every concept, sorted."""
        concepts = sorted(set(self._graph.subjects(RDF.type, SKOS.Concept)), key=str)
        if not concepts:
            raise ExchangeError(
                "the file has no skos:Concept", "export a SKOS vocabulary"
            )
        return concepts

    def glossary(self) -> Glossary:
        """Return the terms, and the name of the first scheme."""
        schemes = sorted(
            set(self._graph.subjects(RDF.type, SKOS.ConceptScheme)), key=str
        )
        name = description = ""
        if schemes:
            name = self._label(schemes[0]) or self._one(schemes[0], DCTERMS.title)
            description = self._one(schemes[0], DCTERMS.description)
        terms = tuple(self._term(concept) for concept in self.concepts)
        return Glossary(name=name, description=description, terms=terms)

    def problems(self) -> list[Problem]:
        """Return violations of SKOS: no label, two in one language, cycles."""
        problems = []
        for entry, concept in enumerate(self.concepts):
            for rule, value, cure in self._faults(concept):
                problems.append(
                    Problem(
                        row=entry + 1,
                        entry=entry,
                        column="skos:prefLabel" if "label" in rule else "skos:broader",
                        value=shorten(value),
                        rule=rule,
                        cure=cure,
                    )
                )
        return problems

    def _faults(self, concept: Node) -> list[tuple[str, str, str]]:
        faults = []
        labels = list(self._graph.objects(concept, SKOS.prefLabel))
        languages = [getattr(label, "language", None) for label in labels]
        if not labels:
            faults.append(("has no label", str(concept), "add a skos:prefLabel"))
        if len(languages) > len(set(languages)):
            cure = "keep one per language and make the others skos:altLabel"
            faults.append(("has two labels in a language", str(concept), cure))
        if concept in self._above(concept):
            cure = "remove one skos:broader of the cycle"
            faults.append(("is its own ancestor", str(concept), cure))
        return faults

    def _above(self, concept: Node) -> set[Node]:
        """Return every concept above one."""
        above: set[Node] = set()
        waiting = self._broader.get(concept, [])
        while waiting:
            above.update(waiting)
            waiting = [
                higher
                for one in waiting
                for higher in self._broader.get(one, [])
                if higher not in above
            ]
        return above

    @cached_property
    def _broader(self) -> dict[Node, list[Node]]:
        """Return concepts with those directly above them, whichever end states it."""
        pairs = set(self._graph.subject_objects(SKOS.broader))
        pairs |= {(low, top) for top, low in self._graph.subject_objects(SKOS.narrower)}
        broader: dict[Node, list[Node]] = {}
        for low, top in sorted(pairs, key=lambda pair: (str(pair[0]), str(pair[1]))):
            broader.setdefault(low, []).append(top)
        return broader

    def _path(self, concept: Node) -> Path:
        """Return the names from the top, stopping at a cycle."""
        chain = [concept]
        above = self._broader.get(concept, [])
        while above and above[0] not in chain:
            chain.append(above[0])
            above = self._broader.get(above[0], [])
        names = [self._label(one) or _last_part(one) for one in chain]
        return tuple(reversed(names))

    def _term(self, concept: Node) -> Term:
        path = self._path(concept)
        fields: dict[str, Any] = {"name": path[-1], "parent": path[:-1]}
        for field, predicate in {**WORDS, **TEXTS}.items():
            texts = self._texts(concept, predicate)
            fields[field] = "".join(texts[:1]) if field in _SINGLE else tuple(texts)
        more = self._texts(concept, SKOS.definition)[1:]
        fields["other_definitions"] += tuple(more)
        fields["synonyms"] += tuple(self._texts(concept, SKOS.hiddenLabel))
        for field, known in (
            ("status", TermStatus),
            ("definition_kind", DefinitionKind),
        ):
            if fields[field] not in list(known):
                del fields[field]
        parts = self._graph.objects(concept, SDO.additionalProperty)
        fields["attributes"] = {
            self._one(part, SDO.name): self._one(part, SDO.value) for part in parts
        }
        return Term(
            **fields,
            relations=tuple(self._relations(concept)),
            resources=tuple(self._links(concept)),
            evidence=tuple(self._evidence(concept)),
        )

    def _relations(self, concept: Node) -> Iterable[TermRelation]:
        for kind, predicate in RELATIONS.items():
            for target in self._graph.objects(concept, predicate):
                yield TermRelation(kind=kind, target=self._path(target))
        for target in self._broader.get(concept, [])[1:]:
            yield TermRelation(kind=RelationKind.BROADER, target=self._path(target))

    def _links(self, concept: Node) -> Iterable[Resource]:
        for link in self._graph.objects(concept, RDFS.seeAlso):
            url = self._one(link, SDO.url) or str(link)
            yield Resource(label=self._one(link, DCTERMS.title), url=url)

    def _evidence(self, concept: Node) -> Iterable[TermEvidence]:
        for source in self._graph.objects(concept, DCTERMS.source):
            selectors = sorted(self._graph.objects(source, OA.hasSelector), key=str)
            if not selectors:
                continue  # a source with a name only
            yield self._quote(source, selectors)

    def _quote(self, source: Node, selectors: list[Node]) -> TermEvidence:
        first = {
            name: next(iter(texts), "")
            for name, texts in (
                (name, [t for s in selectors for t in self._texts(s, predicate)])
                for name, predicate in _SELECTED.items()
            )
        }
        places = [t for s in selectors for t in self._texts(s, RDF.value)]
        pages, boxes = _places(places)
        document = next(self._graph.objects(source, PROV.wasQuotedFrom), None)
        return TermEvidence(
            quote=first["quote"],
            document=self._one(source, DCTERMS.title),
            document_id=_last_part(document) if document else "",
            collection=self._one(source, ELT.collection),
            section=self._one(source, ELT.section),
            page=pages[0] if pages else None,
            start=int(first["start"] or 0),
            end=int(first["end"] or 0),
            support=self._one(source, ELT.support),
            boxes=tuple(boxes),
        )

    def _label(self, subject: Node) -> str:
        return self._one(subject, SKOS.prefLabel) or self._one(subject, RDFS.label)

    def _one(self, subject: Node, predicate: URIRef) -> str:
        return "".join(self._texts(subject, predicate)[:1])

    def _texts(self, subject: Node, predicate: URIRef) -> list[str]:
        """Return the literals in the best language, sorted.

        That is the preferred language, else no language, else the first by name.
        """
        values = [
            value
            for value in self._graph.objects(subject, predicate)
            if isinstance(value, Literal)
        ]
        languages = {value.language or "" for value in values}
        if not languages:
            return []
        best = next(
            (one for one in (self._language, "") if one in languages), min(languages)
        )
        return sorted(str(v) for v in values if (v.language or "") == best)


_SELECTED = {"quote": OA.exact, "start": OA.start, "end": OA.end}


def _last_part(iri: Node) -> str:
    """Return the last part of an IRI, the name of a concept without a label."""
    return unquote(re.split(r"[/#:]", str(iri))[-1])


def _places(fragments: Iterable[str]) -> tuple[list[int], list[Box]]:
    """Return pages without a box, and boxes."""
    pages, boxes = [], []
    for fragment in fragments:
        match = _PAGE.fullmatch(fragment)
        if match is None:
            continue
        if match[2] is None:
            pages.append(int(match[1]))
            continue
        left, top, width, height = (float(x) / 100 for x in match.groups()[1:])
        boxes.append(
            Box(
                page=int(match[1]),
                left=round(left, _PLACES),
                top=round(top, _PLACES),
                right=round(left + width, _PLACES),
                bottom=round(top + height, _PLACES),
            )
        )
    return pages, boxes
