"""What an answer without a language model costs when the program is warm.

    python benchmarks/warm_answers.py --data-dir ROOT --collection NAME FILE

FILE holds one question a line. Asks each question twice, the second time after all
others: then the sentences of its sources have been met before, as in a program that
answers questions about one handbook. Prints processor and wall time of both rounds.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from elt_llm_core.config.loader import load_config
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from elt_llm_query.query import query_collections


def main() -> None:
    """Print a row a round."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--collection", required=True)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    config, store = load_config(environ={}), Store(options.data_dir)
    models = build_models(config)
    questions = options.file.read_text(encoding="utf-8").splitlines()

    def ask(question: str) -> tuple[float, float]:
        start, wall = time.process_time(), time.perf_counter()
        query_collections(
            [options.collection], question, store=store, config=config, models=models
        )
        return time.process_time() - start, time.perf_counter() - wall

    ask("warm up")
    print("| round | processor p50, p95, ms | wall p50, p95, ms |\n|---|---|---|")
    for name in ("first", "again"):
        spent = np.array([ask(question) for question in questions]) * 1000
        (cpu, wall), (cpu_high, wall_high) = np.percentile(spent, (50, 95), axis=0)
        print(f"| {name} | {cpu:.0f}, {cpu_high:.0f} | {wall:.0f}, {wall_high:.0f} |")
    store.close()


if __name__ == "__main__":
    main()
