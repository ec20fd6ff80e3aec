"""A store and a plain dictionary that is to tell the same."""

from collections import Counter
from hashlib import sha256
from math import log1p

import numpy as np
from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.config.bm25 import Recipe
from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.language.tokens import tokenize
from elt_llm_core.store import NewDocument, Store
from elt_llm_core.store.index.bm25 import join_neighbours
from elt_llm_core.testing.fakes import HashEmbedding

EMBEDDER = HashEmbedding(dimension=32)
NAME = "rules"
WORDS = Recipe()
Model = dict[str, tuple[str, ...]]  # document name to the texts of its chunks
Change = dict[str, object]  # {"do": "put", "name": …, "texts": […]} and the like


def apply(store: Store, change: Change) -> None:
    """Make one change the way an ingest does."""
    with store.writer() as writer:
        writer.ensure_collection(NAME, EMBEDDER, "test")
        if change["do"] == "put":
            texts = list(change["texts"])
            missing = [texts[i] for i in writer.missing_vectors(EMBEDDER.digest, texts)]
            if missing:
                made = EMBEDDER.embed_array(missing)
                writer.put_vectors(EMBEDDER.digest, missing, made)
            writer.put_document(NAME, new_document(str(change["name"]), texts))
        elif change["do"] == "remove":
            for row in store.documents(NAME):
                if row.name == change["name"]:
                    writer.remove_document(row.document_id)
        else:
            writer.publish([NAME], force=bool(change["force"]))


def new_document(name: str, texts: list[str]) -> NewDocument:
    """A document with one chunk a text."""
    text, blocks, nodes = "", [], []
    for ordinal, said in enumerate(texts):
        start, end = len(text), len(text) + len(said)
        kind = BlockKind.PARAGRAPH
        blocks.append(Block(kind=kind, start=start, end=end, section=f"{ordinal}"))
        place = provenance.Provenance(
            ordinal=ordinal, section=f"{ordinal}", span_start=start, span_end=end
        )
        nodes.append(provenance.write(TextNode(text=said), place))
        text += f"{said}\n\n"
    return NewDocument(
        uri=f"test:{name}",
        name=name,
        sha256=sha256(text.encode()).hexdigest(),
        mime="text/plain",
        parsed=ParsedDocument(title=name, text=text, blocks=blocks, parser="test 1"),
        nodes=nodes,
        config_key="test",
    )


def after(model: Model, change: Change) -> Model:
    """The dictionary after a change."""
    if change["do"] == "put":
        return {**model, str(change["name"]): tuple(change["texts"])}
    if change["do"] == "remove":
        return {name: texts for name, texts in model.items() if name != change["name"]}
    return model


def stored(store: Store) -> Model:
    """The documents of the store as such a dictionary."""
    if not any(card.name == NAME for card in store.collections()):
        return {}
    names = {row.document_id: row.name for row in store.documents(NAME)}
    found: dict[str, list[str]] = {name: [] for name in names.values()}
    for node in store.nodes(NAME):
        found[provenance.read(node).document].append(node.text)
    return {name: tuple(texts) for name, texts in found.items()}


def index_texts(store: Store) -> dict[str, tuple[str, str]]:
    """Chunk id to its document's name and its searchable text, as the model has it."""
    return {
        node.node_id: (provenance.read(node).document, provenance.index_text(node))
        for node in store.nodes(NAME)
    }


def cosines(texts: dict[str, str], vector: np.ndarray) -> dict[str, float]:
    """Chunk id to the cosine with a unit vector, each embedded anew."""
    made = EMBEDDER.embed_array(list(texts.values()))
    return dict(zip(texts, (made @ vector).tolist(), strict=True))


def bm25(texts: dict[str, str], question: str) -> dict[str, float]:
    """Chunk id to its BM25 above zero, by the formula (Robertson; Lucene's idf).

    Words side by side count as words of their own, at a part of the weight.
    """
    said = dict(zip(texts, tokenize(texts.values()), strict=True))
    lengths = {node: len(tokens) for node, tokens in said.items()}
    counts = {node: Counter([*t, *join_neighbours(t)]) for node, t in said.items()}
    average = sum(lengths.values()) / max(len(lengths), 1) or 1.0
    scores: Counter[str] = Counter()
    asked = tokenize([question])[0]
    for token in (*asked, *join_neighbours(asked)):
        having = [node for node, c in counts.items() if token in c]
        idf = log1p((len(counts) - len(having) + 0.5) / (len(having) + 0.5))
        for node in having:
            tf = counts[node][token]
            length = lengths[node] / average
            norm = WORDS.k1 * (1 - WORDS.b + WORDS.b * length)
            weight = WORDS.pair_weight if " " in token else 1.0
            scores[node] += weight * idf * tf / (tf + norm)
    return dict(scores)
