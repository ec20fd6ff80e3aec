"""SKOS as Turtle: the one format that several catalogues read, with the evidence.

A term is a `skos:Concept`; its parent is `skos:broader`. The quote that defines it is a
web annotation target: `prov:wasQuotedFrom` names the document, selectors the quote, its
characters, its page and its boxes. Relations that SKOS lacks come from ISO 25964
(https://purl.org/iso25964/skos-thes); the rest is in our own vocabulary.
https://www.w3.org/TR/skos-reference/, https://www.w3.org/TR/annotation-model/
"""

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar
from urllib.parse import quote

from pydantic import Field
from rdflib import RDF, RDFS, Graph, Literal, Namespace, URIRef
from rdflib.namespace import DCTERMS, PROV, SDO, SKOS
from typing_extensions import override

from elt_llm_consumer.exchange.formats.skos_reading import SkosReader
from elt_llm_consumer.exchange.glossary_format import (
    GlossaryFormat,
    TargetRules,
    TermChecker,
    check_labels,
)
from elt_llm_consumer.exchange.glossary_terms import (
    Glossary,
    Path,
    RelationKind,
    Term,
    TermEvidence,
    TermRelation,
    join_ends,
)
from elt_llm_consumer.exchange.skos_vocabulary import (
    ELT,
    ISO_THES,
    OA,
    PDF_FRAGMENTS,
    RELATIONS,
    SYMMETRIC,
    TEXTS,
    WORDS,
)
from elt_llm_core.errors import ConfigError, ExchangeError
from elt_llm_core.product_exports import Problem

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*")
_COLUMNS = {
    "name": "skos:prefLabel",
    "synonyms": "skos:altLabel",
    "acronyms": "skos:altLabel",
    "definition": "skos:definition",
    "parent": "skos:broader",
    "relations": "skos:related",
}


class SkosTurtle(GlossaryFormat):
    """A SKOS concept scheme in Turtle."""

    base_iri: str = Field(
        default="urn:elt-llm:glossary:",
        description="prefix of the IRIs of the scheme and its concepts",
    )
    language: str = Field(
        default="",
        pattern=r"^([a-z]{2,3}(-[A-Za-z0-9]{2,8})*)?$",
        description="language tag of labels and texts, such as en",
    )

    title: ClassVar[str] = "SKOS Turtle"
    ending: ClassVar[str] = ".ttl"
    holds: ClassVar[frozenset[str]] = frozenset(Term.model_fields)
    two_way: ClassVar[frozenset[RelationKind]] = SYMMETRIC

    @override
    def write(self, glossary: Glossary) -> bytes:
        if not _IRI.fullmatch(self.base_iri):
            raise ConfigError(
                f"base_iri {self.base_iri!r} is not an IRI",
                "write it like https://example.org/glossary/",
            )
        return _Writer(glossary, self.base_iri, self.language).turtle()

    @override
    def read(self, content: bytes) -> Glossary:
        read = SkosReader(_parse(content), self.language).glossary()
        return join_ends(read, self.two_way)

    @override
    def check(self, content: bytes) -> list[Problem]:
        graph = _parse(content)
        reader = SkosReader(graph, self.language)
        checker = TermChecker(TargetRules(), _COLUMNS)
        terms = reader.glossary().terms
        # A vocabulary should not give one label to two concepts (SKOS Primer, 2.2.1).
        return [
            *reader.problems(),
            *checker.problems(terms),
            *check_labels(terms, _COLUMNS),
        ]


def _parse(content: bytes) -> Graph:
    graph = Graph()
    try:
        graph.parse(data=content.decode("utf-8-sig"), format="turtle")
    except Exception as error:  # rdflib does not wrap the errors of its parser
        reason = " ".join(str(error).split())[:200]
        raise ExchangeError(
            f"the file is not Turtle: {reason}", "export it again as Turtle (.ttl)"
        ) from error
    return graph


