"""A filter costs no hits: both searches give exactly k of the chunks that match."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core_stores import SUBJECTS, new_document, put
from elt_llm_core import provenance
from elt_llm_core.store import Store
from elt_llm_core.store.collection import Collection
from elt_llm_core.testing import HashEmbedding

SIZE, NEWER = 300, 100  # chunks in the index, and newer than it
EVERY = 20  # one chunk in so many matches
K = 7
QUESTION = "a kite over the harbour"
FILTERS: dict[str, tuple[str, Any]] = {
    "kind": ("kind", "figure"),
    "section": ("section", "Fees"),
    "page": ("page", 3),
    "rule": ("rule", "C12*"),
    "date": ("date", "2024-01..2024-06"),
    "source": ("source", "harbour"),
}


def shelf(name: str, size: int) -> Any:
    """Chunks about the same words; every twentieth is what the filters ask for."""
    words = [SUBJECTS[n % len(SUBJECTS)] for n in range(size)]
    texts = [
        f"The {word} of {name} {n} is a harbour kite." for n, word in enumerate(words)
    ]
    new = new_document(name, texts)
    nodes = []
    for n, node in enumerate(new.nodes):
        hit = n % EVERY == 0
        place = provenance.read(node).model_copy(
            update={
                "kind": "figure" if hit else "prose",
                "section": "Fees > Late fees" if hit else "Fines",
                "page": 2 if hit else 5,
                "end_page": 3 if hit else 5,
                "rules": ("C12(a)",) if hit else ("C1",),
                "date": "2024-05-01" if hit else "2024-07-01",
            }
        )
        written = provenance.write(node, place)
        written.metadata["source"] = "harbour" if hit else "council"
        nodes.append(written)
    return replace(new, nodes=nodes)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """An index, and a document that is newer than it."""
    store = Store(tmp_path_factory.mktemp("filtered") / "data")
    put(store, "book", shelf("old", SIZE))
    put(store, "book", shelf("new", NEWER), publish=False)
    return store


@pytest.fixture(scope="module", params=["index and newer", "exact engine"])
def collection(
    request: pytest.FixtureRequest, filled: Store, tmp_path_factory: Any
) -> Iterator[Collection]:
    if request.param == "exact engine":
        copy = tmp_path_factory.mktemp("exact") / "data"
        shutil.copytree(filled.data_dir, copy)
        for manifest in copy.rglob("MANIFEST.json"):
            manifest.unlink()
        yield Store(copy).open("book")
    else:
        opened = filled.open("book")
        assert opened.generation
        yield opened


@pytest.mark.parametrize("name", sorted(FILTERS))
def test_both_searches_give_k_that_match(collection: Collection, name: str) -> None:
    key, value = FILTERS[name]
    allowed = collection.ids({key: value})
    assert len(allowed) == (SIZE + NEWER) // EVERY
    vector = HashEmbedding().embed_array([QUESTION])[0]
    dense = collection.search_dense(vector, K, allowed)
    words = collection.search_keyword(QUESTION, K, allowed)
    for hits in (dense, words):
        found = {node for node, _ in hits}
        assert len(found) == len(hits) == K
        assert found <= allowed


def test_the_nearest_of_those_that_match_come_first(collection: Collection) -> None:
    allowed = collection.ids({"kind": "figure"})
    vector = HashEmbedding().embed_array([QUESTION])[0]
    exact = {key: float(v @ vector) for key, v in collection.vectors(allowed).items()}
    found = collection.search_dense(vector, K, allowed)
    scores = [score for _, score in found]
    assert np.allclose(scores, [exact[key] for key, _ in found], atol=1e-3)
    # The order of equal cosines is theirs to choose.
    assert np.allclose(scores, sorted(exact.values(), reverse=True)[:K], atol=1e-3)


@pytest.mark.parametrize(("k", "count"), [(1, 1), (20, 20), (50, 20)])
def test_there_are_k_while_there_are_k(
    collection: Collection, k: int, count: int
) -> None:
    allowed = collection.ids({"rule": "C12(a)", "page": [2, 3], "source": "harbour"})
    vector = HashEmbedding().embed_array([QUESTION])[0]
    assert len(collection.search_dense(vector, k, allowed)) == count
    assert len(collection.search_keyword(QUESTION, k, allowed)) == count


def test_a_filter_that_nothing_matches_gives_nothing(collection: Collection) -> None:
    allowed = collection.ids({"kind": "figure", "section": "Fines"})
    vector = HashEmbedding().embed_array([QUESTION])[0]
    assert collection.search_dense(vector, K, allowed) == []
    assert collection.search_keyword(QUESTION, K, allowed) == []
