"""The documents in the messages between the parent and the reading process."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from elt_llm_core.document import Block, Blocks, Page, ParsedDocument, Words

FEW = 4000  # blocks that need not stay packed


def messages(loader: str, documents: Sequence[ParsedDocument]) -> Iterator[bytes]:
    """Yield the messages with the documents and the name of their loader."""
    blocks = [
        d.blocks if isinstance(d.blocks, Blocks) else Blocks(d.blocks)
        for d in documents
    ]
    heads = ",".join(map(_head, documents, blocks))
    yield f'{{"loader":{json.dumps(loader)},"documents":[{heads}]}}'.encode()
    for document, packed in zip(documents, blocks, strict=True):
        for group, _ in packed.packed:
            yield group
        for page in document.pages:
            if isinstance(page.words, Words):
                yield page.words.packed


def documents_of(
    head: dict[str, Any], receive: Callable[[], bytes]
) -> list[ParsedDocument]:
    """Return the documents; `head` is the first message, `receive` reads others.

    Raises ValueError for malformed messages.
    """
    return [_document(record, receive) for record in head["documents"]]


def _head(document: ParsedDocument, blocks: Blocks) -> str:
    """Return the JSON of everything but the blocks and the packed words."""
    plain = document.model_dump_json(exclude={"blocks", "pages"})
    pages = ",".join(map(_page_head, document.pages))
    groups = [count for _, count in blocks.packed]
    return f'{{"document":{plain},"pages":[{pages}],"groups":{json.dumps(groups)}}}'


def _page_head(page: Page) -> str:
    packed = isinstance(page.words, Words)
    plain = page.model_dump_json(exclude={"words"} if packed else None)
    return f'{{"page":{plain},"packed":{json.dumps(packed)}}}'


def _document(record: dict[str, Any], receive: Callable[[], bytes]) -> ParsedDocument:
    packed = Blocks()
    for count in record["groups"]:
        packed.add_packed(receive(), count)
    blocks: Sequence[Block] = packed if len(packed) > FEW else list(packed)
    if sum(1 for _ in blocks) != len(packed):
        raise ValueError("groups of blocks differ from their declared length")
    pages = [_page(page, receive) for page in record["pages"]]
    plain = ParsedDocument.model_validate({**record["document"], "blocks": []})
    return plain.model_copy(update={"blocks": blocks, "pages": pages})


def _page(record: dict[str, Any], receive: Callable[[], bytes]) -> Page:
    page = Page.model_validate(record["page"])
    if not record["packed"]:
        return page
    return page.model_copy(update={"words": Words.from_bytes(receive())})
