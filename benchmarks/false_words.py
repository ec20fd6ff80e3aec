"""Words that our text of a PDF page has and the page has not.

python benchmarks/false_words.py FOLDER...

The reference is PDFium's text of the page, in both of its orders. A word is false if
its letters stand nowhere in it, surplus if we have it more often. Pages read by text
recognition are left out.
"""

import re
import sys
import unicodedata
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pypdfium2

from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf.document import parse

WORD = re.compile(r"[^\W_]+")
RECOGNISED = "read by text recognition"


class Row(NamedTuple):
    """A page: its words, the false and the surplus among them."""

    page: int
    words: int
    false: list[str]
    surplus: list[str]


def words_of(text: str) -> list[str]:
    """Words in plain lower-case letters."""
    plain = text.replace("\xad", "").replace("\ufffe", "").replace("\x02", "")
    return WORD.findall(unicodedata.normalize("NFKC", plain).casefold())


def rows_of(pdf: Path) -> list[Row]:
    """A row for each page of a file."""
    (document,) = parse(pdf, pdf.read_bytes(), Limits())
    if any(RECOGNISED in told for told in document.warnings):
        return []
    rows = []
    file = pypdfium2.PdfDocument(pdf)
    for page in document.pages:
        layer = file[page.number - 1].get_textpage()
        orders = [
            words_of(text)
            for text in (layer.get_text_range(), layer.get_text_bounded())
        ]
        dense = " ".join(map("".join, orders))
        have: Counter[str] = Counter()
        for theirs in map(Counter, orders):
            have |= theirs
        ours = words_of(" ".join(document.text[w[0] : w[1]] for w in page.words))
        false = [word for word in ours if word not in dense]
        more = Counter(ours) - have
        surplus = [
            w for w in more.elements() if w in dense and dense.count(w) < 2 * more[w]
        ]
        rows.append(Row(page.number, len(ours), false, surplus))
    file.close()
    return rows


def main() -> None:
    """Print the files and pages with such words, and the sums."""
    pdfs = sorted(p for f in sys.argv[1:] for p in Path(f).rglob("*.pdf"))
    total = false = surplus = pages = worst = 0
    for pdf in pdfs:
        rows = rows_of(pdf)
        pages += len(rows)
        total += sum(row.words for row in rows)
        false += sum(len(row.false) for row in rows)
        surplus += sum(len(row.surplus) for row in rows)
        worst = max([worst, *(len(row.false) for row in rows)])
        for row in rows:
            if row.false or row.surplus:
                print(
                    f"{pdf.name} p{row.page}: {len(row.false)} false "
                    f"{row.false[:6]}, {len(row.surplus)} surplus {row.surplus[:6]}"
                )
    print(
        f"{len(pdfs)} files, {pages} pages, {total} words: {false} false (at most "
        f"{worst} a page), {surplus} surplus"
    )


if __name__ == "__main__":
    main()
