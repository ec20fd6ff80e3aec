"""Tables read as if no page drew a line: what alignment alone makes of them."""

import contextlib
from collections.abc import Iterator
from typing import Any

from elt_llm_ingest.readers.pdf import sheets
from elt_llm_ingest.readers.pdf.tables.rules import NONE


@contextlib.contextmanager
def without_lines() -> Iterator[None]:
    """Drawn lines are not seen while the block runs.

    LiteParse still sees them; its tables count only where ours find none. A file
    rewritten without lines would be another file: its fonts come out otherwise.
    """
    known: Any = vars(sheets)["rules_of"]
    setattr(sheets, "rules_of", lambda _graphics: NONE)  # noqa: B010 - not exported
    try:
        yield
    finally:
        setattr(sheets, "rules_of", known)  # noqa: B010
