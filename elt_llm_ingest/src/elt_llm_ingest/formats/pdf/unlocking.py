"""Protected PDFs: their bytes without the protection, where a password opens them."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pypdfium2
from pypdfium2 import raw

from elt_llm_core.errors import LoadError
from elt_llm_ingest.held import Held, source

Given = TypeVar("Given", bound=bytes | Held)
LOCKED = "it is protected by a password"
CURE = (
    "give the same command --password -, which asks for it, or list it in the file "
    "that ingest.password_file names"
)


def unlocked(path: Path, data: Given, passwords: Sequence[str]) -> Given | bytes:
    """The PDF as it can be read without a password.

    A file that opens by itself, and one that is damaged, comes back as it is. Raises
    LoadError where a password is needed and none of these is it.
    """
    if not passwords or not _needs_password(data):
        return data
    for password in passwords:
        try:
            pdf = pypdfium2.PdfDocument(source(data), password=password)
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


def _needs_password(data: bytes | Held) -> bool:
    try:
        pypdfium2.PdfDocument(source(data)).close()
    except pypdfium2.PdfiumError as error:
        return bool(error.err_code == raw.FPDF_ERR_PASSWORD)
    return False
