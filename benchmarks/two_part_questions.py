"""Questions with two parts: are both parts' passages among the sources?

    python benchmarks/two_part_questions.py --data-dir ROOT --collection NAME [--show]

ROOT has both drug monographs of the evaluation data in the collection. A line of
two_part_questions.tsv has two parts and words of the passage of each; a part without
such words is not answered by the documents. Each question is asked three ways: its
parts by themselves (`given`), both as one message of a conversation, and both as one
question without a conversation (`whole`), which counts as answered if both parts are.
"""

import argparse
import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from elt_llm_core.results import QueryResult, Source, Status
from elt_llm_query import Library

CASES = Path(__file__).with_suffix(".tsv")
KEY = "two-parts"


class Case(NamedTuple):
    """A question with two parts."""

    first: str
    second: str
    first_gold: str
    second_gold: str

    @property
    def message(self) -> str:
        """Both parts as one question."""
        return (
            f"{self.first.rstrip('?')}, and {self.second[0].lower()}{self.second[1:]}"
        )

    @property
    def golds(self) -> tuple[str, ...]:
        """What the passages of its parts have."""
        return tuple(filter(None, (self.first_gold, self.second_gold)))


def has_passages(golds: Iterable[str], sources: Iterable[Source]) -> list[bool]:
    """Whether each passage is among the sources."""
    texts = [" ".join(s.text.split()).lower() for s in sources]
    return [any(gold.lower() in text for text in texts) for gold in golds]


def ask_parts(library: Library, case: Case, collection: str) -> list[QueryResult]:
    """Ask the parts by themselves, the second one after the first."""
    turns = [library.chat(p, KEY, collection) for p in (case.first, case.second)]
    library.store.conversations.delete(KEY, "local")
    return [turn.result for turn in turns]


def main() -> None:
    """Ask every question in each way, and print a row a way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--collection", required=True)
    parser.add_argument("--show", action="store_true", help="what was not found, too")
    options = parser.parse_args()
    with CASES.open(encoding="utf-8") as lines:
        cases = [Case(**row) for row in csv.DictReader(lines, delimiter="\t")]
    rows: dict[str, list[int]] = {}
    with Library(options.data_dir, models="embedded") as library:
        for case in cases:
            given = ask_parts(library, case, options.collection)
            turn = library.chat(case.message, KEY, options.collection)
            library.store.conversations.delete(KEY, "local")
            whole = library.ask(case.message, options.collection)
            parts = turn.parts or ()
            statuses = {
                "given": [r.status for r in given],
                "message": [p.status for p in parts] or [turn.result.status],
                "whole": [whole.status],
            }
            sources = {
                "given": [s for r in given for s in r.sources],
                "message": turn.result.sources,
                "whole": whole.sources,
            }
            for way, listed in sources.items():
                has = has_passages(case.golds, listed)
                answered = sum(s is Status.ANSWERED for s in statuses[way])
                counts = [sum(has), len(has), len(statuses[way]), answered]
                old = rows.setdefault(way, [0] * 4)
                rows[way] = [a + b for a, b in zip(old, counts, strict=True)]
                if options.show and not all(has):
                    print(way, has, case.message, [s.value for s in statuses[way]])
            if options.show:
                for part in parts:
                    answer = " ".join(part.answer.split())[:110]
                    print(f"    {part.status.value}: {part.question} {answer}")
    print("| way | passages among the sources | parts | answered |\n|---|---|---|---|")
    for way, (has_them, wanted, parts_asked, answered) in rows.items():
        print(f"| {way} | {has_them} of {wanted} | {parts_asked} | {answered} |")


if __name__ == "__main__":
    main()
