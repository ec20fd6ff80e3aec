"""The model as a property graph: any store of LlamaIndex, walks, pictures."""

import asyncio
import re

import pytest
from defusedxml import ElementTree
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core import MockEmbedding, PropertyGraphIndex
from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import EntityNode, Relation
from llama_index.core.indices.property_graph import CustomPGRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery

from elt_llm_core.enterprise.model import EnterpriseModel
from elt_llm_core.errors import UnknownElementError, UsageError
from elt_llm_core.graph import drawing
from elt_llm_core.graph.diagram import DiagramScope, draw_diagram
from elt_llm_core.graph.drawing import mermaid_text, svg_text
from elt_llm_core.graph.graph_nodes import write_graph
from elt_llm_core.graph.model_graph import ModelGraph, graph_of
from elt_llm_core.graph.networkx_store import NetworkxGraphStore
from graph_models import element, relation, shop


@pytest.fixture(params=[NetworkxGraphStore, SimplePropertyGraphStore])
def graph(request) -> ModelGraph:
    """The same walks over NetworkX's store and over LlamaIndex's own."""
    store = request.param()
    write_graph(shop(), store)
    return ModelGraph(store)


def names(around):
    return [(n.element.name, n.distance) for n in around]


def test_a_store_gives_back_the_whole_model(graph):
    assert graph.model == shop()


def test_neighbours_are_counted_in_steps_and_by_direction(graph):
    assert set(names(graph.neighbors("till"))) == {
        ("Ledger", 1), ("Clerk", 1), ("Order", 1),
    }  # fmt: skip
    assert names(graph.neighbors("ledger", direction="in")) == [("Till", 1)]
    two = dict(names(graph.neighbors("till", 2, "out")))
    assert two == {"Ledger": 1, "Clerk": 1, "Order": 1, "Bank": 2, "Goods": 2}
    (ledger,) = graph.neighbors("till", types=["flow"])
    assert [r.name for r in ledger.relations] == ["sales", "refunds"]
    assert graph.neighbors("lone") == []


def test_a_path_follows_relations_then_groups(graph):
    (way,) = graph.paths("clerk", "bank")
    assert [e.name for e in way.elements] == ["Clerk", "Till", "Ledger", "Bank"]
    assert [r.name for r in way.steps[1].relations] == ["sales", "refunds"]
    assert graph.paths("clerk", "bank", directed=True) == []
    (way,) = graph.paths("ledger", "goods", most=1)
    assert [s.contained for s in way.steps] == [False, False, False]
    assert graph.paths("lone", "bank") == []


def test_a_group_with_relations_connects_what_is_in_it():
    model = EnterpriseModel(
        name="m", source_file="m", format="drawio",
        elements=(
            element("G", "G", role="domain"), element("H", "H", role="domain"),
            element("S", "S", role="subtype", parent_id="G"),
            element("a", "a", parent_id="S"), element("b", "b", parent_id="H"),
            element("F", "Folder"), element("c", "c", parent_id="F"),
            element("d", "d", parent_id="F"),
        ),
        relations=(relation("r", "G", "H"),),
    )  # fmt: skip
    graph = graph_of(model)
    (way,) = graph.paths("a", "b")
    assert [e.id for e in way.elements] == ["a", "G", "H", "b"]
    assert [s.contained for s in way.steps] == [True, False, True]
    assert graph.paths("c", "d") == []


def test_dependents_follow_the_meaning_of_each_relation(graph):
    assert names(graph.dependents("till")) == [
        ("Ledger", 1), ("Clerk", 1), ("Bank", 2),
    ]  # fmt: skip
    assert names(graph.dependencies("till")) == [("Order", 1), ("Goods", 2)]
    assert names(graph.dependents("goods", 1)) == [("Order", 1)]
    assert names(graph.dependents("order", 1)) == [("Till", 1)]
    assert [r.name for r in graph.flows("ledger")] == ["sales", "payments", "refunds"]


def test_what_is_above_and_below_and_how_much_there_is(graph):
    assert [e.name for e in graph.ancestors("till")] == ["APPS"]
    assert [e.name for e in graph.descendants("A")] == ["Till", "Ledger"]
    detail = graph.detail("till")
    assert [r.id for r in detail.inherited] == ["r7"]
    assert detail.views == ("Money",)
    summary = graph.summary()
    assert (summary.elements, summary.relations) == (10, 8)
    assert summary.types["DataObject"] == 4
    assert summary.domains == {"APPS": 2, "DATA": 2}


