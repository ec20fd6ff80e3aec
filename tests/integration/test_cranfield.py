"""Retrieval on a public test set is held to what was reached; where it is at hand."""

import os
from pathlib import Path

import pytest

from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run

FOLDER = Path(os.environ.get("ELT_LLM_EVAL_DATA", "")) / "cranfield"
BASELINE = Path(__file__).parents[2] / "benchmarks" / "baselines" / "cranfield.json"


@pytest.mark.long
@pytest.mark.skipif(not FOLDER.is_dir(), reason="ELT_LLM_EVAL_DATA has no cranfield")
def test_cranfield_is_found_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--data", str(FOLDER), "--split", "test", "--baseline", str(BASELINE)]
    code = run(elt_llm, ["eval", "gate", *asked, "--cache", str(tmp_path), "--quiet"])
    told = capsys.readouterr()
    assert code == 0, told.out + told.err
    assert "225 questions compared\n" in told.out
