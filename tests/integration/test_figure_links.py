"""Figures and the passages that mention them are linked, in both directions."""

from pathlib import Path

import pytest

from elt_llm_core.config.loader import RagConfig, load_config
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from elt_llm_query import query_collections, search_collections

HANDBOOK = """<html><head><title>Quay</title></head><body><h1>The north quay</h1>
<p>A crew moors at the third ring, as Figure 1 shows.</p>
<figure><img src="r.png"><figcaption>Figure 1. Rings of the quay, from the
gate.</figcaption></figure>
<h1>Lamps</h1>
<p>The keeper lights the red lamp at dusk (see Figs. 2 and 3).</p>
<figure><img src="l.png"><figcaption>Figure 2. The red lamp.</figcaption></figure>
<figure><img src="m.png"><figcaption>Figure 3. The mast.</figcaption></figure>
<h1>Boats</h1><p>A boat has two oars, and no picture such as Figure 9.</p>
</body></html>"""
PUMP = """# Pump

Figure 1 shows the housing and the inlet valve.

![Figure 1: The housing](housing.png)

# Cleaning

Clean the valve, see Figure 1.
"""
GERMAN = """# Der Kai

Die Mannschaft legt am dritten Ring an, siehe Abbildung 1.

# Bilder

Abbildung 1: Die Ringe des Kais.
"""


class Quay:
    """Three documents in a store of their own."""

    def __init__(self, folder: Path) -> None:
        (folder / "quay.html").write_text(HANDBOOK, encoding="utf-8")
        (folder / "pump.md").write_text(PUMP, encoding="utf-8")
        (folder / "kai.md").write_text(GERMAN, encoding="utf-8")
        self.models = build_models(RagConfig())
        self.store = Store(folder / "data")
        for file in ("quay.html", "kai.md", "pump.md"):
            name = Path(file).stem
            told = {"paths": [str(folder / file)], "collection": name}
            JOBS.load("ingest", told).build(self.models)(
                JobContext(RagConfig(), self.store)
            )

    def given(self, **query: object) -> dict:
        config = load_config(environ={}, overrides={"query": query})
        return {"store": self.store, "models": self.models, "config": config}


@pytest.fixture(scope="module")
def quay(tmp_path_factory: pytest.TempPathFactory) -> Quay:
    return Quay(tmp_path_factory.mktemp("quay"))


def test_an_answer_says_which_figures_its_passage_mentions(quay):
    question = "When does the keeper light the red lamp?"
    result = query_collections(["quay"], question, **quay.given())
    cited = {c.node_id for c in result.citations}
    (source,) = [s for s in result.sources if s.node_id in cited]
    assert [(f.number, f.text) for f in source.figures] == [
        ("2", "Figure 2. The red lamp."),
        ("3", "Figure 3. The mast."),
    ]
    nodes = quay.store.open("quay").nodes([f.node_id for f in source.figures])
    assert {node.metadata["kind"] for node in nodes.values()} == {"figure"}


def test_a_figure_says_who_mentions_it(quay):
    found = search_collections(["quay"], "rings from the gate", **quay.given())
    (figure,) = [s for s in found.sources if s.text.startswith("Figure 1.")]
    (mention,) = figure.mentioned_by
    assert "A crew moors at the third ring" in mention.text
    assert figure.label.startswith("F")
    assert not figure.figures


def test_filters_go_in_both_directions(quay):
    collection = quay.store.open("quay")
    assert len(collection.ids({"figure": ["2", "3"]})) == 2
    (lamp,) = collection.ids({"mentioned_figure": "3"})
    assert "red lamp at dusk" in collection.nodes([lamp])[lamp].get_content()
    assert not collection.ids({"mentioned_figure": "9"})


def test_a_sentence_beside_the_caption_mentions_the_figure_too(quay):
    collection = quay.store.open("pump")
    (held,) = collection.ids({"figure": "Figure 1"})
    mentions = collection.ids({"mentioned_figure": "fig. 1"})
    assert len(mentions) == 2
    assert held in mentions
    found = search_collections(["pump"], "housing inlet valve", **quay.given())
    source = next(s for s in found.sources if s.node_id == held)
    assert not source.figures
    assert [each.node_id for each in source.mentioned_by] == list(mentions - {held})


def test_a_caption_that_is_a_paragraph_counts_in_german_too(quay):
    collection = quay.store.open("kai")
    (held,) = collection.ids({"figure": "1"})
    (mention,) = collection.ids({"mentioned_figure": "1"})
    assert "Die Ringe" in collection.nodes([held])[held].get_content()
    assert "Mannschaft" in collection.nodes([mention])[mention].get_content()


def test_figures_that_are_mentioned_are_the_first_to_be_added(quay):
    given = quay.given(
        similarity_top_k=1,
        use_reranker=False,
        postprocessor_strategy=["figures"],
        postprocessor_options={"figures": {"most": 1}},
    )
    question = "Where does a crew moor?"
    found = search_collections(["quay"], question, k=1, **given)
    texts = [s.text for s in found.sources if s.kind == "figure"]
    assert texts == ["Figure 1. Rings of the quay, from the gate."]
