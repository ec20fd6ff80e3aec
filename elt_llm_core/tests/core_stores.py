"""Documents made for the tests, and how they get into a store."""

import hashlib
from pathlib import Path

from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.document import Block, BlockKind, Page, ParsedDocument, Sidecar
from elt_llm_core.store import NewDocument, Store
from elt_llm_core.testing.fakes import HashEmbedding

SUBJECTS = ("kite", "buoy", "anchor", "harbour", "lantern", "compass", "rudder", "sail")


def parsed(name: str, sentences: list[str]) -> ParsedDocument:
    """A one-page document with one block a sentence and a box a word."""
    text, blocks, words = "", [], []
    for line, sentence in enumerate(sentences):
        start = len(text)
        position = start
        for i, word in enumerate(sentence.split(" ")):
            left = min(0.05 + i * 0.06, 0.9)
            top = min(0.05 + line * 0.03, 0.95)
            words.append(
                (position, position + len(word), left, top, left + 0.05, top + 0.02)
            )
            position += len(word) + 1
        text += sentence
        blocks.append(
            Block(
                kind=BlockKind.PARAGRAPH,
                start=start,
                end=len(text),
                page=1,
                section="1 - ALL",
            )
        )
        text += "\n\n"
    return ParsedDocument(
        title=name,
        text=text,
        blocks=blocks,
        pages=[Page(number=1, width=595, height=842, words=words)],
        parser="test 1",
        sidecars=(Sidecar(kind="model", name=name, content={"entities": []}),),
    )


def new_document(name: str, sentences: list[str]) -> NewDocument:
    """The same, ready to store: one chunk a block."""
    document = parsed(name, sentences)
    nodes = [
        provenance.write(
            TextNode(text=document.text[b.start : b.end]),
            provenance.Provenance(
                ordinal=i,
                section=b.section,
                page=1,
                end_page=1,
                span_start=b.start,
                span_end=b.end,
            ),
        )
        for i, b in enumerate(document.blocks)
    ]
    return NewDocument(
        uri=f"test:{name}",
        name=name,
        sha256=hashlib.sha256(name.encode()).hexdigest(),
        mime="text/plain",
        parsed=document,
        nodes=nodes,
        config_key="test",
        original=name.encode(),
    )


def open_files() -> int:
    """File descriptors of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def put(store: Store, collection: str, new: NewDocument, publish: bool = True) -> str:
    """Embed and store one document."""
    embedder = HashEmbedding()
    texts = [provenance.index_text(n) for n in new.nodes]
    with store.writer() as writer:
        writer.ensure_collection(collection, embedder, "test")
        writer.put_vectors(embedder.digest, texts, embedder.embed_array(texts))
        document = writer.put_document(collection, new)
        if publish:
            writer.publish([collection])
    return document
