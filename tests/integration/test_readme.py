"""The commands that the README prints under "Your own documents"."""

import re
import shlex
from pathlib import Path

import pytest

from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run

ROOT = Path(__file__).parents[2]
ENDLESS = frozenset({"serve", "watch"})


def commands() -> tuple[dict[str, str], list[list[str]]]:
    """What the block exports, and its commands in order, its variables put in."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.partition("## Your own documents")[2]
    block = section.partition("```bash\n")[2].partition("```")[0]
    variables: dict[str, str] = {}
    exports: dict[str, str] = {}
    found = []
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            exports[name] = value
            continue
        named = re.fullmatch(r"(\w+)=(\S+)", words[0])
        if named:
            variables[f"${named[1]}"] = named[2]
            continue
        assert words[:3] == ["uv", "run", "elt-llm"]
        for name, value in variables.items():
            words = [word.replace(name, value) for word in words]
        found.append(words[3:])
    return exports, found


@pytest.mark.timeout(900)  # the main job, from reading to the products
def test_the_commands_of_the_readme_run_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that do not end by themselves are looked at, not run."""
    for folder in ("docs", "elt_llm_consumer"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    exports, given = commands()
    for name, value in exports.items():
        monkeypatch.setenv(name, value)
    assert {words[0] for words in given} > ENDLESS
    assert {"ingest", "query", "glossary", "doctor"} <= {words[0] for words in given}
    for words in given:
        code = run(elt_llm, [*words, "--help"] if words[0] in ENDLESS else words)
        assert code == 0, (words, capsys.readouterr().err)
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / exports["ELT_LLM_DATA_DIR"]).is_dir()
