"""The column that names the rows of a table, which need not be its first."""

import re
from collections.abc import Sequence

from elt_llm_core.tables.column_types import Kind, Typed

# What is written above identifiers in English, German, Spanish and French; in a header
# such as "Inv. no." or "Asset ID" it is the last word.
_IDENTIFIER = re.compile(
    r"(?:^|[^\w])(?:ids?|identifiers?|no|nos|nr|num|n[\u00ba\u00b0]|numbers?|codes?|keys?"
    r"|refs?|references?|tags?|serials?|kennung|kennzeichen|nummer|k\u00fcrzel"
    r"|schl\u00fcssel|c\u00f3digo|clave|n\u00famero|num\u00e9ro|#)\W*$"
    r"|\w(?:-?(?:ID|Id|Nr|No))\W*$|\w(?:nummer|kennung|schl\u00fcssel)\W*$",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"\b(?:name|title|bezeichnung|nombre|nom|titul[oa]?)$", re.IGNORECASE
)
_CODE = re.compile(r"(?=\D*\d)[\w.:/#-]+")  # "A01", "LAB-3", "4711"; no sentence
_WORD = re.compile(r"[^\W_]+")
_BARE = re.compile(r"[\d.]+")
# Characters. The names in the inventories of the benchmarks have up to 52; a column of
# requirements or remarks has sentences, which name nothing.
_LONGEST_NAME = 80


def label_column(types: Sequence[Typed], headers: Sequence[str], title: str) -> int:
    """Return the column that names the rows.

    It is the first, unless that has serial numbers or identifiers: then the column of
    unique names whose header is in the title of the table, or says "name", or the first
    column of unique names. Codes below another header than one of identifiers
    ("Grade": G1, G2) are names themselves, unless a later header is in the title.

    Args:
        types: The columns with their values.
        headers: The headers of the columns.
        title: The title of the table, such as the name of its sheet.
    """
    first = types[0].values if types else ()
    serial = len(first) > 1 and first == tuple(range(1, len(first) + 1))
    names = [c for c in range(1, len(types)) if _are_names(types[c])]
    if serial and len(types) > 1:
        return 1 if types[1].kind is Kind.TEXT else next(iter(names), 0)
    texts = [str(v) for v in first if v is not None]
    if not _are_codes(texts, len(first)):
        return 0
    titled = [c for c in names if _is_in_title(headers[c], title)]
    if titled and not all(map(_BARE.fullmatch, texts)):
        return titled[0]
    if not _IDENTIFIER.search(headers[0]):
        return 0
    named = [c for c in names if _NAME.search(headers[c].strip())]
    return next(iter([*titled, *named, *names]), 0)


def _are_codes(texts: Sequence[str], rows: int) -> bool:
    """Return True if each row has a code of its own."""
    unique = len({*texts}) == rows
    return rows > 1 and unique and all(map(_CODE.fullmatch, texts))


def _are_names(column: Typed) -> bool:
    """Return True if each row has a short text of its own that is no code."""
    texts = [str(v) for v in column.values if v]
    return (
        column.kind is Kind.TEXT
        and len({t.casefold() for t in texts}) == len(column.values)
        and all(len(t) <= _LONGEST_NAME for t in texts)
        and not all(map(_CODE.fullmatch, texts))
    )


def _is_in_title(header: str, title: str) -> bool:
    """Return True for "Application" below the title "Applications", plural or not."""
    short = header.casefold().strip()
    forms = {short, f"{short}s", f"{short}es", f"{short}e", f"{short}n", f"{short}en"}
    forms |= {f"{short[:-1]}ies"} if short.endswith("y") else set()
    line = f" {' '.join(_WORD.findall(title.casefold()))} "
    return bool(short) and any(f" {form} " in line for form in forms)
