"""The commands, without ingest: light to import, same options, one JSON object."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from elt_llm_consumer import product_commands
from elt_llm_core.errors import OutputFileError

HEAVY = (
    "import sys, elt_llm_consumer.product_commands; "
    "sys.exit('llama_index' in sys.modules)"
)


def test_help_is_light():
    done = subprocess.run([sys.executable, "-c", HEAVY], timeout=60, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("name", ["glossary", "catalog", "coverage", "demo"])
def test_help(name):
    result = CliRunner().invoke(getattr(product_commands, name), ["--help"])
    assert result.exit_code == 0
    assert "--data-dir" in result.output


@pytest.mark.parametrize("name", ["glossary", "catalog", "coverage"])
def test_products(name, store, monkeypatch, models, aliases):
    from elt_llm_core.models import factory

    monkeypatch.setattr(factory, "build_models", lambda config: models)
    arguments = ["--collection", "handbook", "--model", "estate", "--quiet"]
    arguments += ["--aliases", str(aliases), "--data-dir", str(store.data_dir)]
    result = CliRunner().invoke(getattr(product_commands, name), [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["job"] == name
    assert f"{name}_json" in report["files"]
    shown = CliRunner().invoke(getattr(product_commands, name), arguments)
    assert "reused" in shown.output
    assert f"{name}_handbook.json" in shown.output


AGAIN = """
import sys
from elt_llm_core.cli import elt_llm
code = elt_llm.main(sys.argv[1:], standalone_mode=False)
sys.exit(code or ("llama_index" in sys.modules) or ("openpyxl" in sys.modules))
"""


@pytest.mark.parametrize("name", ["glossary", "catalog", "coverage"])
def test_a_run_that_makes_nothing_loads_no_model(name, store, monkeypatch, models):
    from elt_llm_core.models import factory

    monkeypatch.setattr(factory, "build_models", lambda config: models)
    arguments = ["--collection", "handbook", "--model", "estate", "--quiet", "--json"]
    arguments += ["--data-dir", str(store.data_dir)]
    first = CliRunner().invoke(getattr(product_commands, name), arguments)
    assert first.exit_code == 0, first.output
    command = [sys.executable, "-c", AGAIN, name, *arguments]
    again = subprocess.run(
        command, timeout=120, check=False, capture_output=True, text=True
    )
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["counts"]["done"] == 0


@pytest.mark.parametrize("folder", ["/proc", "/proc/none/below"])
def test_an_output_that_cannot_be_written_is_told_before_the_work(
    folder, monkeypatch, tmp_path
):
    from elt_llm_core.cli import job_commands

    monkeypatch.setattr(job_commands, "run_job_command", pytest.fail)
    file = f"{folder}/a.json"
    arguments = ["--collection", "handbook", "--output", file]
    with pytest.raises(OutputFileError, match="with --output") as told:
        CliRunner().invoke(
            product_commands.catalog,
            [*arguments, "--data-dir", str(tmp_path)],
            catch_exceptions=False,
        )
    assert told.value.message.startswith(f"cannot write {file}: ")
    assert list(tmp_path.iterdir()) == []


def test_public_names():
    import elt_llm_consumer

    assert elt_llm_consumer.__all__ == sorted(elt_llm_consumer.__all__)
    for name in elt_llm_consumer.__all__:
        assert getattr(elt_llm_consumer, name).__name__ == name
    with pytest.raises(AttributeError):
        elt_llm_consumer.nothing  # noqa: B018
