"""A published generation, opened for reading."""

import json

import numpy as np

from elt_llm_core.errors import GenerationError
from elt_llm_core.store.dense import DenseIndex
from elt_llm_core.store.keyword import KeywordIndex
from elt_llm_core.store.manifest import IndexFolder, Manifest


class Generation:
    """The indexes of one generation, checked and open."""

    def __init__(self, folder: IndexFolder, manifest: Manifest) -> None:
        self.manifest = manifest
        path = folder.path(manifest.generation)
        folder.check(path)
        try:
            self.ids: list[str] = json.loads((path / "ids.json").read_bytes())
            self.keywords = KeywordIndex(path / "keywords")
        except (OSError, ValueError, KeyError) as error:
            raise GenerationError(folder.collection, str(error)) from error
        self.dense = DenseIndex(path / "vectors", folder.collection)
        # Chroma reads the graph when it is first searched, and a later generation may
        # have taken the place of the files by then: search now.
        self.dense.search(np.ones(manifest.dimension), 1)
        self.positions = {node: i for i, node in enumerate(self.ids)}
