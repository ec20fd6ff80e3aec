"""A small library's rules in a real store, with pages, words, sections and a table."""

import re
from dataclasses import dataclass

from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from elt_llm_core import provenance
from elt_llm_core.config.sections import QuerySection, RagConfig
from elt_llm_core.document import Block, BlockKind, Cell, Page, ParsedDocument
from elt_llm_core.errors import ModelUnavailableError
from elt_llm_core.identifiers import digest
from elt_llm_core.models import as_counting
from elt_llm_core.provenance import Provenance, index_text
from elt_llm_core.store import NewDocument, Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_query.query import query_collections
from elt_llm_query.retrieval.query_transform import Search
from elt_llm_query.stages import TRANSFORMS

PERIODS = (
    "The loan period of a book is 21 days. A loan may be renewed twice, unless another "
    "reader has reserved the book."
)
OVERDUE = (
    "The fee for an overdue book is 20 cents per day. It must not exceed 10 euros for "
    "one book."
)
CARDS = (
    "A library card is issued to every person who lives in the district. Children "
    "under 12 need the consent of a parent."
)
TERMS = (
    "Reader means a person who holds a valid library card. Reference stock means books "
    "that may be read in the reading room only."
)
LENDING = [
    ("Loans", "A reader may borrow up to eight books at the same time."),
    ("Loans > Periods", PERIODS),
    ("Loans > Overdue", OVERDUE),
    ("Membership", CARDS),
    ("Definitions", TERMS),
]
ROOMS = [
    ("Reading room", "The reading room closes at 20:00 on weekdays."),
    ("Reading room", "Food is not permitted in the reading room."),
    ("Group rooms", "A group room is reserved at the desk for two hours."),
]
TABLE = ("Opening hours", (("Branch", "North Street"), ("Saturday", "10 to 14")))


@dataclass(frozen=True)
class World:
    """A store with two collections, the models, and a configuration."""

    store: Store
    models: Models
    config: RagConfig


def words_of(
    text: str, start: int
) -> list[tuple[int, int, float, float, float, float]]:
    """Made-up places: ten words a line, from the top left."""
    rows = []
    for i, found in enumerate(re.finditer(r"\S+", text)):
        left, top = 0.05 + 0.09 * (i % 10), 0.1 + 0.05 * (i // 10)
        span = (start + found.start(), start + found.end())
        rows.append((*span, left, top, left + 0.08, top + 0.03))
    return rows


def make_document(name: str, parts: list[tuple[str, str]]) -> NewDocument:
    """One page a part; one chunk a part."""
    text, blocks, pages, nodes = "", [], [], []
    for number, (section, said) in enumerate(parts, start=1):
        start = len(text)
        text += f"{said}\n\n"
        end = start + len(said)
        blocks.append(
            Block(kind=BlockKind.PARAGRAPH, start=start, end=end, section=section)
        )
        words = words_of(said, start)
        pages.append(Page(number=number, width=600, height=800, words=words))
        place = Provenance(
            document=name,
            ordinal=number - 1,
            section=section,
            page=number,
            end_page=number,
            span_start=start,
            span_end=end,
        )
        nodes.append(provenance.write(TextNode(text=said), place))
    return packed(name, text, blocks, pages, nodes)


def make_table(name: str) -> NewDocument:
    """One row whose text is its cells and whose index text has the headers."""
    section, pairs = TABLE
    cells, text = [], f"{section}\n" + "\t".join(h for h, _ in pairs) + "\n"
    first = len(text)
    for header, value in pairs:
        start = len(text) + (1 if cells else 0)
        text += f"\t{value}" if cells else value
        cells.append(Cell(header=header, start=start, end=len(text)))
    read = " | ".join(f"{header}: {value}" for header, value in pairs)
    place = Provenance(
        document=name,
        kind="table_row",
        section=section,
        span_start=first,
        span_end=len(text),
        cells=tuple(cells),
        index_text=f"{section} - {read}",
        table=section,
    )
    node = provenance.write(TextNode(text=text[first:]), place)
    block = Block(
        kind=BlockKind.TABLE_ROW, start=first, end=len(text), cells=tuple(cells)
    )
    return packed(name, text, [block], [], [node])


def packed(name, text, blocks, pages, nodes) -> NewDocument:
    parsed = ParsedDocument(
        title=name, text=text, blocks=blocks, pages=pages, parser="test-1"
    )
    return NewDocument(
        uri=f"test:{name}",
        name=name,
        sha256=digest(text),
        mime="text/plain",
        parsed=parsed,
        nodes=nodes,
        config_key="test",
    )


def fill(store: Store, models: Models, content: dict[str, list[NewDocument]]) -> None:
    embedder = as_counting(models.embedder)
    with store.writer() as writer:
        for name, documents in content.items():
            writer.ensure_collection(name, embedder, "test")
            for new in documents:
                texts = [index_text(n) for n in new.nodes]
                writer.put_vectors(embedder.digest, texts, embedder.embed_array(texts))
                writer.put_document(name, new)


CONTENT = {
    "lending": [make_document("Lending rules", LENDING)],
    "rooms": [make_document("House rules", ROOMS), make_table("Hours")],
}


BOTH = ["lending", "rooms"]


ASK = "What is the fee for an overdue book?"


SAID = "The fee for an overdue book is 20 cents per day."


def configured(**query):
    return RagConfig(query=QuerySection(**query))


def asked(world, question, names=BOTH, config=None, models=None):
    return query_collections(
        names,
        question,
        store=world.store,
        config=config or world.config,
        models=models or world.models,
    )


def kinds(result):
    return [d.kind for d in result.degradations]


class Down(HashEmbedding):
    """An embedder whose server is gone."""

    def _get_query_embedding(self, query):
        raise ModelUnavailableError("http://localhost:1", "refused")

    def _get_text_embeddings(self, texts):
        raise ModelUnavailableError("http://localhost:1", "refused")


def built(name, *answers, embedder=None, **options):
    llm = ScriptedLLM(list(answers))
    models = Models(embedder or HashEmbedding(), llm)
    return TRANSFORMS.load(name, options).build(models), llm


def question(text, embedder=None):
    vector = (embedder or HashEmbedding()).get_query_embedding(text)
    return [Search(QueryBundle(text, embedding=vector))]


def texts(searches):
    return [s.bundle.query_str for s in searches]


def stage(result, name):
    (found,) = [s for s in result.trace.stages if s.name == name]
    return found


LIKE = "What's the fee for an overdue book"


TEXTS = ["overdue fee", "loan period", "reading room", "library card", "group room"]


def candidates(scores=(0.9, 0.5, 0.4, 0.2, 0.1)):
    return [
        NodeWithScore(
            node=TextNode(id_=f"n{i}", text=t, metadata={"collection": "c"}), score=s
        )
        for i, (t, s) in enumerate(zip(TEXTS, scores, strict=True))
    ]
