"""OpenAI's own client against a real server."""

import contextlib
import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import openai
import pytest
from endless_server import EndlessServer, Way
from markdown_it import MarkdownIt
from ollama_server import OllamaServer

from elt_llm_core.config.sections import ApiSection, RagConfig
from elt_llm_core.results import QueryResult
from test_load import LONG, written_by

pytestmark = pytest.mark.network
FEE = "What is the registration fee for each Player?"
TOKEN = "a-token-of-more-than-16-letters"  # noqa: S105 - of a test


CLIENTS = contextlib.ExitStack()


def connect(url, key="none"):
    """Return a client that is closed at the end of the test."""
    client = openai.OpenAI(
        base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=LONG
    )
    return CLIENTS.enter_context(client)


@pytest.fixture(autouse=True)
def _close_clients():
    """A client that is only collected leaves its sockets open, for any later test."""
    yield
    CLIENTS.close()


@pytest.fixture(scope="module")
def programs(server):
    with openai.OpenAI(
        base_url=f"{server}/v1", api_key="none", max_retries=0, timeout=LONG
    ) as client:
        yield client


def ask(client, *texts, model="default", **more):
    messages = [{"role": "user", "content": text} for text in texts]
    return client.chat.completions.create(model=model, messages=messages, **more)


def text_of(chunks):
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


def test_models_are_profiles_and_their_collections(programs):
    names = [model.id for model in programs.models.list()]
    assert names[:2] == ["default", "default/handbook"]
    assert programs.models.retrieve("default/handbook").owned_by == "elt_llm"
    with pytest.raises(openai.NotFoundError) as refused:
        programs.models.retrieve("default/handbok")
    assert refused.value.code == "model_not_found"
    assert "default/handbook" in refused.value.message


def test_an_answer_has_its_proof_in_the_text_and_beside_it(programs, server):
    reply = ask(programs, "Be a pirate.", FEE, model="default/handbook")
    choice = reply.choices[0]
    answer, _, sources = choice.message.content.partition("\n\nSources:\n")
    assert "25 pounds" in answer
    assert answer.endswith("[S1]")
    assert choice.message.refusal is None
    assert choice.finish_reason == "stop"
    assert sources.startswith("\n- [S1] handbook.pdf, p. 2, 2 Registration: ")
    whole = QueryResult.model_validate(reply.elt_llm)
    assert whole.question == FEE
    (cited,) = {c.quote for c in whole.citations}
    assert cited in sources
    (note,) = choice.message.annotations
    marked = choice.message.content[
        note.url_citation.start_index : note.url_citation.end_index
    ]
    assert marked == whole.statements[0].text
    assert note.url_citation.title == "handbook.pdf, p. 2, 2 Registration"
    assert note.url_citation.url.startswith(f"{server}/v1/documents/")
    page = httpx.get(note.url_citation.url)
    assert page.headers["content-type"] == "image/jpeg"
    assert reply.usage.total_tokens == 0  # no model was asked


def test_a_stream_gives_the_same_text_in_chunks_of_checked_statements(programs):
    whole = ask(programs, FEE)
    chunks = list(
        ask(programs, FEE, stream=True, stream_options={"include_usage": True})
    )
    assert text_of(chunks) == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    assert {(c.id, c.created, c.model) for c in chunks} == {
        (chunks[0].id, chunks[0].created, "default")
    }
    statements = {s["text"] for s in whole.elt_llm["statements"]}
    assert statements <= {c.choices[0].delta.content for c in chunks if c.choices}
    notes = [
        c.choices[0].delta.annotations
        for c in chunks
        if c.choices and getattr(c.choices[0].delta, "annotations", None)
    ]
    expected = [a.model_dump() for a in whole.choices[0].message.annotations]
    assert notes == [expected]
    last, counts = chunks[-2:]
    assert last.choices[0].finish_reason == "stop"
    assert QueryResult.model_validate(last.elt_llm).question == FEE
    assert (counts.choices, counts.usage.total_tokens) == ([], 0)
    plain = list(ask(programs, FEE, stream=True))
    assert all(chunk.choices for chunk in plain)  # none without, if not asked for