def test_an_unknown_or_ambiguous_name_is_refused_with_the_cure(graph):
    assert graph.resolve("f-1").id == "twin"
    assert graph.resolve("tILL").id == "till"
    with pytest.raises(UnknownElementError, match="did you mean 'Ledger'"):
        graph.resolve("Ledgr")
    with pytest.raises(UsageError, match="2 elements") as caught:
        graph.resolve("Ledger")
    assert "twin" in str(caught.value)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14),
    st.lists(st.integers(-1, 6), min_size=7, max_size=7),
)
def test_walks_end_and_agree_whatever_the_model(pairs, parents):
    model = EnterpriseModel(
        name="m", source_file="m", format="drawio",
        elements=tuple(
            element(str(i), f"E{i}", parent_id=str(p) if p >= 0 else "")
            for i, p in enumerate(parents)
        ),
        relations=tuple(
            relation(f"r{n}", str(a), str(b)) for n, (a, b) in enumerate(pairs)
        ),
    )  # fmt: skip
    graph = graph_of(model)
    for key in graph.index.elements:
        for near in graph.neighbors(key, 7):
            (way, *_) = graph.paths(key, near.element.id)
            assert len(way.steps) == near.distance
            back = {
                n.element.id: n.distance for n in graph.neighbors(near.element.id, 7)
            }
            assert back[key] == near.distance
        assert key not in {e.id for e in graph.descendants(key)}
    draw_diagram(graph)


def test_the_store_opens_in_a_plain_property_graph_index(tmp_path):
    store = graph_of(shop()).store
    index = PropertyGraphIndex.from_existing(
        store, llm=MockLLM(), embed_model=MockEmbedding(4), embed_kg_nodes=False
    )

    class Around(CustomPGRetriever):
        def init(self, **_):
            pass

        def custom_retrieve(self, query_str):
            nodes = self.graph_store.get(ids=[query_str])
            triplets = self.graph_store.get_rel_map(nodes, depth=1)
            return [
                NodeWithScore(node=TextNode(text=" -> ".join(map(str, t))))
                for t in triplets
            ]

    retriever = index.as_retriever(
        sub_retrievers=[Around(store, include_text=False)], include_text=False
    )
    # LlamaIndex's own `retrieve` opens an event loop that nobody closes.
    texts = [n.text for n in asyncio.run(retriever.aretrieve("bank"))]
    assert texts == ["Ledger -> flows to -> Bank"]
    index.storage_context.persist(str(tmp_path))
    kept = NetworkxGraphStore.from_persist_path(
        str(tmp_path / "property_graph_store.json")
    )
    assert ModelGraph(kept).model == shop()


def test_the_store_is_written_to_a_file_system_that_is_given(tmp_path):
    store = NetworkxGraphStore()
    write_graph(shop(), store)
    files = MemoryFileSystem()
    store.persist("/graph.json", fs=files)
    store.persist(str(tmp_path / "graph.json"))
    assert files.cat_file("/graph.json") == (tmp_path / "graph.json").read_bytes()


def test_the_store_finds_by_vector_and_deletes():
    store = NetworkxGraphStore()
    store.upsert_nodes(
        [
            EntityNode(name="x", embedding=[1, 0], properties={"kind": "a"}),
            EntityNode(name="y", embedding=[0.6, 0.8], properties={"kind": "b"}),
        ]
    )
    store.upsert_relations([Relation(label="knows", source_id="x", target_id="z")])
    nodes, scores = store.vector_query(
        VectorStoreQuery(query_embedding=[0, 1], similarity_top_k=1)
    )
    assert ([n.id for n in nodes], scores) == (["y"], [pytest.approx(0.8)])
    assert [t[2].id for t in store.get_triplets(relation_names=["knows"])] == ["z"]
    assert store.get_triplets() == []
    assert [n.id for n in store.get(properties={"kind": "a"})] == ["x"]
    store.delete(entity_names=["x"])
    assert (store.get(ids=["x"]), store.get_triplets(ids=["z"])) == ([], [])


