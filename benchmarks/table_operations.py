"""Ask questions that need an operation on a table: select, count, compare, add up.

uv run --group dev python benchmarks/table_operations.py [--all]

Four generated documents (a price list with two header rows, a staff list with dates, a
retention schedule, a table of matches) are taken into a collection each. A line of
`table_operations.tsv` is a collection, a kind, a question, the values that a right
answer holds, and values that it must not hold, each separated by "; ". A question with
the single value `refuse` has no answer in its table. An answer that is not right is
wrong, whatever part of the table it quotes. Prints how many are right, refused, wrong,
and every answer that is not right.
"""

import argparse
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from openpyxl import Workbook

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import QueryResult, Status
from elt_llm_core.store import Store
from elt_llm_query.query import query_collections

QUESTIONS = Path(__file__).with_name("table_operations.tsv")
REFUSE = "refuse"

HIRE: tuple[tuple[Any, ...], ...] = (
    ("Tool", "Maker", "Private", "", "Trade", "", "Deposit"),
    ("", "", "Day", "Week", "Day", "Week", ""),
    ("Hammer drill", "Bosch", 18, 60, 15, 51, 50),
    ("Floor sander", "Makita", 42, 150, 36, 128, 100),
    ("Tile cutter", "Rubi", 25, 84, 21, 72, "none"),
    ("Chainsaw", "Stihl", 38, 130, 33, 110, 150),
    ("Wacker plate", "Bomag", 55, 190, 47, 162, 200),
    ("Scaffold tower", "Boss", "on request", 240, 60, 205, 250),
    ("Hedge trimmer", "Stihl", 20, 66, 17, 56, "none"),
    ("Belt sander", "Makita", 16, 52, 14, 45, 50),
)
STAFF = """\
Name,Department,Grade,Hired,Hours a week,Salary,Office,First aider
A. Lindqvist,Finance,7,2014-02-17,37,48200,Leeds,yes
B. Okafor,Finance,5,2019-06-03,37,33900,York,no
C. Demir,Legal,8,2011-09-12,30,56400,Leeds,no
D. Moreau,Archives,4,2021-01-11,20,24100,Leeds,yes
E. Petrov,Archives,6,2016-11-28,37,39800,Hull,no
F. Adeyemi,Building services,3,2022-05-16,37,25700,York,yes
G. Svensson,Building services,3,2018-08-06,37,26950,Leeds,yes
H. Tanaka,Legal,6,2023-03-20,37,38700,Leeds,no
I. Rossi,Archives,5,2020-12-31,25,31250,,no
"""
RECORDS = """\
# Retention schedule

The records of the society are kept as follows.

| Record | Class | Retention period | Kept by | Destroyed by |
|---|---|---|---|---|
| Minutes of the council | Governance | permanent | Secretary | |
| Register of members | Governance | permanent | Secretary | |
| Invoices paid | Finance | 7 years | Treasurer | Shredding |
| Bank statements | Finance | 7 years | Treasurer | Shredding |
| Payroll sheets | Finance | 10 years | Treasurer | Shredding |
| Job applications | Personnel | 1 year | Secretary | Deletion |
| Accident book | Safety | 40 years | Warden | Shredding |
| Visitor log | Safety | 2 years | Warden | Deletion |
"""
MATCHES: tuple[tuple[str, ...], ...] = (
    ("Date", "Home", "Away", "Home goals", "Away goals", "Spectators", "Referee"),
    ("7 September 2024", "Ardmore", "Belcross", "2", "1", "412", "J. Kerr"),
    ("14 September 2024", "Carrick", "Dunlow", "0", "0", "388", "P. Walsh"),
    ("21 September 2024", "Belcross", "Carrick", "3", "2", "501", "J. Kerr"),
    ("5 October 2024", "Dunlow", "Ardmore", "1", "4", "277", "S. Nolan"),
    ("12 October 2024", "Ardmore", "Carrick", "1", "1", "530", "P. Walsh"),
    ("2 November 2024", "Belcross", "Dunlow", "5", "0", "465", "J. Kerr"),
    ("18 January 2025", "Carrick", "Ardmore", "2", "3", "604", "S. Nolan"),
    ("1 February 2025", "Dunlow", "Belcross", "0", "2", "190", "J. Kerr"),
)


