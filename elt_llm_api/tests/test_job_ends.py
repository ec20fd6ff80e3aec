"""Jobs that are cancelled or killed: what they did is kept, and not done again."""

import re
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import httpx
import pytest
import yaml
from ollama_server import OllamaServer

from elt_llm_core.config.loader import RagConfig
from page_visit import DESKTOP, WorkspaceVisit

pytestmark = [pytest.mark.network, pytest.mark.usefixtures("warm_commands")]
LONG = 60.0
TEMPLATE = """\
title: Register
sections:
- heading: Dates
  guidance: By which date shall a Member Club register each Player?
- heading: Fees
  guidance: What is the registration fee?
"""


class Turnstile:
    """Lets calls through until one has `word` in it; that one waits to be let go."""

    def __init__(self, word):
        self.word = word
        self.reached, self.open = threading.Event(), threading.Event()

    def pass_through(self, text):
        if self.word in text and not self.open.is_set():
            self.reached.set()
            self.open.wait(LONG)


def models_at(server, **models):
    return RagConfig.model_validate(
        {
            "models": models,
            "ollama": {"base_url": server.base_url, "llm_model": "smollm2:135m"},
            "gateway": {"retries": 0, "keep_answers": "none"},
            "consumer": {"items_at_once": 1},
            "query": {"synthesizer_strategy": "compact"},
        }
    )


def ended(client, job):
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        found = client.get(f"/v1/jobs/{job['id']}").json()
        if found["state"] != "running":
            return found
        time.sleep(0.05)
    pytest.fail(f"the job did not end: {found}")


def start(client, path, **values):
    reply = client.post(path, **values)
    assert reply.status_code == 202, reply.text
    return reply.json()


def cancel(client, job, turnstile):
    """Cancel a job while its call to the model waits; return it as it ended."""
    assert turnstile.reached.wait(LONG)
    reply = client.delete(f"/v1/jobs/{job['id']}")
    assert (reply.status_code, reply.json()["id"]) == (202, job["id"])
    outcome = ended(client, job)
    turnstile.open.set()
    assert (outcome["state"], outcome["problem"]) == ("cancelled", None)
    return outcome


def write_note(name):
    """A document with so many sections that it is embedded by itself."""
    sections = [f"## Part {n}\n\nPart {n} of the {name} note.\n" for n in range(8)]
    return "\n".join(sections).encode()


@pytest.fixture
def copied(filled_root, tmp_path):
    return shutil.copytree(filled_root, tmp_path / "data")


def test_a_report_that_is_cancelled_goes_on_with_what_it_has(serve, copied):
    turnstile = Turnstile('the section "Fees"')

    def reply(messages):
        turnstile.pass_through(str(messages[-1]["content"]))
        return "A Member Club shall register each Player before 31 July [S1]."

    with (
        OllamaServer(reply) as model,
        serve(models_at(model, llm_strategy="ollama"), copied) as url,
        httpx.Client(base_url=url, timeout=LONG) as client,
    ):
        body = {"template_text": TEMPLATE, "formats": ["json"]}
        job = start(client, "/v1/reports", json=body)
        outcome = cancel(client, job, turnstile)
        assert (outcome["counts"]["done"], outcome["files"]) == (1, {})
        assert client.get("/v1/reports").json()["data"] == []
        again = ended(client, start(client, "/v1/reports", json=body))
        assert again["state"] == "succeeded"
        assert (again["counts"]["reused"], again["counts"]["done"]) == (1, 1)


def test_a_glossary_is_cancelled_while_its_model_is_asked(serve, copied):
    turnstile = Turnstile("Member Club")

    def reply(messages):
        turnstile.pass_through(str(messages[-1]["content"]))
        return '{"definitions": []}'

    with (
        OllamaServer(reply) as model,
        serve(models_at(model, llm_strategy="ollama"), copied) as url,
        httpx.Client(base_url=url, timeout=LONG) as client,
    ):
        form = {"kind": "glossary", "collection": "handbook"}
        cancel(client, start(client, "/v1/jobs", data=form), turnstile)
        assert ended(client, start(client, "/v1/jobs", data=form))["files"]


