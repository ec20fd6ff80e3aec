"""Loads LeanIX models drawn in draw.io."""

from typing_extensions import override

from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.loaders.base import BuiltIn, Loader


class LeanixDrawioLoader(Strategy[Loader]):
    """LeanIX models drawn in draw.io, by `elt_llm_ingest.formats`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("leanix_drawio")