class Outcome(NamedTuple):
    """How one question was answered."""

    kind: str
    question: str
    verdict: str
    answer: str


def write_documents(folder: Path) -> dict[str, Path]:
    """Write the four documents, and return them by collection."""
    paths = {
        "hire": folder / "hire.xlsx",
        "staff": folder / "staff.csv",
        "records": folder / "records.md",
        "matches": folder / "matches.html",
    }
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Hire prices"
    for row in HIRE:
        sheet.append([value if value != "" else None for value in row])
    for cells in ("A1:A2", "B1:B2", "C1:D1", "E1:F1", "G1:G2"):
        sheet.merge_cells(cells)
    book.save(paths["hire"])
    paths["staff"].write_text(STAFF, "utf-8")
    paths["records"].write_text(RECORDS, "utf-8")
    paths["matches"].write_text(_to_html(MATCHES), "utf-8")
    return paths


def _to_html(rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{cell}</th>" for cell in rows[0])
    body = "".join(
        f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows[1:]
    )
    caption = "<caption>Matches of the season</caption>"
    table = f"<table>{caption}<tr>{head}</tr>{body}</table>"
    return f"<html><body><h1>Matches</h1>{table}</body></html>"


def judge(
    result: QueryResult, kind: str, expected: Sequence[str], banned: Sequence[str]
) -> str:
    """Return "right", "refused" or "wrong"; a refusal may be right.

    Counts and extremes must be stated: a quoted row that has the number is none.
    """
    if result.status not in {Status.ANSWERED, Status.PARTIAL}:
        return "right" if [*expected] == [REFUSE] else "refused"
    lines = result.answer.splitlines()
    if kind not in {"cell", "select", "negated", "empty", "yes"}:
        lines = [line for line in lines if " | " not in line]
    text = "\n".join(lines)
    held = all(re.search(rf"(?<![\w.,]){re.escape(v)}(?!\w)", text) for v in expected)
    return "right" if held and not any(b in text for b in banned) else "wrong"


def run(
    folder: Path, questions: Path, write: Callable[[Path], dict[str, Path]]
) -> list[Outcome]:
    """Take in the written documents and ask every question."""
    config = RagConfig()
    models, store = build_models(config), Store(folder / "root")
    for name, path in write(folder).items():
        options = {"paths": (str(path),), "collection": name}
        JOBS.load("ingest", options).build(models)(JobContext(config, store))
    outcomes = []
    for line in questions.read_text("utf-8").splitlines():
        home, kind, question, expected, banned = line.split("\t")
        result = query_collections(
            [home], question, store=store, config=config, models=models
        )
        verdict = judge(
            result, kind, expected.split("; "), [b for b in banned.split("; ") if b]
        )
        outcomes.append(Outcome(kind, question, verdict, result.answer))
    store.close()
    return outcomes


def main(
    questions: Path, write: Callable[[Path], dict[str, Path]], description: str
) -> None:
    """Print the counts by kind, and what is not right."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--all", action="store_true", help="also the right answers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = run(Path(folder), questions, write)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in outcomes:
        counts[one.kind][one.verdict] += 1
        counts["all"][one.verdict] += 1
        if options.all or one.verdict != "right":
            print(f"[{one.verdict}] {one.kind}: {one.question}\n    {one.answer}")
    print("\n| kind | right | refused | wrong |\n|---|---|---|---|")
    for kind, count in counts.items():
        print(f"| {kind} | {count['right']} | {count['refused']} | {count['wrong']} |")


if __name__ == "__main__":
    main(QUESTIONS, write_documents, __doc__.splitlines()[0])
