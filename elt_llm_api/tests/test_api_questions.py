"""Filters and the cache of answers, over HTTP."""

import shutil

import httpx
import pytest

from elt_llm_core.config.sections import QuerySection, RagConfig
from elt_llm_query.grounding.plain_text import as_markdown

pytestmark = pytest.mark.network
QUESTION = "What is the registration fee for each Player?"
LIKE = "what's the registration fee for each player"


def post(client, path, **body):
    return client.post(path, json={"question": QUESTION, **body})


@pytest.mark.parametrize("path", ["/v1/search", "/v1/query"])
def test_both_questions_take_filters(client, path):
    found = post(client, path, where={"page": 2}).json()
    assert {tuple(s["pages"]) for s in found["sources"]} == {(2,)}
    several = post(client, path, where={"page": [1, 3], "document": "handbook.pdf"})
    assert {s["pages"][0] for s in several.json()["sources"]} == {1, 3}
    none = post(client, path, where={"document": "none.pdf"}).json()
    assert none["sources"] == []
    ids = {
        post(client, path, where=where).json()["trace"]["query_id"]
        for where in ({}, {"page": 1}, {"page": 2})
    }
    assert len(ids) == 3


@pytest.mark.parametrize("path", ["/v1/search", "/v1/query"])
@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"pgae": 1}, "unknown filter 'pgae'"),
        ({"page": {"above": 1}}, ""),
        ({f"key{n}": n for n in range(17)}, ""),
        ("page", ""),
    ],
)
def test_a_filter_that_is_none_is_refused(client, path, where, said):
    reply = post(client, path, where=where)
    assert reply.status_code in {400, 422}
    assert reply.headers["content-type"] == "application/problem+json"
    assert said in reply.json()["detail"]
    if said:
        assert "section" in reply.json()["hint"]


@pytest.fixture(scope="module")
def keeping(filled_root, serve, tmp_path_factory):
    """A server that keeps what questions found."""
    root = tmp_path_factory.mktemp("keeping") / "data"
    shutil.copytree(filled_root, root)
    config = RagConfig(query=QuerySection(cache_strategy="semantic"))
    with serve(config, root) as url, httpx.Client(base_url=url) as opened:
        yield opened


def plain(reply):
    assert reply.status_code == 200
    found = reply.json()
    trace = found.pop("trace")
    seen = [s["top"][0][0] for s in trace["stages"] if s["name"] == "cache"]
    return found, seen, trace["query_id"]


def test_an_answer_is_the_same_whether_its_sources_were_kept_or_not(keeping, client):
    first, seen, first_id = plain(post(keeping, "/v1/query"))
    second, seen_again, second_id = plain(post(keeping, "/v1/query"))
    assert (seen, seen_again) == (["miss"], ["hit"])
    assert first == second
    assert first_id == second_id
    without, unseen, _ = plain(post(client, "/v1/query"))
    assert (without, unseen) == (second, [])


def test_a_search_with_a_filter_is_kept_apart(keeping):
    for where, expected in (({}, "miss"), ({"page": 2}, "miss"), ({"page": 2}, "hit")):
        _, seen, _ = plain(post(keeping, "/v1/search", k=3, where=where))
        assert seen == [expected]
    reply = keeping.post("/v1/search", json={"question": LIKE, "k": 3})
    assert plain(reply)[1] == ["hit"]


def test_an_answer_is_plain_text_or_escaped_markdown(client):
    text = post(client, "/v1/query").json()
    marked = post(client, "/v1/query", format="markdown").json()
    assert text["answer"].endswith("[S1]")
    assert marked["answer"] == as_markdown(text["answer"]) != text["answer"]
    assert marked["citations"] == text["citations"]
    assert post(client, "/v1/query", format="html").status_code == 422


@pytest.mark.parametrize(
    ("asked", "sources", "reranked"),
    [
        ({}, 3, True),
        ({"top_n": 1}, 1, True),
        ({"top_k": 2}, 2, True),
        ({"top_k": 3, "top_n": 2}, 2, True),
        ({"use_reranker": False, "top_n": 1}, 1, False),
        ({"use_reranker": False, "top_k": 2}, 2, False),
    ],
)
def test_a_question_says_how_many_sources_it_wants(client, asked, sources, reranked):
    result = post(client, "/v1/query", collections=["handbook"], **asked).json()
    assert len(result["sources"]) == sources
    stages = [stage["name"] for stage in result["trace"]["stages"]]
    assert ("rerank" in stages) is reranked
    assert "25 pounds" in result["answer"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"top_k": 2, "top_n": 3}, "top_n (3) exceeds top_k (2)"),
        ({"top_k": 0}, "top_k"),
        ({"top_n": 101}, "top_n"),
        ({"use_reranker": "perhaps"}, "use_reranker"),
    ],
)
def test_limits_that_contradict_themselves_are_refused(client, asked, words):
    reply = post(client, "/v1/query", **asked)
    assert reply.status_code == 422
    assert words in reply.json()["detail"]
