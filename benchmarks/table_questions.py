"""Asks questions that a table answers, and some that it cannot.

uv run --group dev python benchmarks/table_questions.py --data DIR [--json] [--all]

DIR holds the evaluation data. The files are taken into one collection and each question
is put to all of it, once with tables and once without. An answer is right if it holds
the expected values and cites the page named. What no table says must be answered by
none: `refuse` has no page. The questions and values were taken from the pages by hand.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import QueryResult
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.query import query_collections

REFUSE = "refuse"
COLLECTION = "tables"
FOLDERS = {
    "eu": "tables_icdar2013_eu",
    "HR": "policy_pdf/HR_HR_Policy",
    "lip": "drug_monographs/docs",
    "": "financebench",
}
QUESTIONS = Path(__file__).with_name("table_questions.tsv")


class Case(NamedTuple):
    """A question, the file and page of its table, and what the answer must hold."""

    part: str
    file: str
    pages: tuple[int, ...]
    ask: str
    question: str
    expected: tuple[str, ...]


class Outcome(NamedTuple):
    """What came of a case: did a table answer, and is the answer right."""

    case: Case
    by_table: bool
    right: bool
    answer: str


def cases() -> list[Case]:
    """The labelled questions: part, file, page, kind, question, values."""
    rows = (line.split("\t") for line in QUESTIONS.read_text("utf-8").splitlines())
    return [
        Case(part, file, _pages(page), ask, question, tuple(values.split("; ")))
        for part, file, page, ask, question, values in rows
    ]


def _pages(told: str) -> tuple[int, ...]:
    """The pages of "4/12": the same figure stands on both."""
    return tuple(int(page) for page in told.split("/") if page)


def taken_in(data: Path, store: Store, models: Models, asked: Sequence[Case]) -> None:
    """One collection of every file that a question names."""
    names = sorted({case.file for case in asked if case.file})
    paths = [data / _folder(name) / name for name in names]
    options = {"paths": tuple(map(str, paths)), "collection": COLLECTION}
    JOBS.load("ingest", options).build(models)(JobContext(RagConfig(), store))


def _folder(name: str) -> str:
    return next(f for prefix, f in FOLDERS.items() if name.startswith(prefix))


def judged(case: Case, found: QueryResult) -> Outcome:
    """Right: every value is in the answer and the page is cited; or no table spoke."""
    by_table = any(s.name == "tables" and s.n_out for s in found.trace.stages)
    if case.ask == REFUSE:
        return Outcome(case, by_table, not by_table, found.answer)
    cited = {(c.document, c.page) for c in found.citations}
    held = all(value in found.answer for value in case.expected)
    placed = any((case.file, page) in cited for page in case.pages)
    return Outcome(case, by_table, held and placed, found.answer)


def counted(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Precision and recall of the tables, and how many answers are right at all."""
    real = [o for o in outcomes if o.case.ask != REFUSE]
    spoke = [o for o in outcomes if o.by_table]
    good = [o for o in real if o.by_table and o.right]
    kinds = Counter(o.case.ask for o in real)
    return {
        "questions": len(real),
        "unanswerable": len(outcomes) - len(real),
        "by_table": len(spoke),
        "precision": round(len(good) / max(len(spoke), 1), 3),
        "recall": round(len(good) / max(len(real), 1), 3),
        "wrong": len(spoke) - len(good),
        "wrong_on_unanswerable": sum(o.case.ask == REFUSE for o in spoke),
        "right_in_all": sum(o.right for o in real),
        "by_kind": {
            kind: f"{sum(o.case.ask == kind for o in good)}/{count}"
            for kind, count in sorted(kinds.items())
        },
    }


def main() -> int:
    """Print the figures; 1 where a table answered wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--all", action="store_true", help="every answer, not only bad")
    arguments = parser.parse_args()
    found = run(arguments.data, cases())
    report = {name: counted(outcomes) for name, (outcomes, _) in found.items()}
    for name, (_, seconds) in found.items():
        report[name]["cpu_ms_a_question"] = round(seconds * 1000, 1)
    if arguments.json:
        print(json.dumps(report, indent=2))
    else:
        for name, figures in report.items():
            print(
                name, *(f"  {key}: {value}" for key, value in figures.items()), sep="\n"
            )
        shown(found["with tables"][0], every=arguments.all)
    return int(report["with tables"]["wrong"] > 0)


def run(data: Path, asked: Sequence[Case]) -> dict[str, tuple[list[Outcome], float]]:
    """Outcomes with tables and without, and CPU seconds a question."""
    config = RagConfig()
    models = build_models(config)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        taken_in(data, store, models, asked)
        for name, use in (("with tables", True), ("without", False)):
            query = config.query.model_copy(update={"use_tables": use})
            one = config.model_copy(update={"query": query})
            begun = time.process_time()
            outcomes = [
                judged(
                    case,
                    query_collections(
                        [COLLECTION],
                        case.question,
                        store=store,
                        config=one,
                        models=models,
                    ),
                )
                for case in asked
            ]
            found[name] = (outcomes, (time.process_time() - begun) / len(asked))
        store.close()
    return found


def shown(outcomes: Sequence[Outcome], *, every: bool) -> None:
    """Each answer that is not right, and where a table stepped aside."""
    for one in outcomes:
        aside = one.case.ask != REFUSE and not one.by_table
        if every or aside or not one.right:
            state = "right" if one.right else "WRONG" if one.by_table else "no table"
            print(
                f"\n[{state}{', stepped aside' if aside else ''}] {one.case.question}"
            )
            print(
                f"  expected {'; '.join(one.case.expected)} on {one.case.file} p.",
                end="",
            )
            print(f" {one.case.pages}\n  got {one.answer}")


if __name__ == "__main__":
    sys.exit(main())
