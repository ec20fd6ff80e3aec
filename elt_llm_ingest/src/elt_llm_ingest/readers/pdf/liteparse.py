"""A PDF opened: LiteParse's layout of its pages, and PDFium's view of the file."""

import contextlib
import ctypes
import io
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pypdfium2
from liteparse import LiteParse, ParseError
from pypdfium2 import raw

from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf.headings import Outline
from elt_llm_ingest.readers.spool import MappedFile, pdf_source

Given = TypeVar("Given", bound=bytes | MappedFile)
LOCKED = "it is protected by a password"
CURE = (
    "run the same command with --password -, which prompts for it, or add it to "
    "the file in ingest.password_file"
)


def unlock(path: Path, data: Given, passwords: Sequence[str]) -> Given | bytes:
    """Return the PDF in a form that can be read without a password.

    An unprotected or damaged file is returned unchanged. Raises LoadError if a password
    is needed and none of these is right.
    """
    if not passwords or not _needs_password(data):
        return data
    for password in passwords:
        try:
            pdf = pypdfium2.PdfDocument(pdf_source(data), password=password)
        except pypdfium2.PdfiumError:
            continue
        try:
            plain = io.BytesIO()
            pdf.save(plain, flags=raw.FPDF_REMOVE_SECURITY)
        finally:
            pdf.close()
        return plain.getvalue()
    count = len(passwords)
    tried = "the password given does" if count == 1 else f"the {count} given do"
    raise LoadError(path.name, f"{LOCKED}, and {tried} not open it", CURE)


def _needs_password(data: bytes | MappedFile) -> bool:
    try:
        pypdfium2.PdfDocument(pdf_source(data)).close()
    except pypdfium2.PdfiumError as error:
        return bool(error.err_code == raw.FPDF_ERR_PASSWORD)
    return False


BATCH = 100  # pages; a part has its own running headers and style
DAMAGE_CURE = "download it again, or open it and print it to a new PDF"
KEPT = 500  # pages that PDFium caches, 50 kB each
Data = bytes | MappedFile


def layout_batches(path: Path, data: Data, limits: Limits, pages: int) -> Iterator[Any]:
    """Yield LiteParse's results for the file's `pages`, one part at a time.

    The next part is laid out in another thread while one is processed. Raises LoadError
    with the reason and a hint.
    """
    if pages > limits.max_pages:
        raise LoadError(
            path.name,
            f"{pages} pages are more than the limit of {limits.max_pages}",
            "split the file or raise ingest.max_pages",
        )
    if pages <= BATCH:
        yield _whole(path, data, limits)
        return
    size = math.ceil(pages / math.ceil(pages / BATCH))
    session = _BatchSession(path)
    with ThreadPoolExecutor(1) as thread:
        try:
            thread.submit(session.open, limits, data, size).result()
            coming = thread.submit(session.next)
            waiting = [coming.result()]
            while waiting[0] is not None:
                coming = thread.submit(session.next)
                yield waiting.pop()  # not kept here, because it takes tens of megabytes
                _give_back()
                waiting.append(coming.result())
        finally:
            thread.submit(session.close).result()


def _give_back() -> None:
    """Return freed memory to the system, if the C library supports it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _whole(path: Path, data: Data, limits: Limits) -> Any:
    try:
        result = _laid_out(_parser(limits), data)
    except ParseError as error:
        raise _explain_refusal(path, str(error)) from error
    if not result.num_pages:  # accessing the pages copies them
        reason = result.page_errors[0].message if result.page_errors else "no pages"
        raise LoadError(
            path.name, f"none of its pages can be read ({reason})", DAMAGE_CURE
        )
    return result


class _BatchSession:
    """LiteParse's pages part by part, in one thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._batches: Any = None

    def open(self, limits: Limits, data: Data, size: int) -> None:
        engine: Any = _parser(limits)._native  # noqa: SLF001 - as `_laid_out` tells
        with _refusing(self._path):
            self._batches = (
                engine.open_batch_session(str(data.file), size)
                if isinstance(data, MappedFile)
                else engine.open_batch_session_bytes(data, size)
            )

    def next(self) -> Any:
        with _refusing(self._path):
            batch = self._batches.next_batch()
        return batch.result if batch is not None else None

    def close(self) -> None:
        self._batches = None


def _parser(limits: Limits) -> LiteParse:
    return LiteParse(
        ocr_enabled=False,
        quiet=True,
        output_format="markdown",
        extract_blocks=True,
        emit_word_boxes=True,
        max_pages=limits.max_pages,
        continue_on_page_error=True,
        keep_headers_footers=True,
        extract_vector_graphics=True,
        num_workers=1,
    )


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except (ParseError, RuntimeError, ValueError, OSError) as error:
        raise _explain_refusal(path, str(error)) from error


def _laid_out(parser: LiteParse, data: Data) -> Any:
    """Return LiteParse's pages without the copy that `parse` makes of every field.

    The copy takes half as long as the layout; the underlying objects have the same
    attributes. Versions without them are asked for the copy.
    """
    engine: Any = getattr(parser, "_native", None)
    if not hasattr(engine, "parse_bytes"):
        return parser.parse(pdf_source(data))
    try:
        if isinstance(data, MappedFile):
            return engine.parse(str(data.file))
        return engine.parse_bytes(data)
    except Exception as error:
        raise ParseError(str(error)) from error


def _explain_refusal(path: Path, message: str) -> LoadError:
    if "password" in message.lower():
        return LoadError(
            path.name,
            LOCKED,
            CURE,
        )
    return LoadError(
        path.name,
        "the PDF is damaged or incomplete",
        DAMAGE_CURE,
    )


class PdfFile:
    """A file in PDFium, which caches everything it has read until it is closed."""

    def __init__(self, path: Path, data: Data) -> None:
        """Raises LoadError."""
        self._path = path
        self._data = data
        self._first = 1
        self.pdf = self._open()

    def go_on(self, number: int) -> None:
        """Drop the cached pages before `number` if they are many, by reopening."""
        if number - self._first >= KEPT:
            self.pdf.close()
            self.pdf = self._open()
            self._first = number

    def _open(self) -> pypdfium2.PdfDocument:
        try:
            return pypdfium2.PdfDocument(pdf_source(self._data))
        except pypdfium2.PdfiumError as error:
            raise _explain_refusal(self._path, str(error)) from error


@contextlib.contextmanager
def open_pdf(path: Path, data: Data) -> Iterator[PdfFile]:
    """The file in PDFium while the block runs. Raises LoadError."""
    file = PdfFile(path, data)
    try:
        yield file
    finally:
        file.pdf.close()


def read_outline(pdf: pypdfium2.PdfDocument) -> Outline:
    """The bookmarks that lead to a page."""
    outline = []
    for bookmark in pdf.get_toc(max_depth=8):
        target = bookmark.get_dest()
        index = target.get_index() if target is not None else None
        if index is not None:
            outline.append((bookmark.level + 1, bookmark.get_title(), index + 1))
    return outline
