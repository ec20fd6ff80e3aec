"""What the stored form of a file depends on, beside its bytes and its address.

The key of a document tells the loader in clear, so that a change of one loader is seen
on its own documents without reading a file again.
"""

import json
from functools import cache
from importlib.metadata import entry_points

from elt_llm_core.config import RagConfig
from elt_llm_core.names import digest
from elt_llm_ingest.formats.registry import LAYER, VERSIONS

# A chunker's number rises with anything that makes it cut otherwise: documents that it
# cut before are cut again then.
CHUNKERS = {
    "hierarchical": "2",
    "proposition": "2",
    "section_aware": "2",
    "semantic": "2",
    "sentence": "3",
    "sentence_window": "2",
    "table_aware": "2",
}


class Keys:
    """The keys of one run's documents."""

    def __init__(self, config: RagConfig, metadata: object) -> None:
        chunking = config.chunking
        name = chunking.strategy
        version = CHUNKERS.get(name) or _package("elt_llm.chunkers", name)
        shown = json.dumps(chunking.model_dump(mode="json"), sort_keys=True)
        extra = json.dumps(metadata, sort_keys=True)
        added = (
            config.enrichment.model_dump_json() if config.enrichment.strategy else ""
        )
        self._shared = digest(shown, version, extra, added)
        self._known: dict[tuple[str, str, int], str] = {}

    def key(self, loader: str, title: str = "", parts: int = 1) -> str:
        """The key of each document of a file that `loader` made into `parts`."""
        wanted = (loader, title, parts)
        if wanted not in self._known:
            made = digest("ingest", version_of(loader), self._shared, title)[:16]
            count = f"/{parts}" if parts > 1 else ""
            self._known[wanted] = f"{loader} {made}{count}"
        return self._known[wanted]

    def same(self, keys: list[str], title: str = "") -> bool:
        """Whether documents with these keys are all of a file, made as they would be.

        A file of several parts whose run was cut off between two of them is not.
        """
        loader = keys[0].partition(" ")[0]
        wanted = self.key(loader, title, len(keys))
        return all(key == wanted for key in keys)


@cache
def version_of(loader: str) -> str:
    """The version of a loader: ours as listed, a stranger's as its package's."""
    return f"{LAYER}.{VERSIONS.get(loader) or _package('elt_llm.loaders', loader)}"


def _package(group: str, name: str) -> str:
    """The version of the package that brings an entry point; empty where none does."""
    found = entry_points(group=group, name=name)
    return next((p.dist.version for p in found if p.dist), "")
