import gc
import io
import json
import subprocess
import sys

import pytest
import yaml

from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import ConfigError, UnknownProfileError, UsageError
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from elt_llm_query import runner
from elt_llm_query.profiles import Selection, known_profiles, load_profile
from query_world import CONTENT, fill

ASK = "What is the fee for an overdue book?"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli")
    store = Store(path)
    fill(store, build_models(RagConfig()), CONTENT)
    store.close()
    return str(path)


def ran(capsys, *arguments, command=elt_llm):
    code = run(command, arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_query_prints_the_answer_and_its_citations(root, capsys):
    code, out, err = ran(capsys, "query", ASK, "--data-dir", root)
    assert (code, err) == (0, "")
    assert out.startswith("The fee for an overdue book is 20 cents per day. [S1]\n")
    assert "[S1] Lending rules, p. 3, Loans > Overdue  verified" in out
    assert '"The fee for an overdue book is 20 cents per day."' in out
    assert "\x1b" not in out


HEAVY = frozenset(
    {
        *(
            "chromadb",
            "chromadb_rust_bindings",
            "docling",
            "docling_core",
            "elt_llm_api",
        ),
        *("elt_llm_consumer", "elt_llm_ingest", "fastapi", "gradio", "liteparse"),
        *("onnx", "openpyxl", "pandas", "pypdfium2", "rich", "scipy", "starlette"),
        *("tiktoken", "torch", "transformers", "uvicorn"),
    }
)
IMPORTED = """
import json, sys
import llama_index.core
plain = {name.partition(".")[0] for name in sys.modules}
from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
code = run(elt_llm, sys.argv[1:])
beside = {name.partition(".")[0] for name in sys.modules} - plain
print(json.dumps({"code": code, "plain": sorted(plain), "beside": sorted(beside)}))
"""


@pytest.mark.parametrize("command", ["query", "search"])
def test_a_question_imports_only_what_it_needs(root, command):
    """LlamaIndex brings SQLAlchemy by itself; nothing else that is large may come."""
    arguments = [command, ASK, "--data-dir", root]
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["code"] == 0
    assert "elt_llm_query" in told["beside"]
    assert not HEAVY & {*told["plain"], *told["beside"]}
    assert not {"nltk", "sqlalchemy"} & set(told["beside"])


class Terminal(io.StringIO):
    """A stderr that people look at."""

    def isatty(self):
        return True


def test_a_terminal_shows_what_a_question_waits_for(root, capsys, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert run(elt_llm, ["query", ASK, "--data-dir", root]) == 0
    assert screen.getvalue() == "loading ...\r\x1b[Kanswering ...\r\x1b[K"
    screen.truncate(0)
    assert run(elt_llm, ["search", ASK, "--data-dir", root, "--quiet"]) == 0
    assert not screen.getvalue()
    assert gc.isenabled()


@pytest.mark.parametrize("command", ["query", "search"])
def test_a_cache_that_one_command_cannot_use_is_told(root, tmp_path, capsys, command):
    file = tmp_path / "cached.yaml"
    file.write_text("query: {cache_strategy: semantic}\n")
    given = (command, ASK, "--data-dir", root, "--config", str(file))
    code, out, _ = ran(capsys, *given)
    assert code == 0
    assert "query.cache_strategy 'semantic' has no effect" in out


@pytest.mark.usefixtures("warm_commands")
@pytest.mark.parametrize("command", ["query", "search"])
def test_the_stages_are_logged_on_request(root, command):
    given = [sys.executable, "-m", "elt_llm_core.cli", command, ASK]
    given += ["--data-dir", root, "--log-level"]
    lines = {
        level: subprocess.run(
            [*given, level], capture_output=True, text=True, timeout=300, check=True
        ).stderr
        for level in ("DEBUG", "WARNING")
    }
    assert "DEBUG elt_llm_query.trace: embed: 1 in, 1 out" in lines["DEBUG"]
    assert lines["WARNING"] == ""


def test_results_are_coloured_only_on_request():
    from elt_llm_core.results import (
        Degradation,
        DegradationKind,
        QueryResult,
        QueryTrace,
        RemovedClaim,
        SearchResult,
        Status,
    )
    from elt_llm_query.render import answer_text, sources_text

    limit = Degradation(
        kind=DegradationKind.EXACT_ENGINE, collection="c", detail="slow"
    )
    trace = QueryTrace(query_id="q", config_hash="h")
    result = QueryResult(
        question="q",
        status=Status.PARTIAL,
        answer="Yes.",
        removed=(RemovedClaim(text="No.", reason="uncited"),),
        degradations=(limit,),
        trace=trace,
    )
    plain = answer_text(result)
    assert plain.splitlines() == [
        "Yes.",
        "",
        "Removed",
        "  No. (uncited)",
        "",
        "Limits of this answer",
        "  c: slow",
    ]
    assert "\x1b[" in answer_text(result, colour=True)
    nothing = SearchResult(question="q", sources=(), trace=trace)
    assert sources_text(nothing) == "Nothing was found."


def test_query_as_json_is_one_object(root, capsys):
    arguments = ("query", ASK, "--collection", "lending", "--data-dir", root, "--json")
    code, out, _ = ran(capsys, *arguments)
    found = json.loads(out)
    assert code == 0
    assert found["status"] == "answered"
    cited = found["citations"][0]
    assert {"label", "document", "page", "section", "quote", "support", "boxes"} <= set(
        cited
    )
    assert set(cited["boxes"][0]) == {"page", "left", "top", "right", "bottom"}


def test_an_honest_refusal_is_success(root, capsys):
    code, out, _ = ran(capsys, "query", "Who is the director?", "--data-dir", root)
    assert code == 0
    assert out.startswith("No passage that was found answers this for sure.")


def test_search_prints_sources(root, capsys):
    arguments = ("search", "overdue fee", "--top-k", "2", "--data-dir", root)
    code, out, _ = ran(capsys, *arguments)
    assert code == 0
    assert out.count("[S") == 2
    assert "lending: Lending rules, p. 3, Loans > Overdue" in out


def test_failures_have_their_exit_codes(root, capsys, tmp_path):
    code, _, err = ran(capsys, "query", ASK, "--collection", "nope", "--data-dir", root)
    assert code == 65
    assert "no collection 'nope'" in err
    empty = str(tmp_path / "nothing")
    code, _, err = ran(capsys, "query", ASK, "--data-dir", empty)
    assert code == 65
    assert "there is no data at" in err
    assert "elt-llm ingest" in err
    assert not (tmp_path / "nothing").exists()
    code, _, _ = ran(capsys, "search", "??", "--data-dir", root)
    assert code == 64


def run_with(capsys, *arguments):
    return ran(capsys, *arguments, command=runner.command)


def test_the_runner_asks_by_profile(root, capsys):
    arguments = ("--cfg", "all_collections", "-q", ASK, "--data-dir", root)
    code, out, _ = run_with(capsys, *arguments)
    assert code == 0
    assert out.startswith("The fee for an overdue book")
    code, out, _ = run_with(capsys, *arguments, "--json")
    assert json.loads(out)["status"] == "answered"


def test_the_runner_lists_profiles_and_wants_one(capsys):
    code, out, _ = run_with(capsys, "--list")
    assert code == 0
    assert "all_collections" in out
    assert run_with(capsys, "-q", ASK)[0] == 64
    code, _, err = run_with(capsys, "--cfg", "every_collection", "-q", ASK)
    assert code == 78
    assert "all_collections" in err


def test_the_runner_talks_until_told_to_stop(root, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{ASK}\n\nquit\nnever asked\n"))
    code, out, err = run_with(capsys, "--cfg", "all_collections", "--data-dir", root)
    assert code == 0
    assert out.count("The fee for an overdue book is 20 cents per day. [S1]") == 1
    assert err.count("question> ") == 3


def profile(tmp_path, content):
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(content))
    return str(file)


def test_a_profile_selects_and_sets(tmp_path):
    found = load_profile(
        profile(
            tmp_path,
            {
                "collections": [{"name": "lending"}],
                "collection_prefixes": [{"name": "rules"}],
                "query": {"similarity_top_k": 3, "system_prompt": "Be brief."},
            },
        ),
        {"stores": {"data_dir": "x"}},
    )
    existing = ["rules_b", "rules", "rules_a", "rulesets", "lending"]
    assert found.selection.resolve(existing) == [
        "lending",
        "rules",
        "rules_a",
        "rules_b",
    ]
    assert found.config.query.similarity_top_k == 3
    assert found.config.query.system_prompt == "Be brief."
    assert str(found.config.stores.data_dir) == "x"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"query": {"similarity_topk": 3}}, "similarity_topk"),
        ({"collection": []}, "collection"),
        ({"collections": [{"name": "a", "weight": 2}]}, "weight"),
        ({"collections": "a"}, "collections"),
        (["a"], "keys and values"),
    ],
)
def test_a_profile_with_an_unknown_key_is_refused(tmp_path, content, said):
    with pytest.raises(ConfigError, match=said):
        load_profile(profile(tmp_path, content))


def test_profiles_beside_the_user_win(tmp_path, monkeypatch):
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "near.yaml").write_text("collections: [{name: abc}]\n")
    monkeypatch.chdir(tmp_path)
    assert set(known_profiles()) == {"all_collections", "near"}
    assert load_profile("near").selection.resolve([]) == ["abc"]
    with pytest.raises(UnknownProfileError):
        load_profile("far")
    (tmp_path / "profiles" / "bad.yaml").write_text("a: [")
    with pytest.raises(ConfigError, match="cannot read"):
        load_profile("bad")


def test_a_selection_of_nothing_is_an_error():
    with pytest.raises(UsageError):
        Selection().resolve(["a"])


def test_help_does_not_load_llama_index():
    code = (
        "import sys, elt_llm_query, elt_llm_query.cli, elt_llm_query.runner;"
        "sys.exit('llama_index.core' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_public_names_are_there_and_sorted():
    import elt_llm_query

    assert all(hasattr(elt_llm_query, name) for name in elt_llm_query.__all__)
    with pytest.raises(AttributeError):
        _ = elt_llm_query.nothing
