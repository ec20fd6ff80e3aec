"""Items under review that the tests make."""

from pathlib import Path

from elt_llm_core.reviews.review_records import (
    Proposal,
    ReviewChange,
    ReviewStatus,
    evidence_digest,
    make_item_id,
)
from elt_llm_core.store import Store
from elt_llm_core.testing import HashEmbedding

PRODUCT = "glossary:rules"


def open_store(root: Path) -> Store:
    """A data root with a database."""
    made = Store(root)
    with made.writer() as writer:
        writer.ensure_collection("rules", HashEmbedding(), "blocks")
    return made


def proposal(
    term: str, definition: str, *, document: str = "a.pdf", synonyms: str = ""
) -> Proposal:
    """What a run generates for a term."""
    fields = {"term": term, "definition": definition, "synonyms": synonyms}
    return Proposal(
        item_id=make_item_id("glossary", term.casefold(), document),
        label=term,
        fields=fields,
        evidence=evidence_digest(fields),
        content={"document": document, "page": 3, "section": "1 - ALL"},
    )


def id_of(term: str, document: str = "a.pdf") -> str:
    """The id of a term of a document."""
    return make_item_id("glossary", term.casefold(), document)


def decided(
    store: Store, term: str, status: str | None = None, by: str = "ann", **more: object
) -> None:
    """Record a decision on a term."""
    change = ReviewChange(
        item_id=id_of(term), status=ReviewStatus(status) if status else None, **more
    )
    store.reviews.change(PRODUCT, [change], by)
