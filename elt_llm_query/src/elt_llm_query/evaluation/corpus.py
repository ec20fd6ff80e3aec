"""The passages of a test set in a store: indexed once, kept by content."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from llama_index.core.schema import TextNode
from pydantic import Field

from elt_llm_core import provenance
from elt_llm_core.config.bm25 import DEFAULT, Recipe
from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import Progress
from elt_llm_core.models import CountingEmbedder, as_counting
from elt_llm_core.provenance import INDEX_GAP, Provenance
from elt_llm_core.records import Record
from elt_llm_core.store import CollectionCard, NewDocument, Store
from elt_llm_core.strategy import Models
from elt_llm_query.analysis.text import pieces
from elt_llm_query.evaluation.beir import Passage

PASSAGE = "passage"  # metadata key of a chunk: the passage it was made of
FORMAT = "1"  # rises with every change of what is stored
EMBEDDED_AT_ONCE = 512
STORED_AT_ONCE = 1000
WAIT_SECONDS = 1800.0  # for another process that indexes the same


class TextOptions(Record):
    """What of a passage is indexed, and how passages make up documents."""

    title: bool = Field(default=True, description="index the title with the text")
    tokens: int | None = Field(
        default=None, ge=16, description="most of a chunk; None: what the model reads"
    )
    document: str = Field(
        default="", description="metadata key: equal values are one document"
    )
    section: str = Field(default="", description="metadata key of the section")


@dataclass(frozen=True)
class Indexed:
    """A collection that holds the passages. `built` is False where it was there."""

    collection: str
    passage_of: dict[str, str]
    built: bool


def index_passages(
    store: Store,
    models: Models,
    passages: Sequence[Passage],
    options: TextOptions,
    progress: Progress,
) -> Indexed:
    """The collection of these passages, made where it is not there yet.

    Its name is made of the embedder, the options, the store's way to index words and
    every passage, so a second run over the same pays nothing. Texts that were embedded
    before are not embedded again.
    """
    embedder = as_counting(models.embedder)
    name = _name(embedder, passages, options, store.keywords or DEFAULT)
    built = not _complete(store, name)
    if built:
        documents = list(_documents(passages, options, embedder))
        _embed(store, embedder, documents, progress)
        _store(store, name, embedder, documents, progress)
    passage_of = {n.node_id: str(n.metadata[PASSAGE]) for n in store.nodes(name)}
    return Indexed(name, passage_of, built)


def _name(
    embedder: CountingEmbedder,
    passages: Sequence[Passage],
    options: TextOptions,
    keywords: Recipe,
) -> str:
    texts = (f"{p.id}\t{p.title}\t{p.text}" for p in passages)
    keys = (p.metadata.get(k, "") for p in passages for k in _keys(options))
    made = (FORMAT, embedder.digest, options.model_dump_json(), keywords.name)
    return f"eval-{digest(*made, *texts, *map(str, keys))[:16]}"


def _keys(options: TextOptions) -> list[str]:
    return [key for key in (options.document, options.section) if key]


def _complete(store: Store, name: str) -> bool:
    """Documents are stored after their vectors, and the index is built at the end."""
    cards: dict[str, CollectionCard] = {c.name: c for c in store.collections()}
    return name in cards and store.open(name).generation > 0


def _embed(
    store: Store,
    embedder: CountingEmbedder,
    documents: Sequence[NewDocument],
    progress: Progress,
) -> None:
    """Vectors of the texts that have none yet, short texts first.

    The writer's lock is held for moments only: others may index meanwhile.
    """
    texts = {provenance.index_text(n): None for d in documents for n in d.nodes}
    wanted = sorted(texts, key=lambda text: (len(text), text))
    missing = store.missing_vectors(embedder.digest, wanted)
    for start in range(0, len(missing), EMBEDDED_AT_ONCE):
        part = [wanted[i] for i in missing[start : start + EMBEDDED_AT_ONCE]]
        made = embedder.embed_array(part)
        with store.writer(WAIT_SECONDS) as writer:
            writer.put_vectors(embedder.digest, part, made)
        progress("embed", start + len(part), len(missing))


def _store(
    store: Store,
    name: str,
    embedder: CountingEmbedder,
    documents: Sequence[NewDocument],
    progress: Progress,
) -> None:
    with store.writer(WAIT_SECONDS) as writer:
        writer.ensure_collection(name, embedder, "passage")
        left = iter(documents)
        done = 0
        while part := list(islice(left, STORED_AT_ONCE)):
            writer.put_documents(name, part)
            done += len(part)
            progress("index", done, len(documents))
        writer.publish([name], force=True)


def _documents(
    passages: Sequence[Passage], options: TextOptions, embedder: CountingEmbedder
) -> Iterator[NewDocument]:
    """One document a passage, or one for all with the same value of the key."""
    if not options.document:
        for passage in passages:
            yield _document(passage.id, [passage], options, embedder)
        return

    def home(passage: Passage) -> str:
        """The document of a passage; without one it is its own."""
        return str(passage.metadata.get(options.document, passage.id))

    for key, group in groupby(sorted(passages, key=home), home):
        yield _document(key, list(group), options, embedder)


def _document(
    key: str,
    passages: Sequence[Passage],
    options: TextOptions,
    embedder: CountingEmbedder,
) -> NewDocument:
    text = ""
    blocks: list[Block] = []
    nodes: list[TextNode] = []
    for passage in passages:
        said = passage.text or passage.title
        section = str(passage.metadata.get(options.section, ""))
        before = _title(passage, options, embedder)
        start = len(text)
        text += f"{said}\n\n"
        kind = BlockKind.PARAGRAPH
        blocks.append(Block(kind=kind, start=start, end=start + len(said)))
        for low, high in _spans(said, before, options, embedder):
            place = Provenance(
                document=passage.title or key,
                ordinal=len(nodes),
                section=section,
                span_start=start + low,
                span_end=start + high,
                index_before=before,
            )
            node = TextNode(text=said[low:high], metadata={PASSAGE: passage.id})
            nodes.append(provenance.write(node, place))
    parsed = ParsedDocument(
        title=passages[0].title or key, text=text, blocks=blocks, parser="beir"
    )
    return NewDocument(
        uri=f"beir:{key}",
        name=passages[0].title or key,
        sha256=digest(text),
        mime="text/plain",
        parsed=parsed,
        nodes=nodes,
        config_key="beir",
    )


def _title(passage: Passage, options: TextOptions, embedder: CountingEmbedder) -> str:
    """What is indexed before the text; a title takes no more than half the room."""
    if not options.title or not passage.text:
        return ""
    words = passage.title.split()
    while words and embedder.count_tokens(" ".join(words)) > embedder.max_tokens // 2:
        words = words[: len(words) * 3 // 4]
    return " ".join(words)


def _spans(
    text: str, before: str, options: TextOptions, embedder: CountingEmbedder
) -> list[tuple[int, int]]:
    """Where a passage is cut into what the model reads: whole, or by sentences."""
    most = min(options.tokens or embedder.max_tokens, embedder.max_tokens)

    def fits(start: int, end: int) -> bool:
        """Whether the model reads this part with the title before it."""
        parts = [part for part in (before, text[start:end]) if part]
        return embedder.count_tokens(INDEX_GAP.join(parts)) <= most

    if fits(0, len(text)):
        return [(0, len(text))]
    spans: list[tuple[int, int]] = []
    for start, end in pieces(text):
        for low, high in _halved(text, (start, end), fits):
            if spans and fits(spans[-1][0], high):
                spans[-1] = (spans[-1][0], high)
            else:
                spans.append((low, high))
    return spans


def _halved(
    text: str, span: tuple[int, int], fits: Callable[[int, int], bool]
) -> list[tuple[int, int]]:
    """A span in parts that fit, cut at spaces where there are some."""
    start, end = span
    if end - start == 1 or fits(start, end):
        return [span]
    middle = text.rfind(" ", start + 1, (start + end) // 2)
    middle = middle if middle > start else (start + end) // 2
    after = middle + 1 if text[middle] == " " else middle
    return [*_halved(text, (start, middle), fits), *_halved(text, (after, end), fits)]
