"""Glossaries with a language model that reads the passages, against gold.

    python benchmarks/glossary_model.py --data DIR --root ROOT --answers FILE [SET ...]

DIR and ROOT as in `glossary_scorer.py`; SET is a gold glossary ("monograph"), all by
default. The model is that of the environment (ELT_LLM_MODELS__LLM_STRATEGY ...). FILE
keeps what it wrote by batch, so that a run goes on where it stopped; with no model
configured only what FILE holds is used: answers of a model that ran elsewhere.

Prints precision, recall and boundaries with and without the model, with weights that
have not seen the document, and how often the model was right by its own measure.
"""

import argparse
import json
from pathlib import Path

from elt_llm_consumer.definitions.definition_pipeline import (
    SURE,
    Candidates,
    chosen_definitions,
    score_document,
)
from elt_llm_consumer.definitions.definition_reader import (
    PROMPT,
    Batch,
    WrittenDefinitions,
    ask_model,
    weigh,
)
from elt_llm_consumer.definitions.definition_scorer import DefinitionScorer, to_scorer
from elt_llm_core.config.loader import load_config
from elt_llm_core.errors import AnswerShapeError
from elt_llm_core.identifiers import digest
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from evaluation.glossary_gold import judge, read_gold
from glossary_scorer import HEAD, fit
from glossary_sets import GOLD, read_sets


class Answers:
    """What a model wrote of each batch, kept in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept = json.loads(path.read_text()) if path.exists() else {}
        self._llm = build_models(load_config()).llm
        self.unread = 0

    def ask(self, batch: Batch) -> WrittenDefinitions | None:
        """What the model wrote of a batch, None where it wrote nothing usable."""
        key = digest(PROMPT, batch.material, *batch.hints)
        if key not in self._kept and self._llm is not None:
            try:
                self._kept[key] = ask_model(self._llm, batch).model_dump()
            except AnswerShapeError:
                self._kept[key] = None
            self._path.write_text(json.dumps(self._kept))
        answer = self._kept.get(key)
        self.unread += answer is None
        return WrittenDefinitions.model_validate(answer) if answer else None


def read_candidates(
    root: Path, collection: str, scorer: DefinitionScorer
) -> list[Candidates]:
    """The candidates of the documents of a collection."""
    store = Store(root)
    try:
        ids = [row.document_id for row in store.documents(collection)]
        return [
            score_document(store.document_text(i), list(store.blocks(i)), scorer)
            for i in ids
        ]
    finally:
        store.close()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("sets", nargs="*", choices=[*GOLD, []])
    given = parser.parse_args()
    sets, answers = read_sets(given.data, given.root), Answers(given.answers)
    names = sorted({name for one in sets for row in one.rows for name in row})
    print(HEAD)
    for name in given.sets or GOLD:
        gold = read_gold(given.data / f"gold/{GOLD[name][0]}.jsonl")
        others = [one for one in sets if one.name != name]
        scorer = to_scorer(fit(others, names).content())
        alone = read_candidates(given.root, GOLD[name][0].replace("_", "-"), scorer)
        for title, documents in (
            (name, alone),
            (f"{name}, with the model", weigh(alone, answers.ask)),
        ):
            rows = [
                (one.term, one.definition)
                for candidates in documents
                for one in chosen_definitions(candidates, SURE, scorer)
            ]
            print(f"| {' | '.join((title, *judge(rows, gold).columns()))} |")
    print(f"\n{answers.unread} batches without an answer")


if __name__ == "__main__":
    main()
