"""Ask questions for a list, and check that all items are quoted or the cut is stated.

    python benchmarks/list_questions.py --data DATA_DIR --root ROOT [--held] [--all]

DATA_DIR holds the documents, which are taken into the data root ROOT unless they are
there. A line of `list_questions.tsv` is a collection, `dev` or `held`, a question, and
a few words of each item of the list, separated by "; ". Prints how many answers are
whole, how many quote a part and say so, how many quote a part without a word, how many
have no item at all, and how many are refused, by document; and every answer that is
not whole.
"""

import argparse
from collections import Counter
from pathlib import Path

from answer_checks import DOCUMENTS, fill
from elt_llm_core.config.loader import load_config
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import QueryResult, Status
from elt_llm_core.store import Store
from elt_llm_query.query import query_collections

QUESTIONS = Path(__file__).with_name("list_questions.tsv")
ALL_DOCUMENTS = DOCUMENTS | {"lipitor": ["drug_monographs/docs/lipitor.pdf"]}
COLUMNS = ("whole", "part, stated", "part, silent", "wrong", "refused")


def judge(result: QueryResult, items: list[str]) -> str:
    """Return which column an answer counts in."""
    if result.status not in {Status.ANSWERED, Status.PARTIAL}:
        return "refused"
    quoted = sum(item.lower() in result.answer.lower() for item in items)
    if quoted == len(items):
        return "whole"
    if not quoted:
        return "wrong"
    cut = any(one.shown < one.total for one in result.lists)
    return "part, stated" if cut else "part, silent"


def main() -> None:
    """Print the counts, and what is not whole."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--all", action="store_true", help="also the whole answers")
    options = parser.parse_args()
    config = load_config(environ={})
    models, store = build_models(config), Store(options.root)
    fill(options.data, store, models, config, ALL_DOCUMENTS)
    counts: dict[str, Counter[str]] = {}
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        home, half, question, items = line.split("\t")
        if (half == "held") != options.held:
            continue
        result = query_collections(
            [home], question, store=store, config=config, models=models
        )
        column = judge(result, items.split("; "))
        counts.setdefault(home, Counter())[column] += 1
        if options.all or column != "whole":
            print(f"[{column}] {home}: {question}\n    {result.answer}")
    total = sum(counts.values(), Counter[str]())
    print(f"\n| document | {' | '.join(COLUMNS)} |\n{'|---' * (len(COLUMNS) + 1)}|")
    for home, one in [*sorted(counts.items()), ("all", total)]:
        print(f"| {home} | {' | '.join(str(one[c]) for c in COLUMNS)} |")


if __name__ == "__main__":
    main()
