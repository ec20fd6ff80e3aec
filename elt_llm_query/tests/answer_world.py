"""Passages and sources without a store, their answers and the checks of these."""

from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from elt_llm_core import provenance
from elt_llm_core.provenance import Provenance
from elt_llm_core.results import Box, Source, Span
from elt_llm_query.grounding.citations import cite_answer
from elt_llm_query.grounding.labels import LabelSources
from elt_llm_query.grounding.sources import Offered, QuotePlace
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveSynthesizer


def node(text, **fields):
    place = {"document": "Rules", "section": "Loans", "kind": "prose", **fields}
    made = provenance.write(
        TextNode(text=text), Provenance(span_start=0, span_end=len(text), **place)
    )
    return NodeWithScore(node=made, score=1.0)


def respond(question, *nodes, embedder=None):
    labelled = LabelSources().postprocess_nodes(list(nodes))
    return ExtractiveSynthesizer(embedder).synthesize(QueryBundle(question), labelled)


FEES = (
    "The fee for an overdue book is 20 cents per day. It must not exceed 10 euros. "
    "Lost books are paid for in full."
)


LOANS = "A reader may borrow up to eight books. The loan period of a book is 21 days."


BOX = Box(page=4, left=0, top=0, right=1, bottom=1)


def offer(label, text, reading=""):
    source = Source(
        label=label,
        node_id=f"n-{label}",
        document_id="d",
        collection="c",
        document="Rules",
        section="Fees",
        text=text,
        score=1.0,
        span=Span(start=100, end=100 + len(text), page=3),
        pages=(3, 4),
    )
    return Offered(source, reading)


SOURCES = (offer("S1", FEES), offer("S2", LOANS))


def locate(found, start, end):
    return QuotePlace(4, (BOX,))


def cite(answer, policy="strict", sources=SOURCES):
    return cite_answer(answer, sources, locate, policy)
