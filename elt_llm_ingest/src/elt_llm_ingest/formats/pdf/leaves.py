"""Pages in PDFium, opened by another thread while the ones before are worked on."""

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import pypdfium2


class Leaf(NamedTuple):
    """A page, its text layer and the text of that. Closed by who asked for it."""

    page: pypdfium2.PdfPage
    layer: pypdfium2.PdfTextPage
    plain: str

    def close(self) -> None:
        """Give back what PDFium holds of the page."""
        self.layer.close()
        self.page.close()


def leaf_of(pdf: pypdfium2.PdfDocument, number: int) -> Leaf | None:
    """A page by its number from 1; None for one that PDFium cannot open."""
    try:
        page = pdf[number - 1]
        layer = page.get_textpage()
    except (pypdfium2.PdfiumError, IndexError):
        return None
    return Leaf(page, layer, str(layer.get_text_range()))


class Leaves:
    """Pages that are opened ahead.

    PDFium is for one thread at a time: between `ahead` and `wait` nobody else may use
    the file.
    """

    def __init__(self, thread: ThreadPoolExecutor) -> None:
        self._thread = thread
        self._coming: Future[dict[int, Leaf | None]] | None = None
        self._open: dict[int, Leaf | None] = {}

    def ahead(self, pdf: pypdfium2.PdfDocument, numbers: Sequence[int]) -> None:
        """Begin to open these pages."""
        self._coming = self._thread.submit(
            lambda: {number: leaf_of(pdf, number) for number in numbers}
        )

    def wait(self) -> None:
        """Wait until the pages are open."""
        if self._coming is not None:
            coming, self._coming = self._coming, None
            self._open = coming.result()

    def take(self, pdf: pypdfium2.PdfDocument, number: int) -> Leaf | None:
        """A page, opened now if it was not yet."""
        if number in self._open:
            return self._open.pop(number)
        return leaf_of(pdf, number)

    def drop(self) -> None:
        """Close the pages that nobody took."""
        for leaf in self._open.values():
            if leaf is not None:
                leaf.close()
        self._open = {}


@contextlib.contextmanager
def leaves() -> Iterator[Leaves]:
    """Pages to open ahead while the block runs; those left are closed after it."""
    with ThreadPoolExecutor(1) as thread:
        found = Leaves(thread)
        try:
            yield found
        finally:
            found.wait()
            found.drop()
