"""The pack that the guide shows goes the whole way by the commands."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from elt_llm_core.cli import elt_llm

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "your-organisation.md"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root made by `elt-llm demo` from the pack that the guide shows."""
    folder = tmp_path_factory.mktemp("guide")
    text = GUIDE.read_text(encoding="utf-8")
    files = re.findall(r"`(library/[\w./-]+)`:\n\n```\w+\n(.*?)```", text, re.DOTALL)
    assert len(files) >= 5
    for name, content in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def run(root: Path, *arguments: str) -> dict:
    shared = ["--pack", str(root / "library"), "--data-dir", str(root / "data")]
    result = CliRunner().invoke(elt_llm, [*arguments, *shared, "--json", "--quiet"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_pack_of_the_guide_goes_the_whole_way(root):
    report = run(root, "demo")
    first, second = report["answers"]
    assert "21 days" in first["answer"]
    assert "14 days" not in first["answer"]  # of a section that is left out
    assert second["status"] == "insufficient"
    glossary = json.loads(Path(report["files"]["glossary_json"]).read_text("utf-8"))
    assert {row["term"]: row["found_by"] for row in glossary}["Short Loan"] == "wording"
    # The same settings hold for every other command that is given the pack.
    asked = run(root, "query", "How long is a loan?", "--profile", "desk")
    assert "21 days" in asked["answer"]
    assert len(asked["sources"]) == 2
    rows = json.loads(Path(run(root, "glossary", "--collection", "library-rules")[
        "files"]["glossary_json"]).read_text("utf-8"))  # fmt: skip
    assert rows == glossary
    topics = run(root, "topics", "list")["topics"]
    assert [topic["name"] for topic in topics] == ["Loan", "Reader"]
