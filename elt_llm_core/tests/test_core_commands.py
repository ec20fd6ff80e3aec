"""The command line: what it prints, and the code it leaves with."""

import json
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from core_stores import new_document, put
from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.config.loader import load_config
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import ConfigError
from elt_llm_core.store import Store

PROGRAM = str(Path(sys.executable).with_name("elt-llm"))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every command in a folder of its own, with the shipped configuration."""
    monkeypatch.chdir(tmp_path)
    for name in ("ELT_LLM_DATA_DIR", "ELT_LLM_PROFILE"):
        monkeypatch.delenv(name, raising=False)


def test_help_lists_every_command() -> None:
    done = subprocess.run(
        [PROGRAM, "--help"], capture_output=True, text=True, check=True
    )
    listed = {line.split()[0] for line in done.stdout.splitlines() if line.strip()}
    assert {point.name for point in entry_points(group="elt_llm.commands")} <= listed
    assert done.stderr == ""


def test_help_loads_no_library_but_click() -> None:
    code = (
        "import sys; from elt_llm_core.cli import elt_llm\n"
        "elt_llm(['--help'], standalone_mode=False)\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    loaded = {*done.stdout.splitlines()[-1].split()} - sys.stdlib_module_names
    ours = {name for name in loaded if name.startswith(("elt_llm", "_"))}
    assert loaded - ours == {"click", "typing_extensions"}


@pytest.mark.parametrize("group", [(), ("store",), ("config",), ("tables",)])
def test_a_bare_group_prints_its_help_and_nothing_else(
    group: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(elt_llm, [*group]) == 0
    bare = capsys.readouterr()
    assert run(elt_llm, [*group, "--help"]) == 0
    assert bare == capsys.readouterr()
    assert bare.err == ""
    assert bare.out.startswith("Usage: ")


def test_each_profile_says_what_it_is_for_and_needs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(elt_llm, ["config", "profiles"]) == 0
    lines = capsys.readouterr().out.splitlines()
    abouts = [line.strip() for line in lines if line.startswith("    ")]
    does, needs = abouts[::2], abouts[1::2]
    assert len(does) == len(needs) >= 8
    assert all(one.endswith(".") for one in does)
    assert all(one.startswith("Needs ") and one.endswith(".") for one in needs)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from elt_llm_core.cli import elt_llm\n"
        "from elt_llm_core.cli.failures import run\n"
        "code = run(elt_llm, ['--help'])\n"
        "heavy = {'llama_index', 'chromadb', 'numpy', 'pydantic', 'gradio'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_collections_as_json(
    published: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    root = ["--data-dir", str(published.data_dir)]
    assert run(elt_llm, ["collections", "--json", *root]) == 0
    (row,) = json.loads(capsys.readouterr().out)["collections"]
    assert (row["name"], row["documents"], row["chunks"]) == ("rules", 1, 300)
    assert row["files"] == 1
    assert row["generation"] == 1
    assert run(elt_llm, ["collections", "rules", "--json", *root]) == 0
    (document,) = json.loads(capsys.readouterr().out)["documents"]
    assert document["name"] == "a.txt"


def test_collections_for_people(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    root = ["--data-dir", str(store.data_dir)]
    assert run(elt_llm, ["collections", *root]) == 65
    assert "elt-llm ingest PATH --collection NAME" in capsys.readouterr().err
    assert not store.data_dir.exists()
    put(store, "rules", new_document("a.txt", ["one", "two"]), publish=False)
    assert run(elt_llm, ["collections", *root]) == 0
    assert "rules" in capsys.readouterr().out
    assert run(elt_llm, ["collections", "rules", *root]) == 0
    assert capsys.readouterr().out == "a.txt  1 pages  2 chunks\n"


def test_the_configuration_is_shown_with_secrets_masked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.yaml").write_text("api: {token: hunter2}\n")
    arguments = ["config", "show", "--config", "own.yaml", "--data-dir", "here"]
    assert run(elt_llm, [*arguments, "--json"]) == 0
    shown = capsys.readouterr().out
    assert set(json.loads(shown)["api"]["token"]) == {"*"}
    assert json.loads(shown)["stores"]["data_dir"] == "here"
    assert run(elt_llm, arguments) == 0
    assert "hunter2" not in shown + capsys.readouterr().out
    assert run(elt_llm, ["config", "profiles", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["profiles"][0] == "default"


def test_what_is_shipped_is_printed_to_be_copied(tmp_path, capsys):
    assert run(elt_llm, ["config", "shipped"]) == 0
    copy = tmp_path / "my.yaml"
    copy.write_text(capsys.readouterr().out)
    assert load_config(copy, environ={}) == RagConfig()
    assert run(elt_llm, ["config", "shipped", "ollama"]) == 0
    assert capsys.readouterr().out.startswith("# ")
    assert run(elt_llm, ["config", "shipped", "olama"]) == 78
    assert "did you mean 'ollama'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["collectons"], 64, "no command 'collectons'; did you mean 'collections'?"),
        (["list"], 64, "no command 'list'; did you mean 'collections'?"),
        (["lust"], 64, "No such command 'lust'"),
        (["zzzzzz"], 64, "No such command 'zzzzzz'"),
        (["collections", "--nope"], 64, "No such option"),
        (["collections", "aa", "bb", "cc"], 64, "unexpected extra argument"),
        (["collections", "--log-level", "LOUD"], 64, "'LOUD' is not one of"),
        (["collections", "nothere"], 65, "no collection 'nothere'"),
        (["collections", "../x"], 64, "'../x' is not a collection name"),
        (["collections", "--config", "no.yaml"], 78, "cannot read no.yaml"),
        (["collections", "--profile", "nope"], 78, "no profile named 'nope'"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_a_code(
    arguments: list[str],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(elt_llm, arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("elt-llm: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_no_command_at_all_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(elt_llm, []) == 0
    captured = capsys.readouterr()
    assert "Commands:" in captured.out
    assert captured.err == ""


def test_an_error_is_json_where_json_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(elt_llm, ["collections", "nothere", "--json"]) == 65
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "STO002"
    assert error["exit_code"] == 65
    (tmp_path / "bad.yaml").write_text("quer: {}")
    assert run(elt_llm, ["collections", "--config", "bad.yaml", "--json"]) == 78
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["hint"] == "did you mean 'query'?"


def test_the_doctor_finds_nothing_to_do_on_an_empty_root(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["doctor", "--json", "--data-dir", str(store.data_dir)]
    for more in ([], ["--repair"]):
        assert run(elt_llm, [*arguments, *more]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["rebuilt"] == {}
        levels = {check["name"]: check["level"] for check in found["checks"]}
        assert levels["database"] == "WARN"
    assert not store.data_dir.exists()


def test_the_doctor_mends_a_damaged_index_wherever_it_is_called(
    published: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("click.py", "numpy.py", "chromadb.py"):
        (tmp_path / name).write_text("raise SystemExit('taken for a library')\n")
    root = ["--data-dir", str(published.data_dir)]
    generation = published.data_dir / "indexes" / "rules" / "gen-000001"
    shutil.rmtree(generation / "vectors")
    assert run(elt_llm, ["doctor", *root]) == 0
    assert "fix: elt-llm doctor --repair" in capsys.readouterr().out
    assert run(elt_llm, ["doctor", "--repair", *root]) == 0
    shown = capsys.readouterr().out
    assert "rebuilt rules: generation 2" in shown
    assert "300 chunks, index ready" in shown
    assert Store(published.data_dir).open("rules").degradations == ()


def test_the_doctor_fails_where_the_truth_is_no_truth(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    store.data_dir.mkdir()
    (store.data_dir / "truth.sqlite3").write_bytes(b"nothing of the kind " * 99)
    arguments = ["doctor", "--json", "--data-dir", str(store.data_dir)]
    assert run(elt_llm, arguments) == 65
    checks = {c["name"]: c for c in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["database"]["level"] == "FAIL"
    assert checks["database"]["fix"]


def test_one_broken_command_does_not_take_the_others_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "stranger-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\n")
    (folder / "entry_points.txt").write_text(
        "[elt_llm.commands]\nbroken = no_such_module:command\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert run(elt_llm, ["--help"]) == 0
    shown = capsys.readouterr().out
    assert "doctor" in shown
    assert "(cannot be loaded)" in shown
    assert run(elt_llm, ["broken", "--some", "thing"]) == 78
    assert "No module named 'no_such_module'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("level", "heard"), [("WARNING", ["WARNING"]), ("INFO", ["INFO", "WARNING"])]
)
def test_the_level_of_logging_is_a_setting(
    tmp_path: Path, level: str, heard: list[str]
) -> None:
    path = tmp_path / "elt-llm.yaml"
    path.write_text(f"logging: {{level: {level}}}\n")
    script = (
        "import logging, sys; from pathlib import Path\n"
        "from elt_llm_core.cli.common import CommandContext\n"
        "CommandContext(config_file=Path(sys.argv[1])).config\n"
        "log = logging.getLogger('elt_llm_core')\n"
        "log.info('one'); log.warning('two')\n"
    )
    words = [sys.executable, "-c", script, str(path)]
    ended = subprocess.run(words, capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in ended.stderr.splitlines()] == heard


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--data-dir", ""], 64, "must name a folder"),
        (["--data-dir", "nowhere"], 65, "there is no data at nowhere"),
        (["--models", ""], 78, "models"),
    ],
)
def test_an_empty_or_missing_place_is_refused(
    arguments: list[str],
    code: int,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(elt_llm, ["collections", *arguments]) == code
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_empty_data_root_of_the_configuration_is_refused() -> None:
    for environ in (
        {"ELT_LLM_STORES__DATA_DIR": ""},
        {"ELT_LLM_STORES__DATA_DIR": " "},
    ):
        with pytest.raises(ConfigError, match="must name a folder"):
            load_config(environ=environ)
