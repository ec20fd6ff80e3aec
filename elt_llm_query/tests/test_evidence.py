"""An evidence file holds an answer with its proof, and says later what has changed."""

import hashlib
import json
import re

import pytest

from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import UsageError
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import RemovedClaim
from elt_llm_core.store import Store
from elt_llm_query.evidence import (
    EvidenceError,
    QuoteState,
    SourceState,
    build_evidence,
    read_evidence,
    verify_evidence,
    write_evidence,
)
from elt_llm_query.render import report_text
from query_world import ASK, CONTENT, LENDING, SAID, asked, fill, make_document


@pytest.fixture(params=[".html", ".json"])
def written(world, tmp_path, request):
    result = asked(world, ASK)
    evidence = build_evidence(result, world.store, world.config)
    path = tmp_path / f"proof{request.param}"
    write_evidence(path, evidence, world.store)
    return path, evidence


def test_a_file_is_read_as_it_was_written_and_verified(world, written):
    path, evidence = written
    before = path.read_bytes()
    assert read_evidence(path) == evidence
    report = verify_evidence(read_evidence(path), world.store)
    assert report.proven
    assert [d.state for d in report.documents] == [SourceState.UNCHANGED]
    assert [(q.quote, q.state) for q in report.quotes] == [(SAID, QuoteState.IN_PLACE)]
    write_evidence(path, evidence, world.store)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("changed", "states", "proven"),
    [
        (("A new rule.", *(t for _, t in LENDING)), ["changed", "moved"], True),
        (("The fee is gone.",), ["changed", "gone"], False),
    ],
)
def test_what_changed_since_is_said(world, written, tmp_path, changed, states, proven):
    sections = [("Rules", text) for text in changed]
    store = Store(tmp_path / "later")
    fill(store, world.models, {"lending": [make_document("Lending rules", sections)]})
    report = verify_evidence(read_evidence(written[0]), store)
    assert [one.state.value for one in (*report.documents, *report.quotes)] == states
    assert report.proven is proven
    empty = Store(tmp_path / "empty")
    assert not verify_evidence(written[1], empty).proven
    store.close()
    empty.close()


def test_a_file_of_a_version_that_wrote_fewer_fields_is_read(written):
    path, evidence = written
    plain = evidence.model_dump(mode="json", exclude={"digest"})
    del plain["result"]["nearest"]
    text = json.dumps(plain, sort_keys=True)
    digest = hashlib.sha256(text.encode("ascii")).hexdigest()
    path.write_text(json.dumps({**plain, "digest": digest}))
    assert read_evidence(path).result == evidence.result


def test_a_file_that_was_changed_by_hand_is_refused(written):
    path, _ = written
    text = path.read_text()
    path.write_text(text.replace("20 cents", "30 cents"))
    with pytest.raises(EvidenceError, match="was changed"):
        read_evidence(path)
    for place in re.finditer("20 cents", text):
        changed = f"{text[: place.start()]}30 cents{text[place.end() :]}"
        path.write_text(changed)
        with pytest.raises(EvidenceError, match="was changed"):
            read_evidence(path)
    path.write_text("{}")
    with pytest.raises(EvidenceError, match="not an evidence file"):
        read_evidence(path)
    with pytest.raises(EvidenceError, match="cannot be read"):
        read_evidence(path.with_name("gone.json"))


def test_no_text_becomes_markup(world, tmp_path):
    hostile = '</script>\r<script>alert(1)</script><img src="http://evil.example/x">'
    result = asked(world, ASK)
    removed = (RemovedClaim(text=hostile, reason="fabricated"),)
    result = result.model_copy(update={"question": hostile, "removed": removed})
    evidence = build_evidence(result, world.store, world.config)
    path = tmp_path / "proof.html"
    write_evidence(path, evidence, world.store)
    html = path.read_text()
    scripts = re.findall(r"<script[^>]*>", html)
    assert len(scripts) == 1
    assert scripts[0].startswith('<script type="application/json" id="evidence" ')
    assert "<img" not in html
    assert "default-src 'none'" in html
    assert read_evidence(path) == evidence


def test_a_forged_file_sends_nothing_to_a_terminal(world, tmp_path):
    evidence = build_evidence(asked(world, ASK), world.store, world.config)
    forged = [
        d.model_copy(update={"collection": "\x1b[2J", "name": "\x1b]0;x\x07"})
        for d in evidence.documents
    ]
    cited = [
        c.model_copy(
            update={"label": "\x1b[31m", "quote": "\x1b[0m", "document": "\x1b"}
        )
        for c in evidence.result.citations
    ]
    result = evidence.result.model_copy(
        update={"question": "\x1b[5m", "citations": tuple(cited)}
    )
    changes = {"documents": tuple(forged), "result": result}
    path = tmp_path / "forged.json"
    forgery = evidence.model_copy(update=changes).add_digest()
    write_evidence(path, forgery, world.store)
    report = verify_evidence(read_evidence(path), world.store)
    assert not report.proven
    assert "\x1b" not in report_text(report)


def test_a_name_with_another_ending_is_refused(world, tmp_path):
    with pytest.raises(UsageError, match=r"proof\.pdf"):
        write_evidence(tmp_path / "proof.pdf", None, world.store)


def test_the_commands_write_and_verify(tmp_path, capsys):
    root, file = tmp_path / "root", tmp_path / "proof.html"
    store = Store(root)
    fill(store, build_models(RagConfig()), CONTENT)
    store.close()
    here = ("--data-dir", str(root))
    assert run(elt_llm, ("query", ASK, "--evidence", str(file), *here)) == 0
    capsys.readouterr()
    assert run(elt_llm, ("verify", str(file), *here, "--json")) == 0
    assert json.loads(capsys.readouterr().out)["proven"] is True
    assert run(elt_llm, ("verify", str(file), *here)) == 0
    assert "Every quote is still present." in capsys.readouterr().out
    assert run(elt_llm, ("query", ASK, "--evidence", "proof.txt", *here)) == 64
    assert run(elt_llm, ("verify", str(file), "--data-dir", str(tmp_path / "no"))) == 65
    assert "elt-llm ingest" in capsys.readouterr().err
    assert run(elt_llm, ("query", ASK, "--evidence", f"{file}/x.html", *here)) == 73
    assert "name a file in a folder" in capsys.readouterr().err
    store = Store(root)
    with store.writer() as writer:
        writer.drop_collection("lending")
    store.close()
    capsys.readouterr()
    assert run(elt_llm, ("verify", str(file), *here)) == 65
    assert "A quote is missing." in capsys.readouterr().out
