"""Questions leave their trace in the database where they are told to."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.config.loader import ConfigError, load_config
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import StoreWriteError
from elt_llm_core.models.factory import build_models
from elt_llm_core.question_traces import read_traces
from elt_llm_core.results import DegradationKind
from elt_llm_core.store import Store
from elt_llm_query.query import query_collections
from query_world import ASK, BOTH, CONTENT, configured, fill

KEPT = 3


@pytest.fixture
def asked(tmp_path):
    """Asks a question over a data root of its own, and gives its store."""
    store, models = Store(tmp_path / "data"), build_models(RagConfig())
    fill(store, models, CONTENT)

    def ask(question=ASK, **settings):
        config = configured(**settings)
        return query_collections(
            BOTH, question, store=store, config=config, models=models
        )

    ask.store = store
    yield ask
    store.close()


def test_no_question_leaves_a_trace_by_default(asked):
    asked()
    assert read_traces(asked.store, 9) == ()


def test_the_newest_questions_leave_their_trace(asked):
    questions = [f"{ASK} {number}" for number in range(KEPT + 2)]
    results = [asked(q, trace="store", traces_kept=KEPT) for q in questions]
    rows = read_traces(asked.store, 9)
    assert [row.question for row in rows] == questions[: -KEPT - 1 : -1]
    assert len(read_traces(asked.store, 1)) == 1
    newest, result = rows[0], results[-1]
    assert newest.trace == result.trace
    assert (newest.status, newest.collections) == (result.status, tuple(BOTH))
    assert newest.citations == len(result.citations)
    assert {"embed", "rerank", "synthesize", "verify"} <= {
        stage.name for stage in newest.trace.stages
    }
    assert newest.milliseconds > 0


def test_questions_at_once_leave_each_their_trace(asked):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: asked(f"{ASK} {n}", trace="store"), range(8)))
    assert {row.question for row in read_traces(asked.store, 99)} == {
        f"{ASK} {n}" for n in range(8)
    }


def test_an_answer_outlives_a_database_that_cannot_be_written(asked, monkeypatch):
    def refuse(*_given, **_more):
        raise StoreWriteError("truth.sqlite3", "No space left on device")

    monkeypatch.setattr(asked.store.journal, "append", refuse)
    result = asked(trace="store")
    assert result.citations
    assert result.degradations[-1].kind is DegradationKind.SETTING_UNUSED
    assert "trace was not stored" in result.degradations[-1].detail


def test_traces_are_listed_and_purged(asked, capsys):
    asked(trace="store")
    here = ("--data-dir", str(asked.store.data_dir))
    assert run(elt_llm, ("store", "traces", *here)) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert "answered" in line
    assert line.endswith(ASK[:60])
    assert run(elt_llm, ("store", "traces", "--json", *here)) == 0
    (row,) = json.loads(capsys.readouterr().out)["traces"]
    assert row["trace"]["models"]["calls"] == 0
    assert run(elt_llm, ("store", "purge", "--journal", *here)) == 0
    capsys.readouterr()
    assert run(elt_llm, ("store", "traces", *here)) == 0
    assert "query: {trace: store}" in capsys.readouterr().out


def test_another_place_for_traces_is_refused():
    with pytest.raises(ConfigError, match="trace"):
        load_config(overrides={"query": {"trace": "file"}}, environ={})
