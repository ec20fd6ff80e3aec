"""Tables as a reader would tell them: a text and its blocks."""

from collections.abc import Sequence

from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.results import Box

Rows = Sequence[Sequence[str]]


def table(
    rows: Rows,
    *,
    headers: int = 1,
    number: int = 1,
    title: str = "Table 1: Boats",
    before: str = "",
    pages: Sequence[int] = (),
) -> tuple[str, list[Block]]:
    """Rows of cells as text and blocks; `headers` of them name the columns.

    A row starts on the page that `pages` tells for it, else on the first.
    """
    text, blocks = before, []
    joined = zip(*rows[:headers], strict=True) if headers else [()] * len(rows[0])
    names = [" / ".join(dict.fromkeys(h for h in column if h)) for column in joined]
    for index, row in enumerate(rows):
        start, cells = len(text), []
        page = pages[index] if pages else 1
        for place, (value, header) in enumerate(zip(row, names, strict=True)):
            text += ("\t" if place else "") + value
            box = Box(page=page, left=0.1 * place, top=0.1, right=0.5, bottom=0.2)
            end = len(text)
            cells.append(
                Cell(
                    header=header,
                    start=end - len(value),
                    end=end,
                    boxes=(box,),
                    column=place,
                )
            )
        told = {"row": "header"} if index < headers else {}
        blocks.append(
            Block(
                kind=BlockKind.TABLE_ROW,
                start=start,
                end=len(text),
                page=page,
                end_page=page,
                section="Fleet",
                table=title,
                table_number=number,
                cells=tuple(cells),
                attributes=told,
            )
        )
        text += "\n"
    return text, blocks
