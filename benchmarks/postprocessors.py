"""What every postprocessor costs on a collection, and that its sources stay citable.

    python benchmarks/postprocessors.py --data-dir DIR --collection C --questions FILE

Asks every question of the file (one a line) with each postprocessor after the reranker.
Prints how many sources and citations came out, how many of them do not stand in the
document where their span says (none may), and the median and longest milliseconds.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from elt_llm_core.config.loader import load_config
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import QueryResult, Span
from elt_llm_core.store import Store
from elt_llm_query.query import query_collections
from elt_llm_query.stages import POSTPROCESSORS

NEEDED = {"time_weight": {"reference": "2025-01-01"}}


def main() -> None:
    """Ask and print a line a step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--collection", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    told = parser.parse_args()
    config = load_config()
    models, store = build_models(config), Store(told.data_dir)
    questions = told.questions.read_text(encoding="utf-8").split("\n")
    print(f"{'step':<20} sources  quotes  wrong  median ms  most ms")
    for step in ("", *POSTPROCESSORS.known()):
        results = [
            query_collections(
                [told.collection],
                question,
                store=store,
                config=_with(config, step),
                models=models,
            )
            for question in filter(None, questions)
        ]
        print(f"{step or 'none':<20} {_figures(store, results)}")
    store.close()


def _with(config: RagConfig, step: str) -> RagConfig:
    changes = {
        "postprocessor_strategy": (step,) if step else (),
        "postprocessor_options": {step: NEEDED[step]} if step in NEEDED else {},
    }
    query = config.query.model_copy(update=changes)
    return config.model_copy(update={"query": query})


def _figures(store: Store, results: Sequence[QueryResult]) -> str:
    sources = [s for result in results for s in result.sources]
    cited = [c for result in results for c in result.citations]
    claims = [(s.document_id, s.span, s.text) for s in sources]
    claims += [(c.document_id, c.span, c.quote) for c in cited]
    wrong = sum(not _stands(store, *claim) for claim in claims)
    spent = [
        stage.milliseconds
        for result in results
        for stage in result.trace.stages
        if stage.name.startswith("postprocessor:")
    ] or [0.0]
    return (
        f"{len(sources):7d} {len(cited):7d} {wrong:6d} {median(spent):10.2f} "
        f"{max(spent):8.1f}"
    )


def _stands(store: Store, document_id: str, span: Span, text: str) -> bool:
    return store.document_text(document_id)[span.start : span.end] == text


if __name__ == "__main__":
    main()
