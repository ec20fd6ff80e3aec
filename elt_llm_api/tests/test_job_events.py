"""Progress of jobs as server-sent events: followed, resumed, kept alive."""

import asyncio
import json
import threading

import fastapi.routing
import httpx
import pytest

from elt_llm_api.event_log import KEPT, EventLog
from elt_llm_core.config.loader import RagConfig


def read_events(lines):
    """Events as a browser reads them: name, id and data; comments as `ping`."""
    event = {}
    for line in lines:
        if line.startswith(":"):
            yield {"event": "ping"}
            continue
        if not line:
            if event:
                yield event
            event = {}
            continue
        name, _, value = line.partition(": ")
        event[name] = json.loads(value) if name == "data" else value


def follow(client, job, last=""):
    headers = {"last-event-id": last} if last else {}
    with client.stream("GET", f"/v1/jobs/{job}/events", headers=headers) as reply:
        assert reply.status_code == 200
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert reply.headers["cache-control"] == "no-cache"
        yield from read_events(reply.iter_lines())


@pytest.fixture
def client(serve, tmp_path):
    with (
        serve(RagConfig(), tmp_path / "data") as url,
        httpx.Client(base_url=url, timeout=60) as opened,
    ):
        yield opened


def start(client, pdf):
    form = {"kind": "ingest", "collection": "handbook"}
    reply = client.post("/v1/jobs", data=form, files={"files": ("handbook.pdf", pdf)})
    assert reply.status_code == 202
    return reply.json()["id"]


@pytest.mark.network
def test_a_job_is_followed_to_its_end_and_resumed(client, handbook_pdf):
    job = start(client, handbook_pdf)
    first = follow(client, job)
    seen = [next(first), next(first)]
    first.close()  # the connection is lost
    seen += list(follow(client, job, last=seen[-1]["id"]))
    assert [int(one["id"]) for one in seen] == list(range(1, len(seen) + 1))
    *progress, end = seen
    assert {one["event"] for one in progress} == {"progress"}
    assert progress[0]["data"].keys() == {"stage", "done", "total", "detail"}
    assert end["event"] == "end"
    assert end["data"] == client.get(f"/v1/jobs/{job}").json()
    assert end["data"]["state"] == "succeeded"
    assert list(follow(client, job)) == seen  # also afterwards, from the beginning
    assert list(follow(client, job, last="nonsense")) == seen
    assert list(follow(client, job, last=end["id"])) == []


@pytest.mark.network
def test_a_stream_where_nothing_happens_is_kept_alive(
    client, handbook_pdf, monkeypatch
):
    monkeypatch.setattr(fastapi.routing, "_PING_INTERVAL", 0.01)
    events = list(follow(client, start(client, handbook_pdf)))
    assert {"event": "ping"} in events
    assert events[-1]["event"] == "end"


@pytest.mark.network
def test_a_job_that_is_not_there_is_told_before_the_stream(client):
    reply = client.get("/v1/jobs/nix/events")
    assert reply.status_code == 404
    assert reply.headers["content-type"] == "application/problem+json"


async def read_all(log, after=0):
    return [one.number async for one in log.follow(after)]


def test_many_follow_one_thread_and_miss_nothing():
    log = EventLog()

    def work():
        for number in range(500):
            log.add("progress", number)
        log.close()

    async def run():
        readers = [asyncio.create_task(read_all(log, n)) for n in (0, 0, 100)]
        await asyncio.sleep(0)
        thread = threading.Thread(target=work)
        thread.start()
        results = await asyncio.wait_for(asyncio.gather(*readers), 30)
        thread.join()
        return results

    one, other, later = asyncio.run(run())
    assert one == other == list(range(1, 501))
    assert later == list(range(101, 501))


def test_old_events_make_room_and_a_reader_that_leaves_is_forgotten():
    log = EventLog()
    for number in range(KEPT + 10):
        log.add("progress", number)

    async def leave():
        reader = asyncio.create_task(read_all(log))
        await asyncio.sleep(0.05)
        reader.cancel()
        await asyncio.wait([reader])

    asyncio.run(leave())
    assert not log._waiters
    log.close()
    assert asyncio.run(read_all(log))[0] == 11
