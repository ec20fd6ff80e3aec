"""Retrieval quality and latency on the ObliQA development questions.

    python benchmarks/search_obliqa.py --data DIR/obliqa [--data-dir DIR] [--json FILE]

Stores the rulebooks (one document each, one chunk a passage, long ones cut) with the
configured embedder, then prints a table of Recall@10, MAP@10 and nDCG@10 per way of
joining and reranking, and the latency of a warm search. With `--data-dir` the store is
kept and used again.
"""

import argparse
import json
import logging
import math
import random
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from obliqa_corpus import NAME, ingest

from elt_llm_core.config import load_config
from elt_llm_core.models.build import build_models
from elt_llm_core.store import Collection, Store
from elt_llm_core.strategy import Models
from elt_llm_query.fusions import Convex, Fusion, HitList, RelativeScore, Rrf
from elt_llm_query.query import search_collections
from elt_llm_query.rerankers.embedding import StoredVectorRerank

SEED = 7
CUT = 10


@dataclass(frozen=True)
class Asked:
    """One question with its hits and the passages that answer it."""

    bundle: QueryBundle
    dense: HitList
    keyword: HitList
    gold: frozenset[str]


def main() -> None:
    """Run everything and print the tables."""
    options = _options()
    logging.disable(logging.INFO)
    config = load_config()
    models = build_models(config)
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(options.data_dir or Path(scratch))
        seconds = ingest(store, models, options.data)
        collection = store.open(NAME)
        passage_of = {n.node_id: n.metadata["section"] for n in store.nodes(NAME)}
        asked = ask(collection, models, options)
        rows = quality(collection, models, asked, passage_of)
        latency = time_searches(store, models, options)
    print(markdown(rows, latency, seconds))
    if options.json:
        report = {"ingest_seconds": seconds, "quality": rows, "latency": latency}
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the obliqa folder")
    parser.add_argument("--data-dir", type=Path, help="keep the store here")
    parser.add_argument("--sample", type=int, default=500, help="questions judged")
    parser.add_argument("--timed", type=int, default=200, help="questions timed")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    return parser.parse_args()


def questions(data: Path, count: int) -> list[tuple[str, str]]:
    """Ids and texts of a fixed random sample."""
    rows = [json.loads(line) for line in (data / "queries.jsonl").open()]
    chosen = random.Random(SEED).sample(rows, min(count, len(rows)))  # noqa: S311
    return [(row["_id"], row["text"]) for row in chosen]


def ask(
    collection: Collection, models: Models, options: argparse.Namespace
) -> list[Asked]:
    """Every sampled question with 100 hits of each index."""
    gold: dict[str, set[str]] = defaultdict(set)
    for line in (options.data / "qrels" / "dev.tsv").read_text().splitlines()[1:]:
        query, passage, *_ = line.split("\t")
        gold[query].add(passage)
    found = []
    for query, text in questions(options.data, options.sample):
        vector = models.embedder.get_query_embedding(text)
        bundle = QueryBundle(text, embedding=vector)
        dense = collection.search_dense(np.array(vector, dtype=np.float32), 100)
        keyword = collection.search_keyword(text, 100)
        found.append(
            Asked(
                bundle,
                HitList("dense", tuple(dense)),
                HitList("keyword", tuple(keyword)),
                frozenset(gold[query]),
            )
        )
    return found


def quality(
    collection: Collection,
    models: Models,
    asked: Sequence[Asked],
    passage_of: dict[str, str],
) -> list[dict[str, Any]]:
    """One row of metrics per way of joining and reranking."""
    rows = [
        _row("keyword only", [a.keyword.hits for a in asked], asked, passage_of),
        _row("dense only", [a.dense.hits for a in asked], asked, passage_of),
    ]
    for name, (fusion, depth, weight) in _ways().items():
        ranked = [_ranked(a, fusion, depth) for a in asked]
        if weight is not None:
            rerank = StoredVectorRerank(
                models.embedder,
                lambda _, ids: collection.vectors(ids),
                top_n=20,
                fused_weight=weight,
            )
            ranked = [
                _reranked(rerank, a, hits[:20])
                for a, hits in zip(asked, ranked, strict=True)
            ]
        rows.append(_row(name, ranked, asked, passage_of))
    return rows


