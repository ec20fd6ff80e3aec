"""Conversations over HTTP: asked, streamed, resumed, left, owned, exported."""

import asyncio
import contextlib
import time

import fastapi.routing
import httpx
import pytest
from endless_server import EndlessServer, Way
from ollama_server import OllamaServer

from elt_llm_api.routes import chat_routes
from elt_llm_api.server.exposure import check_exposure
from elt_llm_core.config.sections import ApiSection, RagConfig
from elt_llm_core.errors import ConfigError
from elt_llm_core.models.bounds import SILENCES
from elt_llm_query.conversation.turn import ChatResult
from test_job_events import read_events
from test_load import LONG, written_by

pytestmark = pytest.mark.network
FEE = "What is the registration fee for each Player?"
APPEAL = "Within how many days must an appeal reach the Secretary?"
WRITTEN = (
    "<think>Which source?</think>## Answer\nThe registration fee is 25 pounds for each "
    "Player [S1, S99].\n\n## References\n[S1] handbook"
)
MODELS = ("qwen3:8b",)
ANN, BOB = {"authorization": "Bearer a-n-n"}, {"authorization": "Bearer b-o-b"}


@pytest.fixture(autouse=True)
def _no_silences():
    yield
    SILENCES._until.clear()


@pytest.fixture
def talks(client):
    """The session's server; its conversations are taken away after the test."""
    yield client
    for row in client.get("/v1/conversations").json()["data"]:
        client.delete(f"/v1/conversations/{row['conversation_id']}")


@contextlib.contextmanager
def open_stream(client, message=FEE, last="", **fields):
    headers = {"last-event-id": last} if last else {}
    body = {"message": message, **fields}
    with client.stream("POST", "/v1/chat/stream", json=body, headers=headers) as reply:
        assert reply.status_code == 200, reply.read()
        yield read_events(reply.iter_lines())


def stream(client, message=FEE, last="", **fields):
    with open_stream(client, message, last, **fields) as events:
        return list(events)


def names(events):
    return [event["event"] for event in events]


def data_of(events, name):
    (found,) = [event["data"] for event in events if event["event"] == name]
    return found


def test_a_message_is_answered_whole_and_kept(talks):
    first = talks.post("/v1/chat", json={"message": FEE, "top_n": 2})
    turn = ChatResult.model_validate(first.json())
    assert "25 pounds" in turn.text
    assert turn.text.endswith("[1]")
    assert 0 < len(turn.result.sources) <= 2
    again = {"message": APPEAL, "conversation_id": turn.conversation_id}
    second = talks.post("/v1/chat", json=again).json()
    assert (second["message_id"], second["sources"][0]["number"]) == (3, 2)
    url = f"/v1/conversations/{turn.conversation_id}"
    kept = talks.get(url).json()
    assert [m["text"] for m in kept["messages"]] == [
        *(FEE, turn.text, APPEAL, second["text"]),
    ]
    assert [s["number"] for s in kept["sources"]] == [1, 2]
    statement = kept["messages"][3]["statements"][0]
    assert statement["text"] == second["text"][statement["start"] : statement["end"]]
    assert statement["citations"][0]["label"] == "2"


def test_a_follow_up_is_asked_back_where_it_is_not_certain(talks):
    reply = talks.post("/v1/chat", json={"message": "When does it end?"}).json()
    assert reply["unclear"] == "it"
    assert reply["result"]["status"] == "insufficient"


def test_events_come_in_order_and_end_with_the_whole_result(talks):
    events = stream(talks, conversation_id="c1")
    kinds = list(dict.fromkeys(names(events)))
    assert kinds == ["start", "status", "statements", "citations", "complete"]
    start = events[0]["data"]
    assert start["conversation_id"] == "c1"
    ids = [event["id"].partition(":") for event in events]
    assert {turn for turn, _, _ in ids} == {start["turn_id"]}
    assert [int(n) for _, _, n in ids] == list(range(1, len(events) + 1))
    steps = [e["data"] for e in events if e["event"] == "status"]
    begun = [one["step"] for one in steps if one["state"] == "begun"]
    assert {"contextualise", "fetch", "synthesize", "verify"} <= {*begun}
    ended = {one["step"]: one for one in steps if one["state"] == "ended"}
    assert ended["verify"]["n_out"] == 1
    whole = ChatResult.model_validate(data_of(events, "complete"))
    answer = data_of(events, "statements")["answer"]
    assert answer["text"] == whole.text
    assert "[chunk:" not in str(answer)
    (cited,) = data_of(events, "citations")["sources"]
    assert (cited["number"], cited["chunk"]) == (1, whole.sources[0].chunk)
    kept = talks.get("/v1/conversations/c1").json()
    assert kept["messages"][1]["text"] == whole.text


