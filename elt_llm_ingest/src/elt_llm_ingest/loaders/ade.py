"""Loads documents that LandingAI ADE has parsed."""

from typing_extensions import override

from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.loaders.base import BuiltIn, Loader


class AdeLoader(Strategy[Loader]):
    """documents that LandingAI ADE has parsed, by `elt_llm_ingest.formats`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("ade")
