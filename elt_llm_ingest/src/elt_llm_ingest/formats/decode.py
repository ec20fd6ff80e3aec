"""Bytes to text, saying so where the encoding had to be guessed."""

import codecs
from pathlib import Path

from elt_llm_core.errors import LoadError

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

GUESSED = (
    "the text is not UTF-8 and was read as Windows-1252; "
    "save it as UTF-8 if letters look wrong"
)


def decoded(path: Path, data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text with Unix newlines, and a warning where the encoding is a guess.

    Raises LoadError for bytes that are no text.
    """
    encoding = next((name for mark, name in MARKS if data.startswith(mark)), "utf-8")
    warnings: tuple[str, ...] = ()
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
        warnings = (GUESSED,)
    if "\x00" in text:
        raise LoadError(
            path.name, "it holds binary data, not text", "export it as text or PDF"
        )
    return text.replace("\r\n", "\n").replace("\r", "\n"), warnings
