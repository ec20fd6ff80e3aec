"""Writes a model and questions to measure retrieval along a model's relations.

    uv run python benchmarks/graph_retrieval.py --nist DIR --out FOLDER
    uv run elt-llm ingest DIR/_sp800-63*/*.md FOLDER/model.drawio --collection nist \
        --data-dir ROOT
    uv run elt-llm eval retrieval --data-dir ROOT --collection nist \
        --questions FOLDER/bridging.jsonl --sweep FOLDER/sweep.yaml

DIR holds NIST SP 800-63-4 with its list of definitions. `graph_retrieval.tsv` relates
terms of that handbook, as a modeller would. A bridging question names one end of a
relation; its passage is the definition of the other end, which it does not name. A
direct question asks for a definition by name.
"""

import argparse
import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

RELATIONS = Path(__file__).with_suffix(".tsv")
SWEEP = """configurations:
  plain: {}
  graph: {query: {transform_strategy: [graph_search]}}
  graph_heavy:
    query:
      transform_strategy: [graph_search]
      transform_options: {graph_search: {weight: 1.0}}
"""
Row = Mapping[str, str]


def main() -> None:
    """Write `model.drawio`, `bridging.jsonl`, `direct.jsonl` and `sweep.yaml`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nist", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with RELATIONS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    listed = json.loads((options.nist / "definitions_parsed.json").read_text("utf-8"))
    # "Relying Party (RP)" is looked up as "relying party". "See ..." defines nothing.
    definitions = {
        one["term"].partition(" (")[0].casefold(): one["definition"].replace("_", "")
        for one in listed
        if not one["definition"].startswith("See ")
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "model.drawio").write_text(draw_model(rows), encoding="utf-8")
    (options.out / "sweep.yaml").write_text(SWEEP, encoding="utf-8")
    for name, lines in (
        ("bridging", list(ask_along_relations(rows, definitions))),
        ("direct", list(ask_directly(rows, definitions))),
    ):
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (options.out / f"{name}.jsonl").write_text(text, encoding="utf-8")
        sys.stdout.write(f"{name}: {len(lines)} questions\n")


def ask_along_relations(
    rows: Sequence[Row], definitions: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield a question for each relation whose target is defined."""
    for row in rows:
        if definition := definitions.get(row["target"].casefold()):
            question = f"What is the thing that a {row['source']} {row['verb']}?"
            yield _judged(question, definition)


def ask_directly(
    rows: Sequence[Row], definitions: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield "What is X?" for every end of a relation that is defined."""
    for name in sorted({row[end] for row in rows for end in ("source", "target")}):
        if definition := definitions.get(name.casefold()):
            yield _judged(f"What is {name}?", definition)


def _judged(question: str, quote: str) -> dict[str, Any]:
    return {
        "question": question,
        "gold": [{"document": "definitions.md", "quote": quote}],
    }


def draw_model(rows: Sequence[Row]) -> str:
    """Return a draw.io file with a box for each name and a labelled edge for a row."""
    names = sorted({row[end] for row in rows for end in ("source", "target")})
    ids = {name: f"box-{place}" for place, name in enumerate(names)}
    cells = [
        f'<mxCell id="{ids[name]}" value={quoteattr(name)} style="rounded=0" vertex="1"'
        f' parent="1"><mxGeometry x="{200 * (place % 6)}" y="{120 * (place // 6)}"'
        ' width="140" height="60" as="geometry"/></mxCell>'
        for place, name in enumerate(names)
    ]
    cells += [
        f'<mxCell id="edge-{place}" value={quoteattr(row["verb"])}'
        f' style="endArrow=open" edge="1" parent="1" source="{ids[row["source"]]}"'
        f' target="{ids[row["target"]]}"><mxGeometry relative="1" as="geometry"/>'
        "</mxCell>"
        for place, row in enumerate(rows)
    ]
    return (
        '<mxfile><diagram name="Terms"><mxGraphModel><root><mxCell id="0"/>'
        f'<mxCell id="1" parent="0"/>{"".join(cells)}'
        "</root></mxGraphModel></diagram></mxfile>\n"
    )


if __name__ == "__main__":
    main()
