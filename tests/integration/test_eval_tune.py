"""Tuning of a user's own collection, text cut anew included, as a user would do it."""

import json
from pathlib import Path

import pytest
import yaml

from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run

TOPICS = {
    "Loans": "A reader may borrow eight books at the same time.",
    "Periods": "The loan period of a book is 21 days.",
    "Overdue": "The fee for an overdue book is 20 cents per day.",
    "Cards": "A library card is issued to every person in the district.",
    "Children": "Children under 12 need the consent of a parent.",
    "Rooms": "The reading room closes at 20:00 on weekdays.",
    "Food": "Food is not permitted in the reading room.",
    "Groups": "A group room is reserved at the desk for two hours.",
    "Orders": "The librarian orders new books in spring and in autumn.",
    "Shelves": "Volunteers shelve returned books before the doors open.",
}
SWEEP = {"configurations": {"small": {"chunking": {"chunk_size": 32}}}}


def ran(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    code = run(elt_llm, [str(one) for one in arguments])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


def test_a_winner_is_chosen_written_and_held(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "\n\n".join(f"# {head}\n\n{said}" for head, said in TOPICS.items())
    (tmp_path / "rules.md").write_text(text, encoding="utf-8")
    (tmp_path / "sweep.yaml").write_text(yaml.safe_dump(SWEEP), encoding="utf-8")
    lines = [
        {
            "question": f"What is the rule about {head}?",
            "gold": [{"document": "rules.md", "quote": said}],
        }
        for head, said in TOPICS.items()
    ]
    own = tmp_path / "own.jsonl"
    own.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    data = ("--data-dir", tmp_path / "data", "--quiet")
    asked = (*data, "--questions", own, "--cache", tmp_path / "cache")
    ran(capsys, "ingest", tmp_path / "rules.md", "--collection", "rules", *data)

    won, held = tmp_path / "won.yaml", tmp_path / "held.json"
    sweep = ("--sweep", tmp_path / "sweep.yaml")
    told = ran(
        capsys,
        "eval",
        "tune",
        *asked,
        *sweep,
        "--write",
        won,
        "--baseline",
        held,
        "--json",
    )
    found = json.loads(told)
    assert {name for name, _ in found["ranking"]} == {"now", "small"}
    assert found["questions"] == len(TOPICS)
    assert len(list((tmp_path / "cache").glob("copy-*"))) == 1
    assert "chunk_size" in yaml.safe_load(won.read_text())["chunking"]
    ran(capsys, "eval", "gate", *asked, "--baseline", held, "--profile", won)
