"""The vocabulary that the SKOS writer and reader share."""

from collections.abc import Mapping

from rdflib import Namespace, URIRef
from rdflib.namespace import DCTERMS, SKOS

from elt_llm_consumer.exchange.glossary_terms import RelationKind

ELT = Namespace("urn:elt-llm:vocabulary:")
ISO_THES = Namespace("http://purl.org/iso25964/skos-thes#")
OA = Namespace("http://www.w3.org/ns/oa#")
PDF_FRAGMENTS = URIRef("http://tools.ietf.org/rfc/rfc3778")

# SKOS reserves mapping relations for other schemes; within one, ISO 25964 separates
# kinds from parts. `skos:broader` is the hierarchy here, not a relation.
RELATIONS: Mapping[RelationKind, URIRef] = {
    RelationKind.RELATED: SKOS.related,
    RelationKind.SYNONYM: SKOS.exactMatch,
    RelationKind.ANTONYM: ELT.antonym,
    RelationKind.BROADER: ISO_THES.broaderGeneric,
    RelationKind.NARROWER: ISO_THES.narrowerGeneric,
    RelationKind.PART_OF: ISO_THES.broaderPartitive,
    RelationKind.HAS_PART: ISO_THES.narrowerPartitive,
    RelationKind.REPLACED_BY: DCTERMS.isReplacedBy,
}
# SKOS declares these symmetric (S23 and S44 of its reference); a reader that does not
# infer the other direction would show the relation at one term only.
SYMMETRIC = frozenset({RelationKind.RELATED, RelationKind.SYNONYM})
# Fields of a term with their predicates: texts with a language, and without.
WORDS: Mapping[str, URIRef] = {
    "definition": SKOS.definition,
    "other_definitions": ELT.otherDefinition,
    "synonyms": SKOS.altLabel,
    "examples": SKOS.example,
    "note": SKOS.scopeNote,
}
TEXTS: Mapping[str, URIRef] = {
    "acronyms": ELT.acronym,
    "definition_kind": ELT.definitionKind,
    "status": ELT.reviewStatus,
    "owners": ELT.owner,
    "stewards": ELT.steward,
    "experts": ELT.expert,
    "tags": DCTERMS.subject,
}
