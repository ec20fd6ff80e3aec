"""Ask questions whose modifiers matter: part-time, at AAL3, other than, for Grade N7.

    python benchmarks/answer_checks.py --data DATA_DIR --root ROOT [--held] [--all]

DATA_DIR holds the documents of `answer_checks.tsv`, which are taken into the data root
ROOT unless they are there. A line of it is a collection, `dev` or `held`, a question,
and words that a right answer holds; without words no document answers. Prints how many
are right, wrong, refused though answerable and refused rightly, by document, and every
answer that is not right; `--held` asks the other half of the questions.
"""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from elt_llm_core.config.loader import load_config
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import Status
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.prompts import UNSURE_ANSWER
from elt_llm_query.query import query_collections

QUESTIONS = Path(__file__).with_name("answer_checks.tsv")
DOCUMENTS = {
    "bank": ["policy_pdf/Banking_Policy_Document/Policy_Document.pdf"],
    "hr": ["policy_pdf/HR_HR_Policy/HR_Policy.pdf"],
    "imf": ["reading_dev/imf.pdf"],
    "metformin": ["drug_monographs/docs/metformin.pdf"],
    "nist": ["nist_sp800_63_4"],
    "wca": [f"rules_wca/wca-{n}.md" for n in ("regulations", "guidelines", "states")],
}
COLUMNS = ("right", "wrong", "refused wrongly", "refused rightly")


def fill(
    data: Path,
    store: Store,
    models: Models,
    config: RagConfig,
    documents: Mapping[str, Sequence[str]] = DOCUMENTS,
) -> None:
    """Take in the documents that the data root does not hold yet."""
    there = {c.name for c in store.collections()}
    for collection, paths in documents.items():
        if collection not in there:
            options = {
                "paths": [str(data / p) for p in paths],
                "collection": collection,
            }
            JOBS.load("ingest", options).build(models)(JobContext(config, store))


def judge(status: Status, answer: str, words: str) -> str:
    """Return which column an answer counts in."""
    if status not in {Status.ANSWERED, Status.PARTIAL}:
        return "refused wrongly" if words else "refused rightly"
    return "right" if words and words in answer else "wrong"


def main() -> None:
    """Print the counts, and what is not right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--all", action="store_true", help="also the right answers")
    options = parser.parse_args()
    config = load_config(environ={})
    models, store = build_models(config), Store(options.root)
    fill(options.data, store, models, config)
    counts: dict[str, Counter[str]] = {}
    unsure: Counter[str] = Counter()
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        home, half, question, words = line.split("\t")
        if (half == "held") != options.held:
            continue
        result = query_collections(
            [home], question, store=store, config=config, models=models
        )
        column = judge(result.status, result.answer, words)
        counts.setdefault(home, Counter())[column] += 1
        unsure[column] += UNSURE_ANSWER in result.answer
        if options.all or column in {"wrong", "refused wrongly"}:
            print(f"[{column}] {home}: {question}\n    {result.answer}")
    total = sum(counts.values(), Counter[str]())
    print(f"\n| document | {' | '.join(COLUMNS)} |\n{'|---' * (len(COLUMNS) + 1)}|")
    for home, one in [*sorted(counts.items()), ("all", total)]:
        print(f"| {home} | {' | '.join(str(one[c]) for c in COLUMNS)} |")
    print(f"\nnot certain: right {unsure['right']}, wrong {unsure['wrong']}")


if __name__ == "__main__":
    main()
