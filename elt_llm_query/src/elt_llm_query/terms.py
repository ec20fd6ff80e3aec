"""Chunks that define exactly the term a question asks for, put first."""

from collections.abc import Sequence

from elt_llm_core.store import Collection
from elt_llm_query.fusions import Hit
from elt_llm_query.synthesizers.definitions import defined_inside
from elt_llm_query.synthesizers.question import defined_term
from elt_llm_query.synthesizers.sheets import is_sheet_of

DEPTH = 400  # hits that are read for a definition
MOST = 3  # that are put first
_LIFT = 0.01


def definitions_first(
    question: str,
    hits: Sequence[Hit],
    collection: Collection,
    allowed: frozenset[str] | None = None,
) -> list[Hit]:
    """The hits with those in front that define the term the question asks for.

    BM25 cannot tell "Term means ..." from "Other Term means a Term ...", and prefers
    whichever is shorter. So the best hits for the term are read, and up to three that
    define exactly it get scores above the best. Other questions keep their hits.
    `allowed` limits what is read, as it limited the hits.
    """
    term = defined_term(question)
    if not term or not hits:
        return list(hits)
    wider = [
        item
        for text in (question, f"{term} means defined definition")
        for item, _ in collection.search_keyword(text, DEPTH, allowed)
    ]
    nodes = collection.nodes(wider)
    defining = [
        item
        for item in dict.fromkeys(wider)
        if defined_inside(term, nodes[item].text)
        or (
            nodes[item].metadata.get("kind") == "fact_sheet"
            and is_sheet_of(term, nodes[item].text)
        )
    ][:MOST]
    top = hits[0][1]
    lifted = {
        item: top * (1 + _LIFT * (MOST - place)) for place, item in enumerate(defining)
    }
    rest = [hit for hit in hits if hit[0] not in lifted]
    return [*lifted.items(), *rest]
