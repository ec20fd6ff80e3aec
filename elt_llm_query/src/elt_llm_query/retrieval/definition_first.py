"""Put the chunks that define the requested term before all other hits."""

from collections.abc import Sequence
from itertools import islice

from elt_llm_core.document import BlockKind
from elt_llm_core.store import Collection
from elt_llm_query.analysis.definition import defined_inside, is_sheet_of
from elt_llm_query.retrieval.fusion import Hit

# Hits that are checked for a definition. In a glossary BM25 may rank every entry that
# mentions the term above the longer one that defines it.
DEPTH = 400
MOST = 3  # definitions to put first: a term may be defined in several documents
_LIFT = 0.01  # step above the best score, which keeps the raised hits in order


def put_definitions_first(
    term: str,
    question: str,
    hits: Sequence[Hit],
    collection: Collection,
    allowed: frozenset[str] | None = None,
    wordings: Sequence[str] = (),
) -> list[Hit]:
    """Return keyword hits, with those that define the term first.

    BM25 cannot distinguish "Term means ..." from "Other Term means a Term ..." and
    prefers the shorter one.

    Args:
        term: The requested term; an empty one leaves the hits unchanged.
        question: The question; more of its hits are checked than are in `hits`.
        hits: Ids and scores, best first.
        collection: The collection of the hits.
        allowed: Permitted ids, or None for all.
        wordings: Further forms of a definition.

    Returns:
        Up to three chunks that define exactly the term, with scores above the best,
        then the other hits.
    """
    if not term or not hits:
        return list(hits)
    wider = [
        item
        for text in (question, f"{term} means defined definition")
        for item, _ in collection.search_keyword(text, DEPTH, allowed)
    ]
    texts = collection.texts(wider)
    defining = islice(
        (
            item
            for item in dict.fromkeys(wider)
            if item in texts and _defines(term, *texts[item], wordings)
        ),
        MOST,
    )
    top = hits[0][1]
    lifted = {
        item: top * (1 + _LIFT * (MOST - place)) for place, item in enumerate(defining)
    }
    rest = [hit for hit in hits if hit[0] not in lifted]
    return [*lifted.items(), *rest]


def _defines(term: str, kind: str, text: str, wordings: Sequence[str]) -> bool:
    is_sheet = kind == BlockKind.FACT_SHEET
    return defined_inside(term, text, wordings) or (
        is_sheet and is_sheet_of(term, text)
    )
