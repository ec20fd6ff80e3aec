"""What chunkers, chunk sizes and the heading path change in retrieval.

    python benchmarks/chunkers.py --data DIR --work DIR [--only PART ...] [--json FILE]

`--data` holds `obliqa` and `cranfield`; vectors are kept in `--work`. Parts: `passages`
(ObliQA, a passage a chunk, with and without its headings), `cranfield` (with and
without its title), `rulebooks` (six rulebooks as text, cut by every chunker), `edits`
(chunks that change when one sentence is put in front). The retrieval is the default's:
keywords and vectors, `convex` with .3 dense, 50 hits each.
"""

import argparse
import json
import logging
from pathlib import Path

from chunker_edits import edits
from chunker_passages import cranfield, passages
from chunker_rulebooks import rulebooks
from elt_llm_core.config.loader import load_config
from elt_llm_core.models.factory import build_models
from ranked import Vectors

PARTS = {
    "passages": passages,
    "cranfield": cranfield,
    "rulebooks": rulebooks,
    "edits": edits,
}


def main() -> None:
    """Run the parts and print a table each."""
    options = _options()
    logging.disable(logging.INFO)
    models = build_models(load_config())
    options.work.mkdir(parents=True, exist_ok=True)
    vectors = Vectors(models.embedder, options.work)
    report = {}
    for name in options.only or PARTS:
        rows = PARTS[name](options.data, models, vectors)
        report[name] = rows
        print(f"\n## {name}\n\n{_table(rows)}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--work", type=Path, required=True, help="where vectors stay")
    parser.add_argument("--only", nargs="*", choices=sorted(PARTS), help="parts to run")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    return parser.parse_args()


def _table(rows: list[dict[str, str]]) -> str:
    heads = list(rows[0])
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(row[head] for head in heads) + " |" for row in rows]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
