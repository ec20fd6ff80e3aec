"""How many chunks change when a sentence is put into a long text."""

from collections.abc import Callable, Sequence
from pathlib import Path

from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.strategy import Models
from elt_llm_ingest.chunkers.section_aware import SectionAwareChunker
from elt_llm_ingest.chunkers.sentence import SentenceChunker
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.text_file import parse
from ranked import Vectors

SENTENCE = (
    "A sentence that was put in here changes what stands behind it, and how much of "
    "what stands behind it changes is what is counted in this table."
)
PLACES, LINES = 8, 200
Row = dict[str, str]
Read = Callable[[Sequence[str]], ParsedDocument]


def edits(data: Path, models: Models, vectors: Vectors) -> list[Row]:  # noqa: ARG001
    """Rows for each rulebook: as one section of paragraphs, as one paragraph, as read.

    The sentence is put before each of the first eight lines, one at a time.
    """
    embedder = as_counting(models.embedder)
    limits = {"count": embedder.count_tokens, "max_tokens": embedder.max_tokens}
    sentence, section = SentenceChunker(**limits), SectionAwareChunker(**limits)
    ways: list[tuple[str, Read, SentenceChunker]] = [
        ("paragraphs, sentence", _paragraphs, sentence),
        ("one paragraph, sentence", _paragraph, sentence),
        ("as read, sentence", _read, sentence),
        ("as read, section_aware", _read, section),
    ]
    rows = []
    for file in sorted((data / "obliqa" / "rulebooks-txt").glob("*.txt")):
        lines = [line.strip() for line in file.read_text("utf-8").split("\n")]
        lines = [line for line in lines if len(line) > 60][:LINES]
        for name, read, chunker in ways:
            before = _texts(chunker, read(lines))
            changed = [
                len(
                    _texts(chunker, read([*lines[:at], SENTENCE, *lines[at:]])) - before
                )
                for at in range(PLACES)
            ]
            tokens = sum(map(embedder.count_tokens, before)) / len(before)
            row = {"text": f"{file.stem}, {name}", "chunks": str(len(before))}
            row["tokens"] = f"{tokens:.0f}"
            row["changed, mean"] = f"{sum(changed) / len(changed):.1f}"
            row["changed, most"] = str(max(changed))
            rows.append(row)
    return rows


def _texts(chunker: SentenceChunker, parsed: ParsedDocument) -> set[str]:
    return {node.text for node in chunker.chunk(parsed)}


def _paragraphs(lines: Sequence[str]) -> ParsedDocument:
    blocks, at = [], 0
    for line in lines:
        blocks.append(Block(kind=BlockKind.PARAGRAPH, start=at, end=at + len(line)))
        at += len(line) + 2
    return ParsedDocument(title="", text="\n\n".join(lines), blocks=blocks, parser="")


def _paragraph(lines: Sequence[str]) -> ParsedDocument:
    text = " ".join(lines)
    block = Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text))
    return ParsedDocument(title="", text=text, blocks=[block], parser="")


def _read(lines: Sequence[str]) -> ParsedDocument:
    data = "\n\n".join(lines).encode()
    return parse(Path("book.txt"), data, Limits())[0]
