"""Runs the program on documents that this project did not write, and checks its quotes.

uv run --group dev python benchmarks/public_documents.py --data DIR [--keep FOLDER]

DIR holds the evaluation data. Each document is taken in through the command line and
asked three questions. Every quote shown is looked up in the source by other means than
the program's own reader: PDFium's text of the page that the citation names, or the
bytes of the file. A question marked `refuse` is one that the document does not answer.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2

REFUSE = "refuse"


@dataclass(frozen=True)
class Case:
    """One collection, its files, and questions with a word the answer must hold."""

    collection: str
    paths: tuple[str, ...]
    questions: tuple[tuple[str, str], ...]


CASES = (
    Case(
        "nist",
        (
            "nist_sp800_63_4/sp800-63.md",
            "nist_sp800_63_4/_sp800-63",
            "nist_sp800_63_4/_sp800-63a",
            "nist_sp800_63_4/_sp800-63b",
            "nist_sp800_63_4/_sp800-63c",
        ),
        (
            ("What is an authenticator?", "claimant"),
            ("What is the minimum length of a password used as a single factor?", "15"),
            ("What is the penalty in dollars for losing a passport?", REFUSE),
        ),
    ),
    Case(
        "wca",
        ("rules_wca/wca-regulations.md", "rules_wca/wca-guidelines.md"),
        (
            ("How much inspection time does a competitor get?", "15 seconds"),
            ("What is the penalty for starting the solve after 15 seconds?", "2"),
            ("How much prize money does the world champion receive?", REFUSE),
        ),
    ),
    Case(
        "monograph",
        ("drug_monographs/docs/metformin.pdf",),
        (
            ("What are the contraindications of metformin?", "contraindicat"),
            ("What is the maximum daily dose of metformin?", "2"),
            ("Which football team sponsors this product?", REFUSE),
        ),
    ),
    Case(
        "policy",
        ("policy_pdf/HR_HR_Policy/HR_Policy.pdf",),
        (
            ("What is the probation period for grade N4 and above?", "6 months"),
            ("How many weeks of maternity leave are female staff entitled to?", "week"),
            ("What is the name of the chief executive's dog?", REFUSE),
        ),
    ),
)


def plain(text: str) -> str:
    """White space folded, compatibility forms resolved."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def program(*arguments: str) -> dict[str, Any]:
    """The JSON a command prints. Raises RuntimeError with its sentence on failure."""
    command = [sys.executable, "-m", "elt_llm_core.cli", *arguments, "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=900, check=False
    )
    if done.returncode not in (0, 2):
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def source_text(files: dict[str, Path], citation: dict[str, Any]) -> str:
    """What stands in the source at the place the citation names."""
    path = files[citation["document"]]
    if path.suffix != ".pdf":
        return path.read_text(encoding="utf-8")
    with pypdfium2.PdfDocument(path) as pdf:
        pages = range(citation["page"] - 1, min(citation["page"] + 1, len(pdf)))
        return "\n".join(pdf[i].get_textpage().get_text_range() for i in pages)


def stands_there(files: dict[str, Path], citation: dict[str, Any]) -> bool:
    """Whether the quote is in the source, letter for letter but for white space.

    Markdown keeps marks inside a sentence that a quote may leave out.
    """
    text = source_text(files, citation)
    quote = plain(citation["quote"])
    bare = plain(re.sub(r"[*_`\[\]|]", " ", text))
    return quote in plain(text) or plain(re.sub(r"[*_`\[\]|]", " ", quote)) in bare


def run_case(case: Case, data: Path, folder: Path) -> list[dict[str, Any]]:
    """One row a question."""
    paths = [str(data / path) for path in case.paths]
    files = {p.name: p for path in paths for p in _files(Path(path))}
    shared = ("--collection", case.collection, "--data-dir", str(folder))
    program("ingest", *paths, *shared)
    rows = []
    for question, expected in case.questions:
        result = program("query", question, *shared)
        quotes = result["citations"]
        good = sum(stands_there(files, c) for c in quotes)
        refused = result["status"] != "answered"
        right = refused if expected == REFUSE else expected in result["answer"]
        rows.append(
            {
                "collection": case.collection,
                "question": question,
                "status": result["status"],
                "right": right,
                "quotes": len(quotes),
                "quotes found in the source": good,
                "answer": plain(result["answer"])[:160],
            }
        )
    return rows


def _files(path: Path) -> list[Path]:
    return sorted(path.rglob("*")) if path.is_dir() else [path]


def main() -> int:
    """Print a Markdown table; 1 if a quote was not found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        rows = [row for case in CASES for row in run_case(case, options.data, folder)]
    print(f"| {' | '.join(rows[0])} |\n|{'---|' * len(rows[0])}")
    for row in rows:
        print(f"| {' | '.join(str(value) for value in row.values())} |")
    return int(any(r["quotes"] != r["quotes found in the source"] for r in rows))


if __name__ == "__main__":
    sys.exit(main())
