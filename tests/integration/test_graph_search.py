"""A search along the relations of a model, beside the question's own."""

import pytest
from llama_index.core.schema import QueryBundle

from elt_llm_api.api_context import build_context
from elt_llm_api.uploads import Upload
from elt_llm_core.config.sections import QuerySection, RagConfig
from elt_llm_core.jobs import silent
from elt_llm_core.store import Store
from elt_llm_query.query import search_collections
from elt_llm_query.retrieval.query_transform import Search
from elt_llm_query.transforms.graph_search import GraphSearchTransformOptions

BOX = (
    '<mxCell id="{0}" value="{0}" style="rounded=0" vertex="1" parent="1">'
    '<mxGeometry x="{1}" y="10" width="90" height="40" as="geometry"/></mxCell>'
)
EDGE = (
    '<mxCell id="{0}-{1}" value="{2}" style="endArrow=open" edge="1" parent="1"'
    ' source="{0}" target="{1}"><mxGeometry relative="1" as="geometry"/></mxCell>'
)
DRAWING = (
    '<mxfile><diagram name="Harbour"><mxGraphModel><root><mxCell id="0"/>'
    '<mxCell id="1" parent="0"/>{}</root></mxGraphModel></diagram></mxfile>'
)
TEXT = """# Rules

A Lantern is cleaned with vinegar every week.

A Skipper has a licence and pays for it every year.
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph")
    names = ("Skipper", "Watch", "Lantern")
    boxes = [BOX.format(name, 200 * at) for at, name in enumerate(names)]
    edges = [
        EDGE.format("Skipper", "Watch", "keeps"),
        EDGE.format("Watch", "Lantern", "lights"),
    ]
    drawing, text = folder / "model.drawio", folder / "rules.md"
    drawing.write_text(DRAWING.format("".join(boxes + edges)), encoding="utf-8")
    text.write_text(TEXT, encoding="utf-8")
    store = Store(folder / "data")
    context = build_context(RagConfig(), store)
    for name, path in (("model", drawing), ("rules", text)):
        report = context.runner.ingest(name, [Upload(path.name, path)], silent)
        assert report.exit_code == 0
    yield store, context.profiles.models()
    store.close()


def added(world, question, names=("model", "rules"), **options):
    """The texts that are searched for beside the question."""
    store, models = world
    transform = GraphSearchTransformOptions(**options).build(models)
    collections = [store.open(name) for name in names]
    searches = transform.over(collections).transform([Search(QueryBundle(question))])
    assert searches[0].bundle.query_str == question
    return [search.bundle.query_str for search in searches[1:]]


def test_the_relations_of_a_named_element_are_searched(world):
    assert added(world, "What does a Skipper do?") == ["Skipper keeps Watch."]


def test_more_hops_reach_what_the_question_does_not_name(world):
    far = added(world, "What does a Skipper do?", hops=2)
    assert far == ["Skipper keeps Watch. Watch lights Lantern."]
    near = added(world, "What does a Skipper do?", hops=2, most=1)
    assert near == ["Skipper keeps Watch."]


@pytest.mark.parametrize(
    ("names", "question"),
    [
        (("rules",), "What does a Skipper do?"),  # no model among the collections
        (("model", "rules"), "What is paid every year?"),  # no element is named
    ],
)
def test_without_a_named_element_nothing_is_added(world, names, question):
    assert added(world, question, names) == []


def test_a_model_that_is_added_later_is_walked(world, tmp_path):
    context = build_context(RagConfig(), world[0])
    question = "What does a Pilot do?"
    assert added(world, question) == []
    boxes = [BOX.format(name, at) for name, at in (("Pilot", 0), ("Tug", 200))]
    path = tmp_path / "second.drawio"
    path.write_text(
        DRAWING.format("".join([*boxes, EDGE.format("Pilot", "Tug", "steers")])),
        encoding="utf-8",
    )
    assert (
        context.runner.ingest("model", [Upload(path.name, path)], silent).exit_code == 0
    )
    assert added(world, question) == ["Pilot steers Tug."]


def test_a_question_is_searched_along_the_graph_where_a_profile_says_so(world):
    store, models = world
    query = QuerySection(
        transform_strategy=["graph_search"],
        transform_options={"graph_search": {"hops": 2}},
    )
    result = search_collections(
        ["model", "rules"],
        "What does a Skipper do?",
        store=store,
        config=RagConfig(query=query),
        models=models,
    )
    (stage,) = [s for s in result.trace.stages if s.name == "transform:graph_search"]
    assert (stage.n_in, stage.n_out) == (1, 2)
    assert any("vinegar" in source.text for source in result.sources)


def test_plain_llamaindex_keeps_the_question(world):
    transform = GraphSearchTransformOptions().build(world[1])
    assert transform.run("What does a Skipper do?").query_str == (
        "What does a Skipper do?"
    )
