"""The sample's gold questions as `elt-llm eval` takes them.

    python benchmarks/sample_questions.py FILE.jsonl

With the sample taken in by `elt-llm demo --data-dir DIR`, the baseline is written by

    elt-llm eval retrieval --questions FILE.jsonl --data-dir DIR
        --baseline benchmarks/baselines/kite-regatta.json
"""

import argparse
import json
from pathlib import Path
from typing import Any

from elt_llm_core.results import Status
from elt_llm_query.evaluation.labelled_questions import (
    Gold,
    LabelledQuestion,
    append_questions,
)

PACKS = Path(__file__).parents[1] / "elt_llm_consumer/src/elt_llm_consumer/packs"


def main() -> None:
    """Write one line a question, the unanswerable ones too."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="JSON lines, made anew")
    options = parser.parse_args()
    (gold,) = PACKS.glob("*/gold.json")
    questions = json.loads(gold.read_text(encoding="utf-8"))["questions"]
    options.file.unlink(missing_ok=True)
    append_questions(options.file, [line(question) for question in questions])


def line(question: dict[str, Any]) -> LabelledQuestion:
    """A gold question as a labelled one."""
    places = {key: question[key] for key in ("document", "page", "quote")}
    told = {key: value for key, value in places.items() if value}
    answerable = question["status"] == Status.ANSWERED
    return LabelledQuestion(
        question=str(question["question"]),
        gold=(Gold.model_validate(told),) if answerable else (),
        answer=tuple(question["answer_contains"]),
        answerable=answerable,
    )


if __name__ == "__main__":
    main()