def test_a_follow_up_is_understood_by_what_the_program_sends(programs):
    asked = "What is a Season?"
    spoken = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello?"},
        {"role": "user", "content": asked},
        {
            "role": "assistant",
            "content": ask(programs, asked).choices[0].message.content,
        },
    ]

    def go_on():
        messages = [*spoken, {"role": "user", "content": "When does it end?"}]
        reply = programs.chat.completions.create(model="default", messages=messages)
        return QueryResult.model_validate(reply.elt_llm)

    follow_up = go_on()
    assert "Season" in follow_up.question
    stages = [stage.name for stage in follow_up.trace.stages]
    assert stages[:2] == ["decompose", "contextualise"]
    spoken[-1]["content"] = "I cannot say."
    assert go_on().answer.startswith("The question does not say")


@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_is_one_for_people_and_for_programs(programs, stream):
    reply = ask(programs, "What does bread cost?", stream=stream)
    if stream:
        chunks = list(reply)
        text = text_of(chunks)
        refusals = [c.choices[0].delta.refusal for c in chunks]
        (refusal,) = [one for one in refusals if one]
    else:
        text = reply.choices[0].message.content
        refusal = reply.choices[0].message.refusal
        assert reply.elt_llm["status"] in {"insufficient", "no_sources"}
    assert refusal.startswith("No passage")
    assert text.startswith("No passage")
    assert "which are not an answer" in text
    assert "Sources:" not in text


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("message", "kind"),
    [("Thank you!", "courtesy"), ("And for whom is that?", "clarification")],
)
def test_thanks_and_a_question_back_are_no_refusal(programs, message, kind, stream):
    messages = [
        {"role": "user", "content": FEE},
        {"role": "assistant", "content": "I cannot say."},
        {"role": "user", "content": message},
    ]
    reply = programs.chat.completions.create(
        model="default", messages=messages, stream=stream
    )
    if stream:
        chunks = list(reply)
        deltas = [chunk.choices[0].delta for chunk in chunks]
        refusals = {getattr(delta, "refusal", None) for delta in deltas}
        result = chunks[-1].elt_llm
    else:
        refusals = {reply.choices[0].message.refusal}
        result = reply.elt_llm
    assert refusals == {None}
    assert result["reply"] == kind


def test_options_of_one_request(programs):
    options = {"where": {"page": 3}, "top_n": 1, "collections": ["handbook"]}
    reply = ask(programs, FEE, extra_body={"elt_llm": options})
    (source,) = reply.elt_llm["sources"]
    assert source["pages"] == [3]
    text = ask(programs, FEE, extra_body={"elt_llm": {"format": "text"}})
    assert text.elt_llm["answer"] in text.choices[0].message.content
    parts = [{"type": "text", "text": FEE}]
    message = [{"role": "system", "content": "x"}, {"role": "user", "content": parts}]
    listed = programs.chat.completions.create(
        model="default", messages=message, temperature=0.7, user="me"
    )
    assert "25 pounds" in listed.choices[0].message.content


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n": 2}, "n: is 2"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"tool_choice": "required", "tools": []}, "tool_choice"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, "role user"),
        ({"messages": [{"role": "user", "content": "?!"}]}, "question"),
        ({"extra_body": {"elt_llm": {"top_q": 3}}}, "top_q"),
        ({"extra_body": {"elt_llm": {"top_k": 2, "top_n": 3}}}, "top_n (3)"),
        ({"extra_body": {"elt_llm": {"where": {"pgae": 1}}}}, "pgae"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_wrong_request_is_told_as_openai_tells_it(programs, changes, words, stream):
    asked = {"model": "default", "messages": [{"role": "user", "content": FEE}]}
    with pytest.raises(openai.BadRequestError) as refused:
        list(programs.chat.completions.create(**{**asked, **changes}, stream=stream))
    assert words in str(refused.value)
    assert refused.value.type == "invalid_request_error"
    assert refused.value.body.keys() == {"message", "type", "param", "code"}


def test_an_unknown_model_or_collection_is_404(programs):
    with pytest.raises(openai.NotFoundError) as refused:
        ask(programs, FEE, model="gpt-5")
    assert refused.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError, match="handbok"):
        ask(programs, FEE, extra_body={"elt_llm": {"collections": ["handbok"]}})


def test_what_openai_has_and_this_server_lacks_is_told_as_openai_tells_it(programs):
    with pytest.raises(openai.NotFoundError, match="no route") as refused:
        programs.embeddings.create(model="x", input="y")
    assert refused.value.body.keys() == {"message", "type", "param", "code"}