def test_tokens_come_as_a_model_writes_them_and_are_replaced(serve, root):
    with (
        OllamaServer(lambda _: WRITTEN, models=MODELS) as model,
        serve(written_by(model.base_url), root) as url,
        httpx.Client(base_url=url, timeout=LONG) as client,
    ):
        events = stream(client)
        whole = client.post("/v1/chat", json={"message": FEE}).json()
    tokens = [e["data"]["text"] for e in events if e["event"] == "token"]
    assert len(tokens) > 5
    shown = "The registration fee is 25 pounds for each Player [S1]."
    assert "".join(tokens) == shown
    last = max(i for i, name in enumerate(names(events)) if name == "token")
    assert last < names(events).index("statements")
    complete = data_of(events, "complete")
    assert complete["text"].startswith("The registration fee is 25 pounds")
    assert complete["result"]["trace"]["models"]["calls"] == 1
    assert complete["text"] == whole["text"]  # streamed or not


def test_a_reader_who_lost_the_connection_reads_on(serve, root):
    with (
        OllamaServer(lambda _: WRITTEN, models=MODELS) as model,
        serve(written_by(model.base_url), root) as url,
        httpx.Client(base_url=url, timeout=LONG) as client,
    ):
        model.pause = 0.05
        seen = []
        with open_stream(client) as events:
            for event in events:
                seen.append(event)
                if event["event"] == "token":
                    break
        assert "complete" not in names(seen)
        seen += stream(client, last=seen[-1]["id"])
        turn = seen[0]["data"]["turn_id"]
        with client.stream("GET", f"/v1/chat/turns/{turn}/events") as reply:
            again = list(read_events(reply.iter_lines()))
        assert client.get("/v1/conversations").json()["data"]
    assert again == [event for event in seen if event["event"] != "ping"]
    assert names(seen)[-1] == "complete"


@pytest.mark.parametrize("stop", [True, False])
def test_who_leaves_or_stops_ends_the_call_to_the_model(serve, root, stop):
    with EndlessServer(Way.PARTS) as model:
        config = written_by(model.base_url, reconnect_seconds=60 if stop else 0)
        with serve(config, root) as url, httpx.Client(base_url=url) as client:
            with open_stream(client) as events:
                turn = next(events)["data"]["turn_id"]
                assert model.asked.wait(LONG)
                if stop:
                    assert client.delete(f"/v1/chat/turns/{turn}").status_code == 204
                    *_, last = events
                    assert last["event"] == "error"
                    assert last["data"]["code"] == "QRY002"
            assert model.left.wait(LONG)
            until = time.monotonic() + LONG
            with client.stream("GET", f"/v1/chat/turns/{turn}/events") as reply:
                assert names(read_events(reply.iter_lines()))[-1] == "error"
            assert time.monotonic() < until
            assert client.get("/v1/conversations").json()["data"] == []


class NeverClosed:
    """Events of a generator that a cancelled task, `aclose` and the GC do not end."""

    def __init__(self, events, kept):
        self.events = events
        kept.append(events)

    def __aiter__(self):
        return self

    async def __anext__(self):
        return await asyncio.shield(asyncio.ensure_future(anext(self.events)))


def test_a_turn_ends_where_its_generator_is_never_closed(serve, root, monkeypatch):
    """FastAPI leaves it open when the client leaves while an event is being sent."""
    make, kept = chat_routes._events, []
    never_closed = lambda *turn: NeverClosed(make(*turn), kept)  # noqa: E731
    monkeypatch.setattr(chat_routes, "_events", never_closed)
    with EndlessServer(Way.PARTS) as model:
        config = written_by(model.base_url, reconnect_seconds=0)
        with serve(config, root) as url, httpx.Client(base_url=url) as client:
            with open_stream(client) as events:
                turn = next(events)["data"]["turn_id"]
                assert model.asked.wait(LONG)
            assert model.left.wait(LONG)
            with client.stream("GET", f"/v1/chat/turns/{turn}/events") as reply:
                *_, last = read_events(reply.iter_lines())
    # Not at the greatest length of an answer, which ends a call as well.
    assert (last["event"], last["data"]["code"]) == ("error", "QRY002")


def test_a_stream_where_nothing_happens_is_kept_alive(talks, monkeypatch):
    monkeypatch.setattr(fastapi.routing, "_PING_INTERVAL", 0.001)
    assert "ping" in names(stream(talks))


