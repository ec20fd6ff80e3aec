"""A page, a section or the next part of a document's text, split at its blocks."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pydantic import Field

from elt_llm_core.document import Block, BlockKind
from elt_llm_core.errors import NothingThereError, UsageError, suggest
from elt_llm_core.records import Record
from elt_llm_core.store import DocumentRow, Store

# Characters of one part, about 5,000 tokens: a page has 2,000 to 4,000.
MOST_CHARACTERS = 20_000
MOST_SECTIONS = 400  # of the outline; a handbook of 65 pages has about 150
LEVELS = " > "
# Not part of a section: running headers and lines of a table of contents.
LEFT_OUT = frozenset({BlockKind.FURNITURE, BlockKind.CONTENTS})


class TextPart(Record):
    """A part of a document: `text` is characters `[start, end)` of its text."""

    document_id: str
    document: str = Field(description="file name")
    title: str
    collection: str
    section: str = Field(description="of its beginning, ' > ' between levels")
    pages: tuple[int, ...] = Field(description="its pages, counted from 1")
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str
    next_start: int | None = Field(
        default=None, description="start of the next part, if the text was truncated"
    )
    page_count: int = Field(description="of the document; 0 if it has no pages")
    sections: tuple[str, ...] = Field(
        default=(), description="sections of the document, if no part was named"
    )
    also_at: tuple[int, ...] = Field(
        default=(), description="starts of other parts under the same heading"
    )


class _SectionRun(NamedTuple):
    """Adjacent blocks."""

    blocks: Sequence[Block]

    @property
    def start(self) -> int:
        return self.blocks[0].start

    @property
    def end(self) -> int:
        return self.blocks[-1].end


def select_document(store: Store, name: str, collections: Iterable[str]) -> DocumentRow:
    """Return the document with an id, file name or title.

    Args:
        store: The data root.
        name: Id, file name or title.
        collections: Ids of the collections to search.

    Raises:
        UsageError: If several documents have the name.
        NothingThereError: If none has it.
    """
    rows = [row for one in collections for row in store.documents(one)]
    hits = [r for r in rows if name in {r.document_id, r.name, r.title}]
    if not hits:
        known = {row.name for row in rows}
        raise NothingThereError(f"no document {name[:200]!r}", suggest(name, known))
    if len(hits) > 1:
        listed = ", ".join(f"{r.document_id} (in {r.collection})" for r in hits[:10])
        raise UsageError(
            f"{len(hits)} documents are called {name[:200]!r}",
            f"pass the id of one: {listed}",
        )
    return hits[0]


def read_part(
    store: Store,
    row: DocumentRow,
    *,
    page: int | None = None,
    section: str = "",
    start: int | None = None,
) -> TextPart:
    """Read a page, a section, or the text from a position.

    Args:
        store: The data root.
        row: The document.
        page: A page, from 1; a paragraph that continues on the next page is read to its
            end.
        section: A heading, or headings with ' > ' between them.
        start: The first character, counted in the document; within the page or section,
            if one is given.

    Returns:
        At most 20,000 characters.

    Raises:
        NothingThereError: If there is no such page, section or place.
    """
    blocks = store.blocks(row.document_id)
    others: tuple[int, ...] = ()
    if section:
        runs = _section_runs(blocks, section, row)
        longest = max(runs, key=lambda run: run.end - run.start)
        others = tuple(run.start for run in runs if run is not longest)
        blocks = list(longest.blocks)
    if page is not None:
        blocks = _page_blocks(blocks, page, row)
    if start is not None:
        blocks = [block for block in blocks if block.end > start]
    if not blocks:
        raise NothingThereError(f"{row.name} has no text there", "omit start")
    part = _cut(store, row, blocks, start)
    outline = page is None and not section and not start
    sections = _outline(blocks) if outline else ()
    return part.model_copy(update={"also_at": others, "sections": sections})


def _cut(
    store: Store, row: DocumentRow, blocks: Sequence[Block], start: int | None
) -> TextPart:
    """Return the beginning of the blocks; at least a part of the first."""
    begin = max(blocks[0].start, start or 0)
    fitting = [b for b in blocks if b.end - begin <= MOST_CHARACTERS]
    end = fitting[-1].end if fitting else begin + MOST_CHARACTERS
    taken = fitting or blocks[:1]
    pages = {p for b in taken for p in _pages(b)}
    return TextPart(
        document_id=row.document_id,
        document=row.name,
        title=row.title,
        collection=row.collection,
        section=next((b.section for b in taken if b.kind not in LEFT_OUT), ""),
        pages=tuple(sorted(pages)),
        start=begin,
        end=end,
        text=store.document_text(row.document_id)[begin:end],
        next_start=end if end < blocks[-1].end else None,
        page_count=row.page_count,
    )


def _page_blocks(blocks: Sequence[Block], page: int, row: DocumentRow) -> list[Block]:
    on_page = [block for block in blocks if page in _pages(block)]
    if not on_page:
        pages = f"it has pages 1 to {row.page_count}"
        raise NothingThereError(
            f"{row.name} has no text on page {page}",
            pages if row.page_count else "it has no pages: pass a section",
        )
    return on_page


def _pages(block: Block) -> range:
    if block.page is None:
        return range(0)
    return range(block.page, (block.end_page or block.page) + 1)


def _section_runs(
    blocks: Sequence[Block], section: str, row: DocumentRow
) -> list[_SectionRun]:
    """Return unbroken runs of blocks under a heading.

    A whole path is preferred to the name of one of its levels, and that to a part of a
    name. A table of contents that was read as text is a separate run.
    """
    wanted = _plain(section)
    tests: tuple[Callable[[str], bool], ...] = (
        lambda path: f"{path}{LEVELS}".startswith(f"{wanted}{LEVELS}"),
        lambda path: wanted in path.split(LEVELS),
        lambda path: any(wanted in level for level in path.split(LEVELS)),
    )
    for test in tests:
        runs: list[list[Block]] = []
        open_run = False
        for block in blocks:
            if block.kind in LEFT_OUT:
                continue
            fits = test(_plain(block.section))
            if fits and open_run:
                runs[-1].append(block)
            elif fits:
                runs.append([block])
            open_run = fits
        if runs:
            return [_SectionRun(run) for run in runs]
    raise NothingThereError(
        f"{row.name} has no section {section[:200]!r}",
        suggest(section, _outline(blocks))
        if _outline(blocks)
        else "pass a page instead",
    )


def _plain(path: str) -> str:
    return LEVELS.join(" ".join(p.split()).casefold() for p in path.split(">"))


def _outline(blocks: Iterable[Block]) -> tuple[str, ...]:
    paths = (b.section for b in blocks if b.section and b.kind not in LEFT_OUT)
    return tuple(dict.fromkeys(paths))[:MOST_SECTIONS]
