"""Bytes to text, saying so where the encoding had to be detected."""

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
SAMPLE = 65_536  # bytes that are enough to tell an encoding
BEFORE = 2_000  # of them before the first byte that is not UTF-8
# Of sixteen encodings the right one had .07 or more for a line of text; what was told
# of a single odd byte had .04 at most, and is nothing but Windows-1252 then.
LEAST = 0.05
READABLE = 0.97  # share of characters that can be printed, in any text
# What a detector calls by the name of its core is mostly written in the larger one.
LARGER = {
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
}
UNKNOWN = (
    "the encoding of the text could not be detected and it was read as Windows-1252; "
    "save it as UTF-8 if letters look wrong"
)
DETECTED = (
    "the text is not UTF-8 and was read as {name}, which was detected; "
    "save it as UTF-8 if letters look wrong"
)
_SPACES = frozenset("\n\r\t\f\v")


def decoded(path: Path, data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text with Unix newlines, and a warning where the encoding was detected.

    Raises LoadError for bytes that are no text.
    """
    encoding = next((name for mark, name in MARKS if data.startswith(mark)), "utf-8")
    warnings: tuple[str, ...] = ()
    if encoding == "utf-8" and (unmarked := unmarked_utf16(data)):
        text = data.decode(unmarked)
        warnings = (DETECTED.format(name=f"{unmarked.upper()} without a mark"),)
    elif (japanese := _iso_2022_jp(data)) is not None:
        text, warnings = japanese, (DETECTED.format(name="ISO-2022-JP"),)
    else:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            text, warnings = _detected(data, error.start)
    if "\x00" in text:
        raise zero_bytes(path, data)
    return text.replace("\r\n", "\n").replace("\r", "\n"), warnings


def unmarked_utf16(data: bytes) -> str:
    """The byte order of UTF-16 text that lacks its mark; empty for anything else."""
    sample = data[:SAMPLE]
    if b"\x00" not in sample or len(data) % 2:
        return ""
    shares = {}
    for name in ("utf-16-le", "utf-16-be"):
        try:
            text = sample.decode(name)
        except UnicodeDecodeError as error:
            if error.end < len(sample):  # not merely cut in the middle
                continue
            text = sample.decode(name, errors="ignore")
        if text and _readable(text) >= READABLE:
            # In the wrong order, spaces and line ends become rare characters.
            shares[name] = sum(char.isascii() for char in text)
    best = max(sorted(shares), key=shares.__getitem__, default="")
    return best if shares.get(best) else ""


def zero_bytes(path: Path, data: bytes) -> LoadError:
    """The error for text that zero bytes stand in."""
    reason = (
        f"its text holds {data.count(0):,} zero bytes, the first at byte "
        f"{data.find(0):,}: it is damaged, binary data, or in an unknown encoding"
    )
    return LoadError(path.name, reason, "export it again as UTF-8 text")


def _iso_2022_jp(data: bytes) -> str | None:
    """The text of the Japanese encoding whose bytes are ASCII; None for any other."""
    if b"\x1b$" not in data or not data.isascii():
        return None
    try:
        return data.decode("iso2022_jp_ext")
    except UnicodeDecodeError:
        return None


def _readable(text: str) -> float:
    return sum(c.isprintable() or c in _SPACES for c in text) / len(text)


def _detected(data: bytes, start: int) -> tuple[str, tuple[str, ...]]:
    """The text in the most likely encoding, from `start` on not UTF-8."""
    # Here: most files are UTF-8 and need no detector.
    import chardet  # noqa: PLC0415

    first = max(start - BEFORE, 0)
    # Code pages of DOS, Macintoshes and mainframes only take texts from the others.
    era = chardet.EncodingEra.MODERN_WEB | chardet.EncodingEra.LEGACY_ISO
    guess = chardet.detect(data[first : first + SAMPLE], encoding_era=era)
    found = guess["encoding"] if guess["confidence"] >= LEAST else None
    for name in (found, "cp1252"):
        try:
            codec = codecs.lookup(name or "cp1252").name
            text = data.decode(LARGER.get(codec, codec))
        except (LookupError, UnicodeDecodeError):
            continue
        if found and name == found and _readable(text[:SAMPLE]) >= READABLE:
            return text, (DETECTED.format(name=found),)
    return data.decode("cp1252", errors="replace"), (UNKNOWN,)