class _Writer:
    """Builds the triples of a glossary."""

    def __init__(self, glossary: Glossary, base: str, language: str) -> None:
        self._glossary = glossary
        self._paths = {term.path for term in glossary.terms}
        self._language = language or None
        self._scheme = URIRef(base + quote(glossary.name, safe=""))
        self._graph = Graph(bind_namespaces="none")

    def turtle(self) -> bytes:
        """Return the file; rdflib sorts subjects, predicates and objects."""
        for prefix, namespace in _PREFIXES.items():
            self._graph.bind(prefix, namespace)
        scheme = self._scheme
        self._add(scheme, RDF.type, SKOS.ConceptScheme)
        self._add(scheme, SKOS.prefLabel, self._words(self._glossary.name))
        if self._glossary.description:
            words = self._words(self._glossary.description)
            self._add(scheme, DCTERMS.description, words)
        for term in self._glossary.terms:
            self._add_term(term)
        return self._graph.serialize(format="turtle", encoding="utf-8")

    def _add(self, subject: URIRef, predicate: URIRef, value: URIRef | Literal) -> None:
        self._graph.add((subject, predicate, value))

    def _words(self, text: str) -> Literal:
        return Literal(text, lang=self._language)

    def _iri(self, path: Path) -> URIRef:
        return URIRef("/".join([self._scheme, *(quote(p, safe="") for p in path)]))

    def _add_term(self, term: Term) -> None:
        iri = self._iri(term.path)
        self._add(iri, RDF.type, SKOS.Concept)
        self._add(iri, SKOS.inScheme, self._scheme)
        self._add(iri, SKOS.prefLabel, self._words(term.name))
        self._add_place(iri, term)
        for field, predicate in WORDS.items():
            for text in _values(term, field):
                self._add(iri, predicate, self._words(text))
        for field, predicate in TEXTS.items():
            for text in _values(term, field):
                self._add(iri, predicate, Literal(text))
        for short in term.acronyms:
            self._add(iri, SKOS.altLabel, self._words(short))
        for relation in term.relations:
            self._add_relation(term.path, relation)
        self._add_parts(iri, term)
        for number, evidence in enumerate(term.evidence, start=1):
            self._add_evidence(iri, URIRef(f"{iri}#evidence-{number}"), evidence)

    def _add_relation(self, path: Path, relation: TermRelation) -> None:
        first, second = self._iri(path), self._iri(relation.target)
        predicate = RELATIONS[relation.kind]
        self._add(first, predicate, second)
        if relation.kind in SYMMETRIC and relation.target in self._paths:
            self._add(second, predicate, first)

    def _add_place(self, iri: URIRef, term: Term) -> None:
        if term.parent:
            self._add(iri, SKOS.broader, self._iri(term.parent))
            self._add(self._iri(term.parent), SKOS.narrower, iri)
        else:
            self._add(iri, SKOS.topConceptOf, self._scheme)
            self._add(self._scheme, SKOS.hasTopConcept, iri)

    def _add_parts(self, iri: URIRef, term: Term) -> None:
        for number, link in enumerate(term.resources, start=1):
            part = URIRef(f"{iri}#link-{number}")
            self._add(iri, RDFS.seeAlso, part)
            self._add(part, SDO.url, Literal(link.url))
            if link.label:
                self._add(part, DCTERMS.title, Literal(link.label))
        for number, (name, text) in enumerate(term.attributes.items(), start=1):
            part = URIRef(f"{iri}#attribute-{number}")
            self._add(iri, SDO.additionalProperty, part)
            self._add(part, RDF.type, SDO.PropertyValue)
            self._add(part, SDO.name, Literal(name))
            self._add(part, SDO.value, Literal(text))

    def _add_evidence(self, term: URIRef, iri: URIRef, evidence: TermEvidence) -> None:
        self._add(term, DCTERMS.source, iri)
        self._add(iri, RDF.type, OA.SpecificResource)
        if evidence.document_id:
            document = URIRef(ELT_DOCUMENT + quote(evidence.document_id, safe=""))
            self._add(iri, PROV.wasQuotedFrom, document)
        named = {
            DCTERMS.title: evidence.document,
            ELT.section: evidence.section,
            ELT.collection: evidence.collection,
            ELT.support: evidence.support,
        }
        for predicate, text in named.items():
            if text:
                self._add(iri, predicate, Literal(text))
        for name, kind, values in _selectors(evidence):
            selector = URIRef(f"{iri}-{name}")
            self._add(iri, OA.hasSelector, selector)
            self._add(selector, RDF.type, kind)
            for predicate, value in values.items():
                self._add(selector, predicate, value)


def _values(term: Term, field: str) -> list[str]:
    """Return the texts of a field; empty if the field is."""
    value = getattr(term, field)
    texts = [value] if isinstance(value, str) else value
    return [str(text) for text in texts if text]


ELT_DOCUMENT = "urn:elt-llm:document:"
_PREFIXES: Mapping[str, Namespace] = {
    "dcterms": Namespace(str(DCTERMS)),
    "elt": ELT,
    "iso-thes": ISO_THES,
    "oa": OA,
    "prov": Namespace(str(PROV)),
    "rdf": Namespace(str(RDF)),
    "rdfs": Namespace(str(RDFS)),
    "schema": Namespace(str(SDO)),
    "skos": Namespace(str(SKOS)),
}
_Selector = tuple[str, URIRef, dict[URIRef, URIRef | Literal]]


def _selectors(evidence: TermEvidence) -> Iterator[_Selector]:
    """Return name, class and values of each selector of an evidence."""
    if evidence.quote:
        yield "quote", OA.TextQuoteSelector, {OA.exact: Literal(evidence.quote)}
    if evidence.end:
        span = {OA.start: Literal(evidence.start), OA.end: Literal(evidence.end)}
        yield "span", OA.TextPositionSelector, {**span}
    fragments = [f"page={evidence.page}"] if evidence.page else []
    for box in evidence.boxes:
        width, height = box.right - box.left, box.bottom - box.top
        corner = ",".join(f"{100 * x:.4f}" for x in (box.left, box.top, width, height))
        fragments.append(f"page={box.page}&xywh=percent:{corner}")
    for number, fragment in enumerate(fragments, start=1):
        yield (
            f"fragment-{number}",
            OA.FragmentSelector,
            {RDF.value: Literal(fragment), DCTERMS.conformsTo: PDF_FRAGMENTS},
        )
