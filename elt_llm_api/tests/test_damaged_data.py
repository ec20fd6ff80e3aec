"""A server over damaged data stays up: slower, or with a reason, never silent."""

import shutil
import sqlite3

import httpx
import pytest

from elt_llm_core.config.loader import RagConfig

PROBLEM = "application/problem+json"
QUESTION = {"question": "How much is the registration fee?"}


@pytest.mark.parametrize("found", [True, False])
def test_a_damaged_index_costs_a_notice_and_no_answer(serve, root, found):
    generation = root / "indexes" / "handbook" / "gen-000001"
    if found:
        (generation / "ids.json").write_text("[]")
    else:
        shutil.rmtree(generation)
    with serve(RagConfig(), root) as url, httpx.Client(base_url=url) as client:
        assert client.get("/healthz").json()["status"] == "ok"
        (shown,) = client.get("/v1/status").json()["collections"]
        assert [d["kind"] for d in shown["degradations"]] == ["exact_engine"]
        reply = client.post("/v1/query", json=QUESTION, timeout=60)
        assert reply.status_code == 200
        answer = reply.json()
        assert "25 pounds" in answer["answer"]
        assert "exact_engine" in [d["kind"] for d in answer["degradations"]]


@pytest.mark.parametrize("kept", [0.6, 0.95])
def test_a_truth_that_is_cut_off_is_a_problem_document(serve, root, kept):
    database = root / "truth.sqlite3"
    connection = sqlite3.connect(database)
    connection.execute("pragma wal_checkpoint(truncate)")
    connection.close()
    database.write_bytes(database.read_bytes()[: int(database.stat().st_size * kept)])
    with serve(RagConfig(), root) as url, httpx.Client(base_url=url) as client:
        assert client.get("/livez").status_code == 200
        assert client.get("/healthz").status_code == 500
        for reply in (
            client.get("/readyz"),
            client.get("/v1/collections"),
            client.post("/v1/query", json=QUESTION, timeout=60),
        ):
            if reply.status_code == 200:  # what was lost is not in the answer
                assert "collections" in reply.url.path or "25 pounds" in reply.text
                continue
            assert reply.status_code == 500
            assert reply.headers["content-type"] == PROBLEM
            told = reply.json()
            assert told["code"] == "STO007"
            assert "elt-llm doctor" in told["hint"]
            assert str(root) not in reply.text
        assert client.get("/livez").status_code == 200
