"""Questions about documents, asked of models: how many a graph takes for its own.

uv run --no-sync python benchmarks/graph_taken.py --data DIR

Each set of questions is asked of the sample, of three ArchiMate models, and of a model
made to be mistaken: every word of four letters or more of the set is one of its
elements. The only ones to be taken are the sample's questions about the sample's model.
"""

import argparse
import csv
import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from elt_llm_core.enterprise.model import (
    EnterpriseModel,
    ModelElement,
    ModelRelation,
    RelationEnd,
)
from elt_llm_core.graph.graph_questions import GraphQuestions
from elt_llm_core.graph.model_graph import graph_of
from graph_questions import PACK, read_models

HERE = Path(__file__).parent
LINES = {
    "financebench/questions.jsonl": "question",
    "gold/hr_policy_questions.jsonl": "question",
    "obliqa/queries.jsonl": "text",
    "cranfield/queries.jsonl": "text",
    "clapnq_dev/answerable.jsonl": "input",
    "clapnq_dev/unanswerable.jsonl": "input",
}


def read_questions(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each set of questions with its name."""
    for name, key in LINES.items():
        lines = (data / name).read_text(encoding="utf-8").splitlines()
        yield name, [json.loads(line)[key] for line in lines]
    for path in sorted(data.glob("policy_pdf/*/question_type*.csv")):
        with path.open(encoding="utf-8") as file:
            yield path.stem, [row["question"] for row in csv.DictReader(file)]
    for path in (data / "xquad_dev/en.json", PACK / "gold.json"):
        read = json.loads(path.read_text(encoding="utf-8"))
        yield path.name, list(values_of(read, "question"))
    for path in (HERE / "answer_questions.tsv", HERE / "table_questions.tsv"):
        fields = path.read_text(encoding="utf-8").replace("\n", "\t").split("\t")
        yield path.name, [field for field in fields if field.endswith("?")]
    path = HERE / "nist_questions.txt"
    yield path.name, path.read_text(encoding="utf-8").splitlines()


def values_of(read: Any, key: str) -> Iterator[str]:
    """Yield the texts under a key, however deep."""
    if isinstance(read, dict):
        for name, value in read.items():
            is_text = name == key and isinstance(value, str)
            yield from [value] if is_text else values_of(value, key)
    elif isinstance(read, list):
        for value in read:
            yield from values_of(value, key)


def mistakable_model(questions: Sequence[str]) -> EnterpriseModel:
    """Return a model in which every longer word of the questions is an element."""
    words = dict.fromkeys(w for q in questions for w in re.findall(r"[A-Za-z]{4,}", q))
    group = ModelElement(id="group", name="GROUP", role="domain", domain="GROUP")
    elements = [
        ModelElement(
            id=word, name=word, type="DataObject", domain="GROUP", parent_id="group"
        )
        for word in words
    ]
    ends = [RelationEnd(element_id=word, name=word) for word in words]
    relations = [
        ModelRelation(id=str(n), source=one, target=other, type="Serving")
        for n, (one, other) in enumerate(pairwise(ends))
    ]
    return EnterpriseModel(
        name="own words",
        source_file="own.xml",
        format="drawio",
        elements=(group, *elements),
        relations=tuple(relations),
    )


def main() -> None:
    """Ask every question of every model and print what is taken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    models = {name: GraphQuestions(graph_of(m)) for name, m in read_models(data)}
    print("questions", "asked", *models, "own words", sep="\t")
    for name, read in read_questions(data):
        questions = list(filter(None, read))
        own = GraphQuestions(graph_of(mistakable_model(questions)))
        taken = [
            [q for q in questions if asked.answer(q).status == "answered"]
            for asked in (*models.values(), own)
        ]
        print(name, len(questions), *map(len, taken), sep="\t", flush=True)
        for question in dict.fromkeys(q for several in taken for q in several):
            print(f"  {question}")


if __name__ == "__main__":
    main()
