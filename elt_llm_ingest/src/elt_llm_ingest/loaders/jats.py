"""Loads articles in JATS XML."""

from typing_extensions import override

from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.loaders.base import BuiltIn, Loader


class JatsLoader(Strategy[Loader]):
    """articles in JATS XML, by `elt_llm_ingest.formats`."""

    @override
    def build(self, models: Models) -> Loader:
        return BuiltIn("jats")
