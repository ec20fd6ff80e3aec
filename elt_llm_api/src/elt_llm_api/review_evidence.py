"""The places of an item's quotes, with the marked page."""

from collections.abc import Iterator, Mapping, Sequence
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
    collections = item.product.partition(":")[2].split("+")
    return [
        _locate(store, collections, field, row, item.product)
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
    store: Store,
    collections: Sequence[str],
    field: str,
    row: Mapping[str, Any],
    product: str,
) -> EvidenceOut:
    document_id = row.get("document_id") or _document_of(
        store, collections, row.get("node_id", "")
    )
    newer, note = "", ""
    if not document_id or store.document(document_id) is None:
        document_id = ""
        newer = _find_newer(store, collections, row.get("document", ""))
        note = _why_missing(store, product, is_newer=bool(newer))
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


def _document_of(store: Store, collections: Sequence[str], node_id: str) -> str:
    known = {card.name for card in store.collections()}
    for name in collections:
        nodes = store.nodes_by_id(name, [node_id]) if name in known else {}
        if node_id in nodes:
            return read(nodes[node_id]).document_id
    return ""


def _find_newer(store: Store, collections: Sequence[str], name: str) -> str:
    """Return the id of the document that has this name now, if there is one."""
    known = {card.name for card in store.collections()}
    rows = [row for one in collections if one in known for row in store.documents(one)]
    return next((row.document_id for row in rows if name and row.name == name), "")


def _why_missing(store: Store, product: str, *, is_newer: bool) -> str:
    """Return why a quote has no place, and the command that builds the product again.

    The command has the models of the newest run, as far as it is known.
    """
    kind, _, names = product.partition(":")
    collections = names.split("+")
    runs = (job.options for job in store.jobs.all() if job.kind == kind)
    same = (run for run in runs if run.get("collections") == collections)
    models = next(same, {}).get("model") or ()
    words = ["elt-llm", kind]
    for option, given in (("--collection", collections), ("--model", models)):
        words += [word for name in given for word in (option, name)]
    name = _KINDS.get(kind, kind)
    what = (
        f"This {name} is older than the document, which was ingested again since"
        if is_newer
        else f"The document was removed since this {name} was built"
    )
    return f"{what}. To build it again: {join(words)}"


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
