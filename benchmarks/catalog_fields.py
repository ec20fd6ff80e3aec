"""How many of the filled fields of a catalogue say what they should.

    uv run --group dev python benchmarks/catalog_fields.py [--data DIR]

Makes the catalogue of the sample and, with `--data`, of an HR policy, a federation's
rules and a bank's policy on records, with small models drawn for the purpose
(`catalog_fields/*.csv`), and judges each sentence of each field by
`catalog_fields/gold.tsv`: right if it says of the entity what the field is for. A
sentence is known by its opening. One that nobody judged yet counts as wrong and is
printed, to be judged. Without a model.
"""

import argparse
import csv
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elt_llm_consumer.context_fields import FIELDS
from elt_llm_core.config.domain_packs import DEFAULT, find_pack
from elt_llm_core.config.loader import load_config
from elt_llm_core.jobs import JOBS, JobContext, run_job
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.evaluation.measures import interval

FOLDER = Path(__file__).parent / "catalog_fields"
DOCUMENTS = {
    "hr-policy": "policy_pdf/HR_HR_Policy/HR_Policy.pdf",
    "competition-rules": "rules_wca/wca-regulations.md",
    "bank-records": "policy_pdf/Banking_Policy_Document/Policy_Document.pdf",
}
RIGHT, WRONG = "right", "wrong"
OPENING = 8  # words of a sentence by which the gold knows it
LEAST_RIGHT, MOST_WRONG = 0.9, 0.03  # the bars

Key = tuple[str, str, str]  # entity, field, opening


class Filled(NamedTuple):
    """One filled field with the verdicts of its sentences."""

    entity: str
    field: str
    verdicts: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether every sentence is right."""
        return set(self.verdicts) == {RIGHT}

    @property
    def is_wrong(self) -> bool:
        """Whether no sentence is right, though each quote is verified."""
        return RIGHT not in self.verdicts


def read_gold() -> dict[str, dict[Key, str]]:
    """Document to the judged sentences and their verdicts."""
    gold: dict[str, dict[Key, str]] = defaultdict(dict)
    with (FOLDER / "gold.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        for row in rows:
            key = row["entity"], row["field"], row["opening"]
            gold[row["document"]][key] = row["verdict"]
    return gold


def opening_of(sentence: str) -> str:
    """The opening by which the gold knows a sentence."""
    return " ".join(sentence.split()[:OPENING])


def judge(
    rows: Sequence[Mapping[str, Any]], gold: Mapping[Key, str]
) -> tuple[list[Filled], list[Key]]:
    """Return the filled fields of the model's entities, and what nobody judged."""
    filled, unjudged = [], []
    for row in rows:
        if row["source"] == "HANDBOOK_ONLY":
            continue
        for field in FIELDS:
            quotes = row["evidence"].get(field, ())
            keys = [(row["entity_name"], field, opening_of(q["quote"])) for q in quotes]
            unjudged += [key for key in keys if key not in gold]
            if keys:
                verdicts = tuple(gold.get(key, WRONG) for key in keys)
                filled.append(Filled(row["entity_name"], field, verdicts))
    return filled, unjudged


def recall(filled: Sequence[Filled], gold: Mapping[Key, str]) -> tuple[int, int]:
    """How many of the fields that can be filled have a right sentence."""
    wanted = {key[:2] for key, verdict in gold.items() if verdict == RIGHT}
    got = {(one.entity, one.field) for one in filled if not one.is_wrong}
    return len(wanted & got), len(wanted)


def make_catalogs(data: Path | None, root: Path) -> Iterator[tuple[str, list[Any]]]:
    """Name of a document and the rows of its catalogue."""
    config = load_config(environ={})
    models = build_models(config)
    pack = find_pack(DEFAULT)
    files = {name: [pack.folder / d.path for d in pack.files(name)]
             for name in pack.collections}  # fmt: skip
    yield (
        pack.name,
        make_catalog(
            JobContext(config, Store(root / "sample")),
            models,
            files["handbook"],
            files["model"],
            pack.aliases_file,
        ),
    )
    for name, path in DOCUMENTS.items() if data else ():
        context = JobContext(config, Store(root / name))
        paths = [data / path]
        yield name, make_catalog(context, models, paths, [FOLDER / f"{name}.csv"])


def make_catalog(
    context: JobContext,
    models: Models,
    handbook: Sequence[Path],
    model: Sequence[Path],
    aliases: Path | None = None,
) -> list[Any]:
    """The rows of the catalogue of some files."""
    for name, paths in (("handbook", handbook), ("model", model)):
        options = {"paths": tuple(map(str, paths)), "collection": name}
        run_job(JOBS.load("ingest", options).build(models), context)
    options = {"collections": ("handbook",), "model": ("model",), "aliases": aliases}
    report = run_job(JOBS.load("catalog", options).build(models), context)
    text = Path(report.files["catalog_flat_json"]).read_text(encoding="utf-8")
    context.store.close()
    rows: list[Any] = json.loads(text)["entities"]
    return rows


def print_scores(name: str, rows: Sequence[Any], gold: Mapping[Key, str]) -> bool:
    """Print the figures of one document; whether it meets both bars."""
    filled, unjudged = judge(rows, gold)
    right = interval([float(one.is_right) for one in filled])
    wrong = interval([float(one.is_wrong) for one in filled])
    got, wanted = recall(filled, gold)
    print(
        f"{name}: {len(filled)} fields filled; all sentences right {right.mean:.3f} "
        f"[{right.low:.3f}, {right.high:.3f}]; wrong but verified {wrong.mean:.3f} "
        f"[{wrong.low:.3f}, {wrong.high:.3f}]; filled of those the gold has "
        f"{got} of {wanted}"
    )
    for one in filled:
        if not one.is_right:
            print(f"  {one.entity} / {one.field}: {', '.join(one.verdicts)}")
    for key in unjudged:
        print(f"  not judged: {' / '.join(key)}")
    return right.mean >= LEAST_RIGHT and wrong.mean <= MOST_WRONG


def main() -> int:
    """Measure; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the evaluation data")
    options = parser.parse_args()
    gold = read_gold()
    with tempfile.TemporaryDirectory() as root:
        met = [
            print_scores(name, rows, gold[name])
            for name, rows in make_catalogs(options.data, Path(root))
        ]
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main())
