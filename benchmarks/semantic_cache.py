"""What a look into the semantic cache costs, and what a hit saves.

    python benchmarks/semantic_cache.py --data-dir DIR --questions FILE.jsonl

Asks every question of the file (`text` or `question` of each line) twice with one cache
and prints the median CPU milliseconds of a search, embedding included: without a cache,
with one that misses, with one that hits; and of the look alone.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import process_time

from elt_llm_core.config.loader import load_config
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import SearchResult
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query import SemanticCache, search_collections


def main() -> None:
    """Ask and print."""
    options = _options()
    lines = options.questions.read_text(encoding="utf-8").splitlines()
    told = [json.loads(line) for line in lines[: options.limit]]
    questions = [one.get("text") or one["question"] for one in told]
    models = build_models(load_config())
    store = Store(options.data_dir)
    names = options.collection or [card.name for card in store.collections()]
    cache = SemanticCache(entries=len(questions))
    for way, used in (("none", None), ("first", cache), ("again", cache)):
        times, found = _asked(questions, names, store, models, used)
        stages = [s for r in found for s in r.trace.stages if s.name == "cache"]
        hits = sum(s.top[0][0] == "hit" for s in stages)
        looks = median(s.milliseconds for s in stages) if stages else 0.0
        print(
            f"{way}: {median(times):.2f} ms CPU a search, {hits} hits of {len(times)}, "
            f"look {looks:.2f} ms with {len(cache)} kept"
        )


def _asked(
    questions: Sequence[str],
    names: Sequence[str],
    store: Store,
    models: Models,
    cache: SemanticCache | None,
) -> tuple[list[float], list[SearchResult]]:
    config, times, found = load_config(), [], []
    for question in questions:
        started = process_time()
        found.append(
            search_collections(
                names,
                question,
                store=store,
                config=config,
                models=models,
                cache=cache,
            )
        )
        times.append((process_time() - started) * 1000)
    return times, found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--collection", action="append")
    parser.add_argument("--limit", type=int, default=300)
    return parser.parse_args()


if __name__ == "__main__":
    main()