def test_a_wrong_token_is_401(serve, root):
    config = RagConfig(api=ApiSection(token=TOKEN))
    with serve(config, root) as url:
        with pytest.raises(openai.AuthenticationError) as refused:
            ask(connect(url), FEE)
        assert refused.value.code == "invalid_api_key"
        assert "25 pounds" in ask(connect(url, TOKEN), FEE).choices[0].message.content


def test_a_full_queue_is_429_with_the_time_to_wait(serve, root):
    with EndlessServer(Way.SILENCE) as model, ThreadPoolExecutor(1) as pool:
        config = written_by(
            model.base_url, questions_at_once=1, questions_waiting=0, timeout=LONG
        )
        with serve(config, root) as url:
            first = pool.submit(ask, connect(url), FEE)
            assert model.asked.wait(LONG)
            for stream in (False, True):
                with pytest.raises(openai.RateLimitError) as refused:
                    ask(connect(url), FEE, stream=stream)
                assert 1 <= int(refused.value.response.headers["retry-after"]) <= 60
                assert refused.value.type == "rate_limit_error"
        assert first.exception()


@pytest.mark.parametrize("way", [Way.PARTS, Way.SILENCE])
def test_a_client_that_leaves_a_stream_ends_the_call_to_the_model(serve, root, way):
    with (
        EndlessServer(way) as model,
        serve(written_by(model.base_url), root) as url,
    ):
        stream = ask(connect(url), FEE, stream=True)
        assert next(iter(stream)).choices[0].delta.content == ""
        assert model.asked.wait(LONG)
        stream.close()
        assert model.left.wait(LONG)


def test_tokens_are_those_that_the_model_server_counted(serve, root):
    with (
        OllamaServer(models=["qwen3:8b"]) as model,
        serve(written_by(model.base_url), root) as url,
    ):
        reply = ask(connect(url), FEE)
    cost = reply.elt_llm["trace"]["models"]
    assert reply.usage.prompt_tokens == cost["read"] > 0
    assert reply.usage.completion_tokens == cost["written"] > 0


def test_what_fails_in_a_stream_is_told_in_it(serve, root):
    """The stream has begun: the question waits behind one that takes longer."""
    with EndlessServer(Way.SILENCE) as model, ThreadPoolExecutor(1) as pool:
        config = written_by(model.base_url, questions_at_once=1, timeout=3.0)
        with serve(config, root) as url:
            first = pool.submit(ask, connect(url), FEE)
            assert model.asked.wait(LONG)
            options = {"elt_llm": {"collections": ["nothing-of-the-kind"]}}
            stream = ask(connect(url), FEE, stream=True, extra_body=options)
            with pytest.raises(openai.APIError, match="nothing-of-the-kind"):
                list(stream)
            first.result(LONG)


def test_what_a_document_says_stays_text_in_a_renderer(serve, tmp_path):
    evil = "The gate fee is ![x](https://evil.example/a.png) 7 pounds <img src=x>."
    with serve(RagConfig(), tmp_path / "data") as url:
        file = {"files": ("gate.md", f"# Gate\n\n{evil}\n".encode())}
        form = {"kind": "ingest", "collection": "gate"}
        job = httpx.post(f"{url}/v1/jobs", data=form, files=file, timeout=LONG).json()
        with httpx.stream("GET", f"{url}/v1/jobs/{job['id']}/events") as events:
            assert "succeeded" in events.read().decode()
        content = ask(connect(url), "What is the gate fee?").choices[0].message.content
    assert "7 pounds" in content
    html = MarkdownIt("commonmark", {"html": True}).render(content)
    assert "<img" not in html
    assert "href" not in html
    assert "<li>" in html


def test_the_wire_is_as_every_client_of_openai_reads_it(server):
    body = {"model": "default", "messages": [{"role": "user", "content": FEE}]}
    url = f"{server}/v1/chat/completions"
    with httpx.stream("POST", url, json={**body, "stream": True}) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in reply.iter_lines() if line]
    assert all(line.startswith("data: ") for line in lines)
    assert lines[-1] == "data: [DONE]"
    assert {json.loads(line[6:])["object"] for line in lines[:-1]} == {
        "chat.completion.chunk"
    }
    refused = httpx.post(url, content=b"{")
    assert refused.status_code == 400
    assert refused.json().keys() == {"error"}
