"""Index the passages of a test set in a store; reuse the index of equal passages."""

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
from elt_llm_query.analysis.stems import pieces
from elt_llm_query.evaluation.beir import CorpusPassage

PASSAGE = "passage"  # metadata key of a chunk: its passage id
_FORMAT = "1"  # increment when the stored data changes; old indexes are then unused
_EMBED_BATCH = 512  # vectors written at once: an interrupted run loses a few seconds
_STORE_BATCH = 1000  # documents per transaction; bounds the memory of the journal
WAIT_SECONDS = 1800.0  # for another process that is indexing the same test set


class TextOptions(Record):
    """What to index of a passage, and how passages form documents."""

    title: bool = Field(default=True, description="index the title with the text")
    tokens: int | None = Field(
        default=None,
        ge=16,
        description="longest chunk; None: as much as the embedder reads",
    )
    document: str = Field(
        default="",
        description="metadata key; passages with equal values form a document",
    )
    section: str = Field(default="", description="metadata key of the section")


@dataclass(frozen=True)
class IndexedPassages:
    """The collection of the passages. `built` is False if it already existed."""

    collection: str
    passage_of: dict[str, str]
    built: bool


def index_passages(
    store: Store,
    models: Models,
    passages: Sequence[CorpusPassage],
    options: TextOptions,
    progress: Progress,
) -> IndexedPassages:
    """Return the collection of these passages; build it if it does not exist.

    Its name is a digest of the embedder, the options, the keyword recipe and every
    passage, so that a second run reuses it. Known texts are not embedded again.
    """
    embedder = as_counting(models.embedder)
    name = _name(embedder, passages, options, store.keywords or DEFAULT)
    built = not _complete(store, name)
    if built:
        documents = list(_documents(passages, options, embedder))
        _embed_missing(store, embedder, documents, progress)
        _store(store, name, embedder, documents, progress)
    passage_of = {n.node_id: str(n.metadata[PASSAGE]) for n in store.nodes(name)}
    return IndexedPassages(name, passage_of, built)


def _name(
    embedder: CountingEmbedder,
    passages: Sequence[CorpusPassage],
    options: TextOptions,
    keywords: Recipe,
) -> str:
    texts = (f"{p.id}\t{p.title}\t{p.text}" for p in passages)
    keys = (p.metadata.get(k, "") for p in passages for k in _keys(options))
    made = (_FORMAT, embedder.digest, options.model_dump_json(), keywords.name)
    return f"eval-{digest(*made, *texts, *map(str, keys))[:16]}"


def _keys(options: TextOptions) -> list[str]:
    return [key for key in (options.document, options.section) if key]


def _complete(store: Store, name: str) -> bool:
    """Whether the index was published, which is the last step of building it."""
    cards: dict[str, CollectionCard] = {c.name: c for c in store.collections()}
    return name in cards and store.open(name).generation > 0


def _embed_missing(
    store: Store,
    embedder: CountingEmbedder,
    documents: Sequence[NewDocument],
    progress: Progress,
) -> None:
    """Embed the texts that have no vector yet, short texts first.

    The writer's lock is released after every batch, so that others can index too.
    """
    texts = {provenance.index_text(n): None for d in documents for n in d.nodes}
    ordered = sorted(texts, key=lambda text: (len(text), text))
    missing = store.missing_vectors(embedder.digest, ordered)
    for start in range(0, len(missing), _EMBED_BATCH):
        batch = [ordered[i] for i in missing[start : start + _EMBED_BATCH]]
        vectors = embedder.embed_array(batch)
        with store.writer(WAIT_SECONDS) as writer:
            writer.put_vectors(embedder.digest, batch, vectors)
        progress("embed", start + len(batch), len(missing))


def _store(
    store: Store,
    name: str,
    embedder: CountingEmbedder,
    documents: Sequence[NewDocument],
    progress: Progress,
) -> None:
    with store.writer(WAIT_SECONDS) as writer:
        writer.ensure_collection(name, embedder, "passage")
        remaining = iter(documents)
        done = 0
        while batch := list(islice(remaining, _STORE_BATCH)):
            writer.put_documents(name, batch)
            done += len(batch)
            progress("index", done, len(documents))
        writer.publish([name], force=True)


def _documents(
    passages: Sequence[CorpusPassage], options: TextOptions, embedder: CountingEmbedder
) -> Iterator[NewDocument]:
    """One document per passage, or per value of the metadata key."""
    if not options.document:
        for passage in passages:
            yield _document(passage.id, [passage], options, embedder)
        return

    def document_key(passage: CorpusPassage) -> str:
        """The document of a passage; its own id if the metadata names none."""
        return str(passage.metadata.get(options.document, passage.id))

    for key, group in groupby(sorted(passages, key=document_key), document_key):
        yield _document(key, list(group), options, embedder)


def _document(
    key: str,
    passages: Sequence[CorpusPassage],
    options: TextOptions,
    embedder: CountingEmbedder,
) -> NewDocument:
    text = ""
    blocks: list[Block] = []
    nodes: list[TextNode] = []
    for passage in passages:
        body = passage.text or passage.title
        section = str(passage.metadata.get(options.section, ""))
        before = _title(passage, options, embedder)
        start = len(text)
        text += f"{body}\n\n"
        kind = BlockKind.PARAGRAPH
        blocks.append(Block(kind=kind, start=start, end=start + len(body)))
        for low, high in _spans(body, before, options, embedder):
            place = Provenance(
                document=passage.title or key,
                ordinal=len(nodes),
                section=section,
                span_start=start + low,
                span_end=start + high,
                index_before=before,
            )
            node = TextNode(text=body[low:high], metadata={PASSAGE: passage.id})
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


def _title(
    passage: CorpusPassage, options: TextOptions, embedder: CountingEmbedder
) -> str:
    """The title to index before the text, at most half of the embedder's limit."""
    if not options.title or not passage.text:
        return ""
    words = passage.title.split()
    while words and embedder.count_tokens(" ".join(words)) > embedder.max_tokens // 2:
        words = words[: len(words) * 3 // 4]
    return " ".join(words)


def _spans(
    text: str, before: str, options: TextOptions, embedder: CountingEmbedder
) -> list[tuple[int, int]]:
    """Return spans within the embedder's limit, split between sentences."""
    most = min(options.tokens or embedder.max_tokens, embedder.max_tokens)

    def fits(start: int, end: int) -> bool:
        """Return whether this part fits the embedder, with the title before it."""
        parts = [part for part in (before, text[start:end]) if part]
        return embedder.count_tokens(INDEX_GAP.join(parts)) <= most

    if fits(0, len(text)):
        return [(0, len(text))]
    spans: list[tuple[int, int]] = []
    for start, end in pieces(text):
        for low, high in _halve(text, (start, end), fits):
            if spans and fits(spans[-1][0], high):
                spans[-1] = (spans[-1][0], high)
            else:
                spans.append((low, high))
    return spans


def _halve(
    text: str, span: tuple[int, int], fits: Callable[[int, int], bool]
) -> list[tuple[int, int]]:
    """Split a span into parts that fit, at a space if there is one."""
    start, end = span
    if end - start == 1 or fits(start, end):
        return [span]
    middle = text.rfind(" ", start + 1, (start + end) // 2)
    middle = middle if middle > start else (start + end) // 2
    after = middle + 1 if text[middle] == " " else middle
    return [*_halve(text, (start, middle), fits), *_halve(text, (after, end), fits)]
