"""Questions about a model and about a handbook with the same nouns.

uv run --no-sync python benchmarks/model_and_handbook.py [--root DIR] [--show]

A handbook of two pages, a drawing and an ArchiMate model of a museum that lends
objects, in two collections that are asked together. The questions and their answers
(`model_and_handbook/questions.tsv`) were written before the rules that they measure. A
hyphen stands for a question that neither answers: a refusal is right, and so is "none
in the model" with what the model states instead. `by the model` counts the wrong
answers that cite a model only.
"""

import argparse
import csv
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from elt_llm_core.results import QueryResult, Status
from elt_llm_query import Library

FOLDER = Path(__file__).with_suffix("")
COLLECTIONS = {
    "handbook": ["handbook.md"],
    "models": ["lending.drawio", "systems.archimate.xml"],
}
NONE = "-"


def grade(result: QueryResult, right: str) -> str:
    """Return "right", "wrong" or "refused"."""
    if result.status is not Status.ANSWERED:
        return "right" if right == NONE else "refused"
    answer = result.answer.casefold()
    if right == NONE:
        return "right" if "in the model" in answer and " no" in answer else "wrong"
    parts = right.casefold().split(";")
    return "right" if all(part in answer for part in parts) else "wrong"


def main() -> None:
    """Ask every question and print how many are answered."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, help="data root, kept; else a new one")
    parser.add_argument("--show", action="store_true", help="print what is not right")
    options = parser.parse_args()
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    with (
        tempfile.TemporaryDirectory() as folder,
        Library(options.root or folder) as library,
    ):
        for name, files in COLLECTIONS.items():
            library.add([FOLDER / file for file in files], collection=name)
        with (FOLDER / "questions.tsv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        for row in rows:
            result = library.ask(row["question"])
            graded = grade(result, row["answer"])
            cited = {c.document for c in result.citations}
            by_model = graded == "wrong" and not cited & {*COLLECTIONS["handbook"]}
            totals[row["about"]].update(
                ["asked", graded, *(["by the model"] if by_model else [])]
            )
            if options.show and graded != "right":
                print(f"{row['question']}\n  {graded}: {result.answer}")
                print(f"  right: {row['answer']}")
    columns = ("asked", "right", "refused", "wrong", "by the model")
    print("about", *columns, sep="\t")
    for about, numbers in totals.items():
        print(about, *(numbers[c] for c in columns), sep="\t")


if __name__ == "__main__":
    main()
