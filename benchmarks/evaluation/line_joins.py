"""Reading order of a page: are lines that go on in the file followed in our text?

A join is a pair of neighbouring lines of PDFium's text of at least four words each, of
which the first ends in no stop or hyphen and the second begins in lower case: running
text that goes on. It is kept if the last two words of the first and the first two of
the second stand in that order, next to each other, in the text that is measured. Lines
with letters that the file does not decode say nothing about the order.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pypdfium2

from elt_llm_core.document import Page, ParsedDocument
from elt_llm_ingest.readers.pdf.undecoded_text import UNKNOWN, decode_text
from evaluation.lost_words import page_texts, words_in

LEAST = 8  # joins of a page that counts
LINE = 4  # words of a line that counts
STOPS = (".", ":", ";", "?", "!", "-", "\u2010", "\xad", "\ufffe", "\x02")
Join = tuple[str, ...]


class PageJoins(NamedTuple):
    """The joins of one page and how many of them each text keeps."""

    document: str
    page: int
    joins: int
    ours: int
    reference: int  # that pdftotext keeps
    both: int  # that pdftotext and we keep
    doubtful: bool = False

    @property
    def kept(self) -> float:
        """The share of all joins that we keep."""
        return self.ours / self.joins

    @property
    def reference_kept(self) -> float:
        """The share of all joins that pdftotext keeps."""
        return self.reference / self.joins


def find_joins(plain: str) -> list[Join]:
    """The joins in PDFium's text of a page."""
    lines = [line.strip() for line in plain.splitlines()]
    written = [(line, words_in(line)) for line in lines if line]
    return [
        (*before[-2:], *after[:2])
        for (first, before), (second, after) in pairwise(written)
        if min(len(before), len(after)) >= LINE
        and UNKNOWN not in first + second
        and not first.endswith(STOPS)
        and second[0].islower()
    ]


def is_kept(joins: Sequence[Join], text: str) -> list[bool]:
    """Of each join whether a text keeps it."""
    words = words_in(text)
    runs = set(zip(words, words[1:], words[2:], words[3:], strict=False))
    return [join in runs for join in joins]


def measure_joins(pdf: Path, document: ParsedDocument) -> Iterator[PageJoins]:
    """The pages of a PDF with enough joins. Raises UsageError without pdftotext."""
    references = page_texts(pdf)
    plains = _plain_texts(pdf)
    doubtful = {
        block.page
        for block in document.blocks
        if block.attributes.get("reading_order") == "doubtful"
    }
    for page, reference, plain in zip(document.pages, references, plains, strict=False):
        joins = find_joins(plain)
        if len(joins) < LEAST:
            continue
        ours = is_kept(joins, page_text(document.text, page))
        others = is_kept(joins, reference)
        both = sum(a and b for a, b in zip(ours, others, strict=True))
        yield PageJoins(
            pdf.name,
            page.number,
            len(joins),
            sum(ours),
            sum(others),
            both,
            page.number in doubtful,
        )


def _plain_texts(pdf: Path) -> Iterator[str]:
    with pypdfium2.PdfDocument(pdf) as file:
        for page in file:
            layer = page.get_textpage()
            yield decode_text(layer)
            layer.close()
            page.close()


def page_text(text: str, page: Page) -> str:
    """The words of one page in the order of the document."""
    parts: list[str] = []
    end = -1
    for row in page.words:
        parts += ["" if row[0] == end else " ", text[row[0] : row[1]]]
        end = row[1]
    return "".join(parts)


class Summary(NamedTuple):
    """Shares of joins over many pages."""

    pages: int
    joins: int
    ours: float
    reference: float
    where_reference: float  # of the joins that pdftotext keeps, those that we keep
    low: int  # pages of ours below .8 where pdftotext is above .95
    low_unmarked: int


def summarize(pages: Iterable[PageJoins]) -> Summary:
    """The figures of all pages together."""
    pages = list(pages)
    joins = sum(page.joins for page in pages)
    reference = sum(page.reference for page in pages)
    low = [page for page in pages if is_low(page)]
    return Summary(
        len(pages),
        joins,
        round(sum(page.ours for page in pages) / max(joins, 1), 4),
        round(reference / max(joins, 1), 4),
        round(sum(page.both for page in pages) / max(reference, 1), 4),
        len(low),
        sum(not page.doubtful for page in low),
    )


def is_low(page: PageJoins) -> bool:
    """Whether our order is clearly worse than pdftotext's."""
    return page.kept < 0.8 and page.reference_kept > 0.95
