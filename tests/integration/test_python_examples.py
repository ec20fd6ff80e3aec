"""The Python code of the documentation runs, and prints what is printed below it."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CELL = re.compile(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)


@pytest.fixture(autouse=True)
def _clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elt_llm_consumer").symlink_to(ROOT / "elt_llm_consumer")
    monkeypatch.chdir(tmp_path)


def run_cells(page: str) -> list[tuple[str, str]]:
    """What each Python cell of a page printed, with what the page says it prints."""
    text = (ROOT / page).read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    outputs = []
    for code, expected in CELL.findall(text):
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(code, page, "exec"), names)  # noqa: S102 - our own pages
        outputs.append((printed.getvalue(), expected))
    return outputs


def test_the_cells_of_the_how_to_print_what_it_says() -> None:
    outputs = run_cells("docs/how-to/use-from-python.md")
    assert len(outputs) > 5
    for printed, expected in outputs:
        assert printed == expected


def test_the_cell_of_the_readme_prints_an_answer_and_its_citations() -> None:
    ((printed, _),) = run_cells("README.md")
    assert "channel 16 is kept free for distress calls" in printed
    assert "S1 handbook.pdf 59" in printed
