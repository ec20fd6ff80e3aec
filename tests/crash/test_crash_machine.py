"""Whatever is done to a store in whatever order, it tells what a dictionary tells."""

import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from crash_files import NOUNS, VERBS
from crash_model import (
    EMBEDDER,
    NAME,
    Change,
    Model,
    after,
    apply,
    bm25,
    cosines,
    index_texts,
    stored,
)
from crash_warm import HERE, Warm
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from elt_llm_core.crash import CrashPoint
from elt_llm_core.store import Store

EXACT = 2e-3  # vectors are kept in half precision
NAMES = st.sampled_from([f"{letter}.txt" for letter in "abcde"])
WORDS = st.lists(
    st.sampled_from([*NOUNS[:12], *VERBS[:4]]), min_size=2, max_size=7
).map(" ".join)
TEXTS = st.lists(WORDS, min_size=1, max_size=6, unique=True)
POINTS = st.sampled_from(
    [
        point
        for point in CrashPoint
        if point.startswith(("document.", "build.", "verify.", "publish."))
    ]
)


class StoreMachine(RuleBasedStateMachine):
    """The store, the dictionary, and a way to crash."""

    warm: Warm

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="elt-machine-"))
        self.store = Store(self.folder / "data")
        self.model: Model = {}

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.store.close()
            shutil.rmtree(self.folder)

    def change(self, change: Change) -> None:
        apply(self.store, change)
        self.model = after(self.model, change)

    @rule(name=NAMES, texts=TEXTS)
    def put(self, name: str, texts: list[str]) -> None:
        self.change({"do": "put", "name": name, "texts": texts})

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.model)))
        self.change({"do": "remove", "name": name})

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def rename(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.model)))
        texts = self.model[name]
        self.change({"do": "put", "name": f"new-{name}", "texts": texts})
        self.change({"do": "remove", "name": name})

    @precondition(lambda self: self.model)
    @rule(force=st.booleans())
    def publish(self, force: bool) -> None:
        self.change({"do": "publish", "force": force})

    @rule(point=POINTS, nth=st.integers(1, 3), name=NAMES, texts=TEXTS, kind=st.data())
    def crash(
        self,
        point: CrashPoint,
        nth: int,
        name: str,
        texts: list[str],
        kind: st.DataObject,
    ) -> None:
        kinds = ["put", "remove", "publish"] if self.model else ["put"]
        chosen = kind.draw(st.sampled_from(kinds))
        change: Change = {"do": chosen, "name": name, "texts": texts, "force": True}
        step = [str(HERE / "crash_steps.py"), "change", str(self.store.data_dir)]
        code, _, err = self.warm.run(
            [*step, json.dumps(change)], ELT_CRASH_AT=f"{point}:{nth}"
        )
        assert code in {0, -9} or point.startswith(("build.", "verify.")), err
        done = after(self.model, change)
        assert stored(self.store) in (self.model, done)
        if code == 0:
            assert stored(self.store) == done
        self.model = stored(self.store)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store(self.folder / "data")

    @invariant()
    def tells_the_same(self) -> None:
        assert stored(self.store) == self.model

    @precondition(lambda self: self.model)
    @rule(question=WORDS, k=st.integers(1, 12), data=st.data())
    def search(self, question: str, k: int, data: st.DataObject) -> None:
        collection = self.store.open(NAME)
        names = data.draw(st.sets(st.sampled_from(sorted(self.model)), min_size=1))
        known = index_texts(self.store)
        every = {node: text for node, (_, text) in known.items()}
        some = {node: every[node] for node, (name, _) in known.items() if name in names}
        allowed = collection.ids({"document": sorted(names)})
        assert allowed == set(some)
        vector = EMBEDDER.embed_array([question])[0]
        for texts, limit in ((every, None), (some, allowed)):
            same_best(
                collection.search_dense(vector, k, limit), cosines(texts, vector), k
            )
            words = collection.search_keyword(question, len(every), limit)
            assert {node for node, _ in words} == set(bm25(texts, question))

    @precondition(lambda self: self.model)
    @rule(question=WORDS, k=st.integers(1, 12))
    def search_what_is_published(self, question: str, k: int) -> None:
        self.change({"do": "publish", "force": True})
        collection = self.store.open(NAME)
        if collection.generation:
            every = {n: text for n, (_, text) in index_texts(self.store).items()}
            same_best(collection.search_keyword(question, k), bm25(every, question), k)


def same_best(
    hits: list[tuple[str, float]], expected: dict[str, float], k: int
) -> None:
    """The `k` best of what is expected, best first; equals may stand for each other."""
    best = np.sort(np.array(list(expected.values())))[::-1][:k]
    scores = np.array([score for _, score in hits])
    assert scores.shape == best.shape
    assert np.abs(scores - best).max(initial=0) < EXACT
    assert len({node for node, _ in hits}) == len(hits)
    for node, score in hits:
        assert abs(expected[node] - score) < EXACT


def test_a_store_is_a_dictionary_whatever_happens(
    warm: Warm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(warm.python))  # builders start at once
    StoreMachine.warm = warm
    run_state_machine_as_test(
        StoreMachine,
        settings=settings(
            max_examples=8,
            stateful_step_count=12,
            derandomize=True,
            database=None,
            deadline=None,
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
        ),
    )
