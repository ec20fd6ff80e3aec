"""Loader names with their functions, imported only when needed."""

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from elt_llm_core.document import ParsedDocument
from elt_llm_ingest.limits import Limits

MODULES = {
    "archimate": "elt_llm_ingest.readers.archimate.archimate_model",
    "ade": "elt_llm_ingest.readers.exports.ade",
    "csv": "elt_llm_ingest.readers.csv",
    "docling_json": "elt_llm_ingest.readers.exports.docling_json",
    "epub": "elt_llm_ingest.readers.web.epub",
    "html": "elt_llm_ingest.readers.web.html",
    "image": "elt_llm_ingest.readers.image",
    "jats": "elt_llm_ingest.readers.xml.jats",
    "leanix_drawio": "elt_llm_ingest.readers.enterprise.drawio",
    "leanix_inventory": "elt_llm_ingest.readers.enterprise.inventory",
    "mail": "elt_llm_ingest.readers.web.mail",
    "markdown": "elt_llm_ingest.readers.markdown",
    "office": "elt_llm_ingest.readers.office.word_powerpoint",
    "pdf": "elt_llm_ingest.readers.pdf.document",
    "spreadsheet": "elt_llm_ingest.readers.office.spreadsheet",
    "text": "elt_llm_ingest.readers.text_file",
}
# A loader's version is incremented with any change of its output, so that only files
# that it read before are read again; LAYER applies to all loaders.
VERSIONS = dict.fromkeys(MODULES, "1") | {
    "ade": "3",
    "archimate": "4",
    "csv": "7",
    "epub": "6",
    "html": "7",
    "jats": "2",
    "leanix_drawio": "6",
    "leanix_inventory": "7",
    "mail": "6",
    "markdown": "4",
    "spreadsheet": "6",
    "text": "2",
    "office": "5",
    "pdf": "8",
}
LAYER = "3"


class Parse(Protocol):
    """Converts the bytes of a file to documents."""

    def __call__(self, path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
        """Return the documents of one file. Raises LoadError."""


def parser_of(name: str) -> Parse:
    """Return the function of a built-in loader. Raises KeyError for any other name."""
    return cast("Parse", import_module(MODULES[name]).parse)
