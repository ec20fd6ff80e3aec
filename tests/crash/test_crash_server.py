"""A server that is killed at work: what it stored is there, what it lost is told."""

from pathlib import Path

import httpx
import pytest
from crash_root import Root
from crash_server import finished, serving, until_gone, upload

SENT = ("heron.txt", "ibis.txt", "stork.txt")


@pytest.mark.network
def test_a_job_of_a_killed_server_is_told_and_can_be_sent_again(
    empty: Root, tmp_path: Path
) -> None:
    root = empty.copy(tmp_path / "root")
    early = tmp_path / "early.txt"
    early.write_text("An egret stands at the sluice.")
    assert root.run("ingest", str(early), "--collection", "rules").code == 0
    before = root.look()["documents"]
    with serving(root, ELT_CRASH_AT="document.half:2") as url:
        job = upload(url, *SENT).json()["id"]
        until_gone(url)
    seen = root.look()
    assert seen["faults"] == []
    assert before.items() <= seen["documents"].items()
    with serving(root) as url:
        told = httpx.get(f"{url}v1/jobs/{job}", timeout=30)
        assert told.status_code == 404
        assert "since the server started" in told.json()["detail"]
        again = upload(url, *SENT).json()["id"]
        assert finished(url, again)["state"] == "succeeded"
    seen = root.look()
    assert seen["faults"] == []
    names = sorted(content["row"][3] for content in seen["documents"].values())
    assert names == ["early.txt", *SENT]
