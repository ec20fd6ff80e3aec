"""What a model wrote about a picture is never quoted as a document's word."""

from llama_index.core.schema import NodeWithScore, TextNode

from elt_llm_core.provenance import Provenance, write
from elt_llm_query.grounding.sources import quotable_nodes
from elt_llm_query.trace import TraceLog


def node(text: str, *, generated: bool) -> NodeWithScore:
    place = Provenance(
        document="Fees",
        page=3,
        kind="prose",
        span_start=0,
        span_end=len(text),
        generated=generated or None,
    )
    return NodeWithScore(node=write(TextNode(text=text), place), score=1.0)


def test_a_description_of_a_picture_is_no_evidence():
    log = TraceLog()
    said = node("A berth costs 600 pounds.", generated=False)
    described = node("A photo of a berth.", generated=True)
    assert quotable_nodes([described, said], log) == [said]
    (told,) = log.degradations
    assert told.detail == (
        "Fees, p. 3: a model's description of a picture, which is never quoted"
    )