def test_what_fails_at_once_is_told_by_its_status(talks):
    for path in ("/v1/chat", "/v1/chat/stream"):
        for fields, status, code in [
            ({"message": "?"}, 422, "API002"),
            ({"message": FEE, "profile": "none-such"}, 422, "CFG004"),
            ({"message": FEE, "collections": ["handbok"]}, 404, "STO002"),
            ({"message": FEE, "conversation_id": "../x"}, 422, "API002"),
            ({"message": FEE, "where": {"colour": "red"}}, 422, "USE001"),
        ]:
            reply = talks.post(path, json=fields)
            if (path, code) == ("/v1/chat/stream", "USE001"):
                # A filter is looked at when the search begins: the stream has begun.
                assert '"code": "USE001"' in reply.text
                continue
            assert (reply.status_code, reply.json()["code"]) == (status, code), fields
    assert talks.get("/v1/conversations").json()["data"] == []
    lost = {"last-event-id": f"{'0' * 32}:3"}
    reply = talks.post("/v1/chat/stream", json={"message": FEE}, headers=lost)
    assert (reply.status_code, reply.json()["code"]) == (404, "API006")


def test_conversations_are_renamed_exported_undone_and_deleted(talks):
    for message in (FEE, APPEAL):
        talks.post("/v1/chat", json={"message": message, "conversation_id": "c1"})
    talks.post("/v1/chat", json={"message": FEE, "conversation_id": "c2"})
    page = talks.get("/v1/conversations", params={"limit": 1}).json()
    assert [row["conversation_id"] for row in page["data"]] == ["c2"]
    assert page["has_more"]
    more = {"cursor": page["next_cursor"]}
    (row,) = talks.get("/v1/conversations", params=more).json()["data"]
    assert (row["first_message"], row["message_count"]) == (FEE, 4)
    renamed = talks.patch("/v1/conversations/c1", json={"title": "Fees"}).json()
    assert renamed["label"] == "Fees"
    for form, begin in [("markdown", "# Fees"), ("html", "<!DOCTYPE"), ("bibtex", "@")]:
        reply = talks.get(f"/v1/conversations/c1/export.{form}")
        assert reply.text.lower().startswith(begin.lower())
        assert reply.headers["content-disposition"].startswith("attachment")
    named = talks.get("/v1/conversations/c1/export.md")
    assert named.text == talks.get("/v1/conversations/c1/export.markdown").text
    assert talks.get("/v1/conversations/c1/export.docx").status_code == 422
    undone = talks.post("/v1/conversations/c1/undo").json()
    assert undone == {"message": APPEAL}
    assert len(talks.get("/v1/conversations/c1").json()["messages"]) == 2
    assert talks.delete("/v1/conversations/c1").status_code == 204
    assert talks.get("/v1/conversations/c1").status_code == 404


def test_each_user_sees_only_the_own_conversations(serve, root):
    users = {"ann": "a-n-n", "bob": "b-o-b"}
    config = RagConfig(api=ApiSection(token="a-l-l", users=users))  # noqa: S106
    with serve(config, root) as url, httpx.Client(base_url=url, timeout=LONG) as client:
        assert client.get("/v1/conversations").status_code == 401
        body = {"message": FEE, "conversation_id": "c1"}
        assert client.post("/v1/chat", json=body, headers=ANN).status_code == 200
        for path in ("/v1/chat", "/v1/chat/stream"):
            assert client.post(path, json=body, headers=BOB).status_code == 403
        for method, path in [
            ("GET", ""),
            ("DELETE", ""),
            ("GET", "/export.html"),
            ("POST", "/undo"),
        ]:
            reply = client.request(method, f"/v1/conversations/c1{path}", headers=BOB)
            assert (reply.status_code, reply.json()["code"]) == (403, "STO010")
        assert client.get("/v1/conversations/c9", headers=BOB).status_code == 404
        assert client.get("/v1/conversations", headers=BOB).json()["data"] == []
        (row,) = client.get("/v1/conversations", headers=ANN).json()["data"]
        assert row["conversation_id"] == "c1"
        headers = {**ANN, "accept": "text/event-stream"}
        with client.stream(
            "POST", "/v1/chat/stream", json={"message": FEE}, headers=headers
        ) as reply:
            start = next(read_events(reply.iter_lines()))
            turn = f"/v1/chat/turns/{start['data']['turn_id']}"
            assert client.delete(turn, headers=BOB).status_code == 404
        everyone = {"authorization": "Bearer a-l-l"}
        assert client.get("/v1/conversations", headers=everyone).json()["data"] == []


@pytest.mark.parametrize(
    ("api", "match"),
    [
        ({"users": {"ann": "x" * 20, "bob": "x" * 20}}, "are the same"),
        ({"users": {"ann": "x" * 20}, "token": "x" * 20}, "are the same"),
        ({"users": {"ann": ""}}, "api.users.ann is empty"),
        ({"users": {"ann": "a b"}}, "a space"),
        ({"users": {"ann": "short"}, "host": "0.0.0.0"}, "has 5 characters"),  # noqa: S104
    ],
)
def test_a_token_that_does_not_tell_users_apart_is_refused(api, match):
    with pytest.raises(ConfigError, match=match):
        check_exposure(ApiSection.model_validate(api))
