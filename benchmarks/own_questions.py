"""Ask the whole program our own questions, and count right, wrong and refused answers.

    python benchmarks/own_questions.py --data DATA_DIR --root ROOT [COLLECTION ...]
    python benchmarks/own_questions.py --data FOLDER --root ROOT --questions FILE

The questions are those of `answer_questions.tsv` or FILE: a collection, a question, and
words of the sentence or row that answers, none if no sentence does. The documents are
taken into the data root ROOT unless they are there. Without COLLECTION, those that
people wrote who did not know the program are asked. With FILE, each collection is a
subfolder of FOLDER; `debian_questions.tsv` is such a file.

An answer is right if it quotes the words. Of the answerable questions that are refused,
those are counted apart whose nearest passages contain the words.
"""

import argparse
from collections import Counter
from pathlib import Path

from answer_cases import DOCUMENTS, QUESTIONS
from answer_checks import fill
from elt_llm_core.config.loader import load_config
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import QueryResult, Status
from elt_llm_core.store import Store
from elt_llm_query.query import query_collections

UNSEEN = (
    *("funds", "statements", "public_reports", "guides"),  # later used for development
    *("general", "markets", "earnings", "papers"),
)
COLUMNS = (
    *("right", "wrong", "refused, but shown", "refused, not shown"),
    *("answered without an answer", "refused rightly"),
)


def judge(result: QueryResult, words: str) -> str:
    """Return which column an answer counts in."""
    is_answered = result.status in {Status.ANSWERED, Status.PARTIAL}
    if not words:
        return "answered without an answer" if is_answered else "refused rightly"
    if is_answered:
        return "right" if words in _plain(result.answer) else "wrong"
    shown = (f"{one.quote} {one.reading}" for one in result.nearest)
    is_shown = any(words in _plain(text) for text in shown)
    return "refused, but shown" if is_shown else "refused, not shown"


def read_rows(path: Path) -> list[tuple[str, str, str]]:
    """Return the collection, the question and the words of each line of a file."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        home, question, words = line.split("\t")
        rows.append((home, question, words))
    return rows


def _plain(text: str) -> str:
    return " ".join(text.split())


def main() -> None:
    """Print the counts by collection."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--questions", type=Path, default=None)
    parser.add_argument("collections", nargs="*")
    options = parser.parse_args()
    rows = read_rows(options.questions or QUESTIONS)
    config = load_config(environ={})
    models, store = build_models(config), Store(options.root)
    if options.questions:
        wanted = {home: [home] for home, _, _ in rows}
    else:
        wanted = {name: DOCUMENTS[name] for name in options.collections or UNSEEN}
    fill(options.data, store, models, config, wanted)
    counts: dict[str, Counter[str]] = {name: Counter() for name in wanted}
    for home, question, words in rows:
        if home in wanted:
            result = query_collections(
                [home], question, store=store, config=config, models=models
            )
            counts[home][judge(result, _plain(words))] += 1
    total = sum(counts.values(), Counter[str]())
    print(f"| collection | {' | '.join(COLUMNS)} |\n{'|---' * (len(COLUMNS) + 1)}|")
    for home, one in [*counts.items(), ("all", total)]:
        print(f"| {home} | {' | '.join(str(one[c]) for c in COLUMNS)} |")


if __name__ == "__main__":
    main()