def test_a_diagram_has_each_element_once_and_no_boxes_across_each_other():
    diagram = draw_diagram(graph_of(shop()))
    assert len(diagram.nodes) == 10
    boxes = [n for n in diagram.nodes if not n.is_group]
    for one in boxes:
        assert 0 <= one.x < one.x + one.width <= diagram.width
        for other in boxes:
            apart = abs(one.x - other.x) >= one.width or abs(one.y - other.y) >= 48
            assert one is other or apart
    groups = {n.id: n for n in diagram.nodes if n.is_group}
    for one in boxes:
        if one.parent:
            assert groups[one.parent].x < one.x < one.x + one.width
    assert {e.id for e in diagram.edges} == {f"r{n}" for n in range(1, 8)}


def test_a_part_of_a_model_is_drawn():
    graph = graph_of(shop())
    around = draw_diagram(graph, DiagramScope(element="Bank"))
    assert [n.name for n in around.nodes] == ["Ledger", "Bank"]
    assert [n.name for n in draw_diagram(graph, DiagramScope(view="Money")).nodes] == [
        "Till", "Bank",
    ]  # fmt: skip
    assert draw_diagram(graph, DiagramScope(most=3)).left_out == 7
    with pytest.raises(UsageError, match="it has: APPS, DATA"):
        draw_diagram(graph, DiagramScope(domain="NONE"))


def test_labels_cover_no_box_and_no_other_label():
    names = [f"Thing {n}" for n in range(6)]
    pairs = [(0, 1), (1, 0), (0, 2), (1, 2), (3, 5), (0, 5), (4, 1)]
    model = EnterpriseModel(
        name="m", source_file="m", format="drawio",
        elements=tuple(element(n, n) for n in names),
        relations=tuple(
            relation(f"r{n}", names[a], names[b], name="is served by",
                     at_source="1..1", at_target="0..*")
            for n, (a, b) in enumerate(pairs)
        ),
    )  # fmt: skip
    diagram = draw_diagram(graph_of(model))
    root = ElementTree.fromstring(svg_text(diagram), forbid_dtd=True)
    labels = [
        (float(e.get("x")), float(e.get("y")) - 3.5, len(e.text))
        for e in root.iter()
        if e.get("font-size") == "10" and e.text
    ]
    assert len(labels) == 3 * len(pairs)
    areas = [(x - n * 2.7, y - 5, x + n * 2.7, y + 5) for x, y, n in labels]
    boxes = [(n.x, n.y, n.x + n.width, n.y + n.height) for n in diagram.nodes]
    for index, area in enumerate(areas):
        for left, top, right, bottom in (*boxes, *areas[:index]):
            assert not (
                area[0] < right and left < area[2] and area[1] < bottom
                and top < area[3]
            ), labels[index]  # fmt: skip


@pytest.mark.parametrize(("count", "most"), [(20, 40), (60, 40)])
def test_a_label_is_compared_only_with_what_is_near_until_a_place_is_free(
    count, most, monkeypatch
):
    """So that the time grows with the lines, and not with their square."""
    compared = 0
    overlaps = drawing._Area.overlaps

    def counting(area, other):
        nonlocal compared
        compared += 1
        return overlaps(area, other)

    monkeypatch.setattr(drawing._Area, "overlaps", counting)
    names = [f"Thing {n}" for n in range(count)]
    model = EnterpriseModel(
        name="m", source_file="m", format="drawio",
        elements=tuple(element(n, n) for n in names),
        relations=tuple(
            relation(f"r{n}", names[n], names[n + 1], name="is served by")
            for n in range(count - 1)
        ),
    )  # fmt: skip
    svg_text(draw_diagram(graph_of(model)))
    assert 0 < compared / (count - 1) < most


def test_names_cannot_leave_their_place_in_a_picture():
    evil = '"]; click n0 "javascript:x"<script>alert(1)</script>\x07'
    model = EnterpriseModel(
        name=evil, source_file="m", format="drawio",
        elements=(element("a", evil, type=evil), element("b", "B")),
        relations=(relation("r", "a", "b", name=evil),),
    )  # fmt: skip
    diagram = draw_diagram(graph_of(model))
    root = ElementTree.fromstring(svg_text(diagram), forbid_dtd=True)
    tags = {child.tag.rpartition("}")[2] for child in root.iter()}
    assert "script" not in tags
    assert not [k for e in root.iter() for k in e.attrib if k.startswith("on")]
    lines = mermaid_text(diagram).splitlines()
    assert len(lines) == 4
    assert all(
        re.fullmatch(r'[^"]*("[^"<>;]*(#\d+;[^"<>;]*)*"[^"]*)?', x) for x in lines
    )
