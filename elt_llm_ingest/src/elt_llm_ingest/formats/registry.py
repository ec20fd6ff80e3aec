"""Loader names to the functions that read; nothing is imported before it is needed."""

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from elt_llm_core.document import ParsedDocument
from elt_llm_ingest.safety import Limits

MODULES = {
    "csv": "elt_llm_ingest.formats.csv",
    "html": "elt_llm_ingest.formats.html",
    "leanix_drawio": "elt_llm_ingest.formats.drawio.document",
    "leanix_inventory": "elt_llm_ingest.formats.inventory",
    "markdown": "elt_llm_ingest.formats.markdown",
    "office": "elt_llm_ingest.formats.office",
    "pdf": "elt_llm_ingest.formats.pdf.document",
    "spreadsheet": "elt_llm_ingest.formats.spreadsheet",
    "text": "elt_llm_ingest.formats.text",
}
# Changes with anything that makes documents come out otherwise, so that files that were
# read before are read again.
LAYER = "2"


class Parse(Protocol):
    """Turns the bytes of a file into documents."""

    def __call__(self, path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
        """The documents of one file. Raises LoadError."""


def parser_of(name: str) -> Parse:
    """The function behind a loader of ours. Raises KeyError for any other name."""
    return cast("Parse", import_module(MODULES[name]).parse)
