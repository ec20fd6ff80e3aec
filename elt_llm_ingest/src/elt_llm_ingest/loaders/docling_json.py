"""Loads documents and chunks that Docling has written as JSON."""

from typing_extensions import override

from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.loaders.base import BuiltIn, Loader


class DoclingJsonLoader(Strategy[Loader]):
    """documents and chunks in Docling's JSON, by `elt_llm_ingest.formats`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("docling_json")