def _ways() -> dict[str, tuple[Fusion, int, float | None]]:
    """Name to fusion, hits taken of each index, and the reranker's `fused_weight`."""
    ways: dict[str, tuple[Fusion, int, float | None]] = {
        "relative score, 20 hits each": (RelativeScore(), 20, None)
    }
    for depth in (20, 50, 100):
        ways[f"rrf, {depth} hits each"] = (Rrf(), depth, None)
        for alpha in (0.2, 0.3, 0.4, 0.5, 0.65):
            fusion = Convex(alpha=alpha)
            ways[f"convex {alpha}, {depth} hits each"] = (fusion, depth, None)
    bases: dict[str, Fusion] = {"rrf": Rrf(), "convex 0.3": Convex(alpha=0.3)}
    for base, joined in bases.items():
        for depth in (20, 50):
            for weight in (0.0, 0.3, 0.5, 0.7, 0.85, 1.0):
                name = f"{base}, {depth} hits each, embedding fused_weight {weight}"
                ways[name] = (joined, depth, weight)
    return ways


def _ranked(asked: Asked, fusion: Fusion, depth: int) -> list[tuple[str, float]]:
    lists = [HitList(x.kind, x.hits[:depth]) for x in (asked.dense, asked.keyword)]
    return fusion(lists)


def _reranked(
    rerank: StoredVectorRerank, asked: Asked, hits: Sequence[tuple[str, float]]
) -> list[tuple[str, float]]:
    nodes = [
        NodeWithScore(
            node=TextNode(id_=item, text="-", metadata={"collection": NAME}),
            score=score,
        )
        for item, score in hits
    ]
    found = rerank.postprocess_nodes(nodes, query_bundle=asked.bundle)
    return [(n.node.node_id, n.score or 0.0) for n in found]


def _row(
    name: str,
    ranked: Sequence[Sequence[tuple[str, float]]],
    asked: Sequence[Asked],
    passage_of: dict[str, str],
) -> dict[str, Any]:
    scores = [
        _metrics([passage_of[item] for item, _ in hits], a.gold)
        for hits, a in zip(ranked, asked, strict=True)
    ]
    means = [
        round(sum(column) / len(scores), 4) for column in zip(*scores, strict=True)
    ]
    return {"way": name, "recall": means[0], "map": means[1], "ndcg": means[2]}


def _metrics(passages: Sequence[str], gold: frozenset[str]) -> tuple[float, ...]:
    """Recall, average precision and nDCG at 10."""
    best = list(dict.fromkeys(passages))[:CUT]
    hits = [i for i, passage in enumerate(best, start=1) if passage in gold]
    precision = sum(n / i for n, i in enumerate(hits, start=1))
    ideal = sum(1 / math.log2(i + 1) for i in range(1, min(len(gold), CUT) + 1))
    gain = sum(1 / math.log2(i + 1) for i in hits)
    return len(hits) / len(gold), precision / min(len(gold), CUT), gain / ideal


def time_searches(
    store: Store, models: Models, options: argparse.Namespace
) -> dict[str, float]:
    """Milliseconds of a warm search with the default configuration."""
    config = load_config()
    asked = [text for _, text in questions(options.data, options.timed)]
    whole, embed = [], []
    for turn, text in enumerate([*asked[:20], *asked]):
        started = perf_counter()
        found = search_collections(
            [NAME], text, store=store, config=config, models=models
        )
        spent = (perf_counter() - started) * 1000
        if turn >= min(20, len(asked)):
            whole.append(spent)
            stages = {s.name: s.milliseconds for s in found.trace.stages}
            embed.append(stages["embed"])
    rest = [a - b for a, b in zip(whole, embed, strict=True)]
    named = {"search": whole, "embedding": embed, "search without embedding": rest}
    return {
        f"{name} p{p}": round(sorted(values)[int(len(values) * p / 100)], 2)
        for name, values in named.items()
        for p in (50, 95)
    }


def markdown(
    rows: Sequence[dict[str, Any]], latency: dict[str, float], seconds: float
) -> str:
    """The tables."""
    lines = ["| way | Recall@10 | MAP@10 | nDCG@10 |", "|---|---|---|---|"]
    lines += [
        f"| {r['way']} | {r['recall']:.4f} | {r['map']:.4f} | {r['ndcg']:.4f} |"
        for r in rows
    ]
    lines += ["", "| latency, warm | ms |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in latency.items()]
    lines += ["", f"Ingest with embedding: {seconds:.0f} s (0: it was there)."]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
