"""A rule book whose chunks are sentences with parents, windows, rules and dates."""

from llama_index.core.schema import NodeWithScore, TextNode

from elt_llm_core import provenance
from elt_llm_core.document import Block, BlockKind, Page
from elt_llm_core.provenance import Parent, Provenance
from elt_llm_core.store import NewDocument
from elt_llm_core.strategy import Models
from elt_llm_core.testing import ScriptedLLM
from elt_llm_query.components import OverCollections
from elt_llm_query.stages import POSTPROCESSORS
from query_world import packed, words_of

NEED_A_MODEL = {"whole_collection"}
OPTIONS = {"time_weight": {"reference": "2025-01-01"}}  # what cannot be left out

BOOK = {
    "Loans > Periods": [
        "A book is lent for 21 days.",
        "A film is lent for 7 days.",
        "A map is lent for 2 days.",
        "Every loan may be renewed twice under Rule 3.2.1.",
    ],
    "Loans > Fees": [
        "The fee for an overdue book is 20 cents per day.",
        "The fee for an overdue film is 90 cents per day.",
        "No fee is above 10 euros.",
    ],
    "Rooms": [
        "The reading room closes at 20:00.",
        "A group room is reserved at the desk.",
        "The scanner BMS-986158 stands in the group room.",
        "The scanner BMS-986159 stands in the reading room.",
    ],
}
RULES = {
    "A book is lent for 21 days.": ("3.1",),
    "Every loan may be renewed twice under Rule 3.2.1.": ("3.1",),
    "The fee for an overdue book is 20 cents per day.": ("3.2.1", "3.2.1(a)"),
    "The fee for an overdue film is 90 cents per day.": ("3.2.1(b)",),
    "The reading room closes at 20:00.": ("Art. 5",),
    "A group room is reserved at the desk.": ("C12(a)",),
    "The scanner BMS-986158 stands in the group room.": ("GEN8.10.1",),
}
REFERENCES = {"Every loan may be renewed twice under Rule 3.2.1.": ("3.2.1",)}
DATES = {"Loans > Periods": "2024-01-01", "Loans > Fees": "2020"}


def book(name: str = "Book") -> NewDocument:
    """A chunk a sentence, two sentences a page; a parent a section, and one of all."""
    text, spans = _laid_out()
    places = [span for found in spans.values() for span in found]
    whole = Parent(start=0, end=places[-1][1], leaves=len(places))
    pages: dict[int, list[tuple[int, int]]] = {}
    blocks, nodes = [], []
    for section, found in spans.items():
        parent = Parent(start=found[0][0], end=found[-1][1], leaves=len(found))
        for index, (start, end) in enumerate(found):
            page = 1 + len(nodes) // 2
            pages.setdefault(page, []).append((start, end))
            said = text[start:end]
            place = Provenance(
                document=name,
                ordinal=len(nodes),
                section=section,
                page=page,
                end_page=page,
                span_start=start,
                span_end=end,
                rules=RULES.get(said, ()),
                references=REFERENCES.get(said, ()),
                parents=(parent, whole),
                window_start=found[max(index - 1, 0)][0],
                window_end=found[min(index + 1, len(found) - 1)][1],
                date=DATES.get(section, ""),
            )
            blocks.append(
                Block(kind=BlockKind.PARAGRAPH, start=start, end=end, section=section)
            )
            nodes.append(provenance.write(TextNode(text=said), place))
    drawn = [
        Page(
            number=number,
            width=600,
            height=800,
            words=[w for start, end in found for w in words_of(text[start:end], start)],
        )
        for number, found in pages.items()
    ]
    return packed(name, text, blocks, drawn, nodes)


def _laid_out() -> tuple[str, dict[str, list[tuple[int, int]]]]:
    text, spans = "", {}
    for section, sentences in BOOK.items():
        for said in sentences:
            spans.setdefault(section, []).append((len(text), len(text) + len(said)))
            text += f"{said} "
        text = f"{text.rstrip()}\n\n"
    return text, spans


def made(text: str, score: float | None = 1.0, **told: object) -> NodeWithScore:
    """A node of no collection that says this and has this metadata."""
    return NodeWithScore(node=TextNode(text=text, metadata=told), score=score)


def said(nodes: list[NodeWithScore]) -> list[str]:
    return [n.node.get_content() for n in nodes]


def models_for(name, shelf):
    """The models of the shelf, with one that writes where a step needs it."""
    writer = ScriptedLLM([]) if name in NEED_A_MODEL else None
    return Models(shelf.models.embedder, writer)


def step(name, shelf, where=None, **options):
    """A postprocessor over the shelf, as the engine makes it."""
    built = POSTPROCESSORS.load(name, {**OPTIONS.get(name, {}), **options})
    found = built.build(models_for(name, shelf))
    opened = [shelf.store.open("shelf")]
    return found.over(opened, where) if isinstance(found, OverCollections) else found


def nodes_of(shelf, *texts, scores=None):
    """The chunks that say these texts, in this order."""
    by_text = {n.text: n for n in shelf.store.nodes("shelf")}
    scores = scores or [1 - i / 10 for i in range(len(texts))]
    pairs = zip(texts, scores, strict=True)
    return [NodeWithScore(node=by_text[text], score=score) for text, score in pairs]
