"""Names of files that strangers send."""

import unicodedata

from elt_llm_core.errors import UsageError

LONGEST = 200  # bytes; file systems take 255 and the ending may grow
FORBIDDEN = frozenset('/\\:*?"<>|%')
RESERVED = frozenset({"con", "prn", "aux", "nul"})


def upload_name(name: str) -> str:
    """The name itself, where it is one plain file name; else UsageError.

    Nothing is repaired: a name with a folder in it was not meant for us.
    """
    plain = unicodedata.normalize("NFKC", name)
    bad = (
        not plain.strip(". ")
        or len(plain.encode("utf-8", "replace")) > LONGEST
        or any(c in FORBIDDEN or unicodedata.category(c)[0] == "C" for c in plain)
        or plain.startswith(".")
        or plain.partition(".")[0].strip().casefold() in RESERVED
    )
    if bad:
        raise UsageError(
            f"{name[:80]!r} cannot be taken as a file name",
            "use letters, digits, spaces, '.', '-' and '_', at most 200 bytes",
        )
    return plain
