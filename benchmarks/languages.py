"""Whether questions in another language are shown the passage that answers them.

    python benchmarks/languages.py --data XQUAD_DIR

XQUAD_DIR holds a file `LANGUAGE.json` a language: articles with paragraphs, and
questions with their answers. The articles of a language become one collection, under
default settings. Prints for each language, with 95 % Wilson intervals, of how many
questions the first source, and the first quote shown, holds the answer; how many were
answered, shown the nearest sentences or refused; how many refusals name a wrong reason.
"""

import argparse
import json
import tempfile
from collections import Counter
from math import sqrt
from pathlib import Path
from typing import Any

from elt_llm_core.config.loader import load_config
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import DegradationKind, QueryResult, Status
from elt_llm_core.store import Store
from elt_llm_query.query import query_collections

Z = 1.96  # of a 95 % interval
COLUMNS = ("first source", "first shown", "answered", "nearest", "refused", "wrongly")


def main() -> None:
    """Print a row a language."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    print(f"| language | n | {' | '.join(COLUMNS)} |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for path in sorted(options.data.glob("*.json")):
        articles = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            counts = measured(articles, path.stem, Path(folder))
        n = counts["questions"]
        shown = [interval(counts[name], n) for name in COLUMNS[:2]]
        shown += [str(counts[name]) for name in COLUMNS[2:]]
        print(f"| {path.stem} | {n} | {' | '.join(shown)} |")


def measured(
    articles: list[dict[str, Any]], language: str, folder: Path
) -> Counter[str]:
    """The counts of one language."""
    config = load_config(environ={})
    models, store = build_models(config), Store(folder / "data")
    paths = []
    for number, article in enumerate(articles):
        title = str(article["title"]).replace("_", " ")
        paths.append(folder / f"{number:02d}.md")
        text = "\n\n".join([f"# {title}", *article["paragraphs"]])
        paths[-1].write_text(f"{text}\n", encoding="utf-8")
    told = {"paths": list(map(str, paths)), "collection": "articles"}
    JOBS.load("ingest", told).build(models)(JobContext(config, store))
    counts: Counter[str] = Counter()
    for question in (q for article in articles for q in article["questions"]):
        result = query_collections(
            ["articles"],
            question["question"],
            store=store,
            config=config,
            models=models,
        )
        counts += judged(result, question["answers"], language)
    store.close()
    return counts


def judged(result: QueryResult, answers: list[str], language: str) -> Counter[str]:
    """One question's part of the counts."""
    nearest = any(
        d.kind is DegradationKind.LANGUAGE_NOT_SERVED for d in result.degradations
    )
    refused = result.status not in {Status.ANSWERED, Status.PARTIAL}
    shown = result.citations[0].quote if result.citations else ""
    return Counter(
        {
            "questions": 1,
            "first source": any(a in result.sources[0].text for a in answers),
            "first shown": any(a in shown for a in answers),
            "answered": result.status is Status.ANSWERED,
            "nearest": nearest,
            "refused": refused,
            # The documents hold every answer: a refusal may only name the language.
            "wrongly": refused and not nearest and language != "en",
        }
    )


def interval(count: int, n: int) -> str:
    """The count with the Wilson interval of its share (Wilson, 1927)."""
    share = count / n
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    return f"{count} [{middle - half:.2f}, {middle + half:.2f}]"


if __name__ == "__main__":
    main()
