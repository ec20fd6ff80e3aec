"""The places of an item's quotes, with the marked page."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from shlex import join
from typing import Any
from urllib.parse import quote

from elt_llm_api.page_boxes import MAX_BOXES, format_boxes
from elt_llm_api.review_schemas import EvidenceOut
from elt_llm_api.services.stored_documents import has_page_images
from elt_llm_core.provenance import boxes_of_span, read
from elt_llm_core.results import Box
from elt_llm_core.reviews.review_records import ReviewItem
from elt_llm_core.store import Store

_KINDS = {"catalog": "catalogue", "coverage": "coverage report"}
MOST_QUOTES = 40  # of one item; the longest catalogue record of the sample has 31


def read_evidence(store: Store, item: ReviewItem) -> list[EvidenceOut]:
    """Return the quotes of an item, in the order of its row.

    Args:
        store: The data root.
        item: A generated item; a missing one has no evidence.
    """
    content = item.proposal.content if item.proposal else {}
    product = _Product(store, item.product)
    return [
        _locate(store, product, field, row)
        for field, row in list(_quotes(content))[:MOST_QUOTES]
    ]


def _quotes(content: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each quote with its field: of the row itself, or of its `evidence`."""
    if content.get("document_id"):
        text = content.get("definition", "")
        support = content.get("quote_support", "")
        yield "definition", {**content, "quote": text, "support": support}
    evidence = content.get("evidence") or {}
    by_field = evidence if isinstance(evidence, dict) else {"verdict": evidence}
    for field, rows in by_field.items():
        for row in rows:
            yield field, row


def _locate(
    store: Store, product: "_Product", field: str, row: Mapping[str, Any]
) -> EvidenceOut:
    node_id = row.get("node_id", "")
    document_id = row.get("document_id") or product.find_document(node_id)
    newer, note = "", ""
    if not document_id or store.document(document_id) is None:
        newer = product.find_newer(row.get("document", ""))
        note = (
            product.why_missing(is_newer=bool(newer))
            if document_id or node_id
            else "Where this quote is in a document is not recorded."
        )
        document_id = ""
    page = row.get("page")
    return EvidenceOut(
        field=field,
        quote=row.get("quote", ""),
        document=row.get("document", ""),
        section=row.get("section", ""),
        page=page,
        support=row.get("support", ""),
        document_id=document_id,
        newer_id=newer,
        note=note,
        image=_image(store, document_id, page, row) if document_id and page else None,
    )


class _Product:
    """What the quotes of an item need to know about its product, read once."""

    def __init__(self, store: Store, product: str) -> None:
        self._store = store
        self._kind, _, names = product.partition(":")
        self._names = names.split("+")

    @cached_property
    def _collections(self) -> list[str]:
        """Its collections that still exist."""
        known = {card.name for card in self._store.collections()}
        return [name for name in self._names if name in known]

    @cached_property
    def _documents(self) -> dict[str, str]:
        """Ids by name; the first of a name counts."""
        ids: dict[str, str] = {}
        for name in self._collections:
            for row in self._store.documents(name):
                ids.setdefault(row.name, row.document_id)
        return ids

    def find_document(self, node_id: str) -> str:
        """Return the id of the document of a chunk, or ""."""
        for name in self._collections if node_id else ():
            nodes = self._store.nodes_by_id(name, [node_id])
            if node_id in nodes:
                return read(nodes[node_id]).document_id
        return ""

    def find_newer(self, name: str) -> str:
        """Return the id of the document that has this name now, or ""."""
        return self._documents.get(name, "") if name else ""

    def why_missing(self, *, is_newer: bool) -> str:
        """Return why a quote has no place, and the command that builds it again."""
        name = _KINDS.get(self._kind, self._kind)
        what = (
            f"This {name} is older than the document, which was ingested again since"
            if is_newer
            else f"The document was removed since this {name} was built"
        )
        return f"{what}. To build it again: {self._command}"

    @cached_property
    def _command(self) -> str:
        """The command that builds the product, with the models of its newest run."""
        runs = (job.options for job in self._store.jobs.all() if job.kind == self._kind)
        same = (run for run in runs if run.get("collections") == self._names)
        models = next(same, {}).get("model") or ()
        words = ["elt-llm", self._kind]
        for option, given in (("--collection", self._names), ("--model", models)):
            words += [word for name in given for word in (option, name)]
        return join(words)


def _image(
    store: Store, document_id: str, page: int, row: Mapping[str, Any]
) -> str | None:
    if not has_page_images(store, document_id):
        return None
    boxes = [Box.model_validate(box) for box in row.get("boxes", ())]
    if not boxes and "start" in row:
        pages = store.pages(document_id, [page])
        boxes = list(boxes_of_span(pages, row["start"], row["end"]))
    marks = format_boxes([box for box in boxes if box.page == page][:MAX_BOXES])
    path = f"/v1/documents/{quote(document_id, safe='')}/pages/{page}.jpg"
    return f"{path}?scale=2&boxes={quote(marks, safe=',;')}"
