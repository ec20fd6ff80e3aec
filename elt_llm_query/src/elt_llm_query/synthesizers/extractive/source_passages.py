"""Read a retrieved node as a passage of the answering rules."""

from collections.abc import Mapping
from typing import Any

from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.document import BlockKind
from elt_llm_core.provenance import RuleSpan
from elt_llm_query.analysis.rule_reference import GOES_ON_KEY
from elt_llm_query.grounding.labels import label_of
from elt_llm_query.retrieval.unit_vectors import Vector
from elt_llm_query.synthesizers.extractive.candidates import Passage, PlacedCell
from elt_llm_query.synthesizers.extractive.lead_ins import BELOW_KEY

# Kinds of chunks that are quoted as one piece, with their names.
_WHOLE_KINDS = {
    "table_row": "table row",
    "fact_sheet": "entity fact sheet",
    "relationship": "relationship related",
}
RELATIONSHIP = BlockKind.RELATIONSHIP.value
_SHEETS = frozenset([BlockKind.FACT_SHEET.value, RELATIONSHIP])


def to_passage(node: Any, number: int, vector: Vector | None = None) -> Passage:
    """Return a node as a passage; `number` labels a node without a label."""
    place = provenance.read(node)
    text = node.text if isinstance(node, TextNode) else node.get_content()
    heading = ", ".join(p for p in (place.document, place.section) if p)
    return Passage(
        label=label_of(node) or f"S{number}",
        node_id=node.node_id,
        text=text,
        heading=heading,
        section=place.section or "",
        reading=place.index_text if place.index_text != text else "",
        whole=place.kind in _WHOLE_KINDS,
        about=_WHOLE_KINDS.get(place.kind, ""),
        sheet=place.kind in _SHEETS,
        cells=tuple(
            PlacedCell(c.start - place.span_start, c.end - place.span_start, c.header)
            for c in place.cells
        ),
        rules=tuple(_inside(s, place.span_start) for s in place.rule_spans),
        goes_on=bool(node.metadata.get(GOES_ON_KEY)),
        language=place.text_language,
        below=bool(node.metadata.get(BELOW_KEY)),
        place=(f"{place.collection} {place.document_id}", place.ordinal)
        if place.document_id
        else None,
        vector=vector,
        origin=(place.collection, place.document_id, place.ordinal),
        span_start=place.span_start,
        ends=_ends(node.metadata) if place.kind == RELATIONSHIP else None,
    )


def _ends(metadata: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the names of the ends of a relation, if its chunk has them."""
    source, target = metadata.get("source"), metadata.get("target")
    return (source, target) if source and target else None


def _inside(span: RuleSpan, start: int) -> RuleSpan:
    """Return the span relative to the text of a passage that begins at `start`."""
    moved = {"start": max(span.start - start, 0), "end": max(span.end - start, 0)}
    return span.model_copy(update=moved)