@pytest.mark.browser
def test_the_tray_of_the_page_cancels_a_job(browser, serve, copied):
    turnstile = Turnstile("Member Club")

    def reply(messages):
        turnstile.pass_through(str(messages[-1]["content"]))
        return '{"definitions": []}'

    with (
        OllamaServer(reply) as model,
        serve(models_at(model, llm_strategy="ollama"), copied) as url,
    ):
        form = {"kind": "glossary", "collection": "handbook"}
        httpx.post(f"{url}/v1/jobs", data=form, timeout=LONG)
        assert turnstile.reached.wait(LONG)
        opened = WorkspaceVisit(browser, f"{url}/workspace/documents", DESKTOP)
        tray = opened.page.locator("#tray")
        tray.get_by_role("button", name="Cancel").click()
        tray.locator(".badge.near", has_text="cancelled").wait_for()
        turnstile.open.set()
        opened.leave()


def test_an_ingest_that_is_cancelled_keeps_the_files_before(serve, tmp_path):
    turnstile = Turnstile("the b-second note")
    with OllamaServer() as model:
        embed = model.vectors

        def hold(texts, fault):
            turnstile.pass_through(" ".join(texts))
            return embed(texts, fault)

        model.vectors = hold
        config = models_at(model, embedder_strategy="ollama")
        with (
            serve(config, tmp_path / "data") as url,
            httpx.Client(base_url=url, timeout=LONG) as client,
        ):
            form = {"kind": "ingest", "collection": "notes"}
            names = ("a-first", "b-second", "c-third")
            files = [("files", (f"{n}.md", write_note(n))) for n in names]
            job = start(client, "/v1/jobs", data=form, files=files)
            cancel(client, job, turnstile)
            rows = client.get("/v1/collections/notes/documents").json()["data"]
            assert [row["name"] for row in rows] == ["a-first.md"]
            again = ended(client, start(client, "/v1/jobs", data=form, files=files))
            assert again["state"] == "succeeded"
            assert (again["counts"]["unchanged"], again["counts"]["added"]) == (1, 2)


@contextmanager
def started(config, folder):
    """A server of its own process, and a client of it."""
    file = folder / "rag_config.yaml"
    file.write_text(yaml.safe_dump(config.model_dump(mode="json", exclude_unset=True)))
    code = "from elt_llm_core.cli import main; main()"
    options = ["--port", "0", "--config", str(file), "--data-dir", str(folder / "data")]
    command = [sys.executable, "-c", code, "serve", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            url = re.search(r"http://\S+/", process.stderr.readline())[0]
            with httpx.Client(base_url=url, timeout=LONG) as client:
                yield process, client
        finally:
            process.kill()


def test_a_report_whose_server_is_killed_is_told_and_gone_on_with(serve, copied):
    turnstile = Turnstile('the section "Fees"')

    def reply(messages):
        turnstile.pass_through(str(messages[-1]["content"]))
        return "A Member Club shall register each Player before 31 July [S1]."

    body = {"template_text": TEMPLATE, "formats": ["json"]}
    with OllamaServer(reply) as model:
        config = models_at(model, llm_strategy="ollama")
        with started(config, copied.parent) as (process, client):
            job = start(client, "/v1/reports", json=body)
            assert client.get("/v1/jobs").json()["data"][0]["state"] == "running"
            assert turnstile.reached.wait(LONG)
            process.kill()
        turnstile.open.set()
        with (
            serve(config, copied) as url,
            httpx.Client(base_url=url, timeout=LONG) as client,
        ):
            (kept,) = client.get("/v1/jobs").json()["data"]
            assert (kept["id"], kept["state"]) == (job["id"], "interrupted")
            assert client.get(f"/v1/jobs/{job['id']}").json() == kept
            again = ended(client, start(client, "/v1/reports", json=body))
            assert again["counts"]["reused"] == 1
            states = [one["state"] for one in client.get("/v1/jobs").json()["data"]]
            assert states == ["succeeded", "interrupted"]


def test_a_job_that_has_ended_stays_as_it_is(serve, copied):
    with (
        serve(RagConfig(), copied) as url,
        httpx.Client(base_url=url, timeout=LONG) as client,
    ):
        form = {"kind": "glossary", "collection": "handbook"}
        job = ended(client, start(client, "/v1/jobs", data=form))
        assert client.delete(f"/v1/jobs/{job['id']}").json() == job
        assert client.delete("/v1/jobs/none").status_code == 404
