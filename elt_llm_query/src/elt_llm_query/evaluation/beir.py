"""Test sets in the BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels/SPLIT.tsv`.

A line that cannot be read becomes a problem with its file and line number; the rest is
used.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elt_llm_core.errors import UsageError, suggest
from elt_llm_core.results import Degradation, DegradationKind

_MOST_CHARACTERS = 40  # of a line in a message


@dataclass(frozen=True)
class CorpusPassage:
    """A passage of the corpus: the unit that is judged."""

    id: str
    title: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class JudgedQuestion:
    """A question with its judgements: passage id to grade, at least one above 0.

    If judged items are not whole passages, `targets` maps chunk ids to the items they
    contain and `judged` describes the items.
    """

    id: str
    text: str
    gold: Mapping[str, int]
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    judged: tuple[str, ...] = ()


@dataclass(frozen=True)
class TestSet:
    """Passages and judged questions in the order of their files.

    `problems` has an entry for every line that was skipped.
    """

    __test__ = False  # not a pytest class

    name: str
    split: str
    passages: tuple[CorpusPassage, ...]
    questions: tuple[JudgedQuestion, ...]
    problems: tuple[Degradation, ...] = ()


def read_beir(folder: Path, split: str, limit: int | None = None) -> TestSet:
    """Read the passages with text and the first `limit` questions with judgements.

    Raises UsageError if a file is missing or contains nothing usable.
    """
    problems: list[Degradation] = []
    passages = _passages(_rows(folder / "corpus.jsonl", problems), problems)
    known = {passage.id for passage in passages}
    gold = _judgements(_qrels(folder, split), known, problems)
    texts = _queries(_rows(folder / "queries.jsonl", problems), problems)
    problems += [
        data_problem(f"the judged question {one!r} is missing from queries.jsonl")
        for one in sorted(gold.keys() - texts.keys())
    ]
    questions = [JudgedQuestion(i, t, gold[i]) for i, t in texts.items() if i in gold]
    if not passages or not questions:
        raise UsageError(
            f"{folder} holds {len(passages)} passages and {len(questions)} judged "
            f"questions of the split {split!r}",
            "both are required; see docs/how-to/measure-retrieval.md for the layout",
        )
    return TestSet(
        name=folder.resolve().name,
        split=split,
        passages=tuple(passages),
        questions=tuple(questions[:limit]),
        problems=tuple(problems),
    )


def json_lines(
    path: Path, problems: list[Degradation]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place (`file:line`) and object of every line; others become problems."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                place = f"{path.name}:{number}"
                try:
                    row = json.loads(line)
                except json.JSONDecodeError as error:
                    where = f"{error.msg}, at character {error.colno}"
                    problems.append(
                        data_problem(f"{place}: the line is no valid JSON ({where})")
                    )
                    continue
                except UnicodeDecodeError:
                    problems.append(data_problem(f"{place}: the line is not UTF-8"))
                    continue
                if isinstance(row, dict):
                    yield place, row
                else:
                    problems.append(data_problem(f"{place}: not a JSON object"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error


def data_problem(detail: str) -> Degradation:
    """Return the record of data that could not be used, and why."""
    return Degradation(kind=DegradationKind.ITEM_FAILED, detail=detail)


_Rows = Iterator[tuple[str, str, dict[str, Any]]]


def _rows(path: Path, problems: list[Degradation]) -> _Rows:
    """Yield place, id and object of the lines that have an id and a text."""
    seen: set[str] = set()
    for place, row in json_lines(path, problems):
        key, text = row.get("_id"), row.get("text")
        if not isinstance(key, str) or not key or not isinstance(text, str):
            problems.append(data_problem(f"{place}: `_id` and `text` must be strings"))
        elif key in seen:
            problems.append(data_problem(f"{place}: the id {key!r} is used twice"))
        else:
            seen.add(key)
            yield place, key, row


def _passages(rows: _Rows, problems: list[Degradation]) -> list[CorpusPassage]:
    passages: list[CorpusPassage] = []
    empty = 0
    for place, key, row in rows:
        title, more = row.get("title") or "", row.get("metadata") or {}
        if not isinstance(title, str) or not isinstance(more, dict):
            problems.append(
                data_problem(
                    f"{place}: `title` must be a string and `metadata` an object"
                )
            )
        elif row["text"].strip() or title.strip():
            passages.append(
                CorpusPassage(key, title.strip(), row["text"].strip(), more)
            )
        else:
            empty += 1
    if empty:
        problems.append(data_problem(f"corpus.jsonl: {empty} passages without text"))
    return passages


def _queries(rows: _Rows, problems: list[Degradation]) -> dict[str, str]:
    texts = {}
    for place, key, row in rows:
        if any(character.isalnum() for character in row["text"]):
            texts[key] = row["text"]
        else:
            problems.append(data_problem(f"{place}: the question is empty"))
    return texts


def _qrels(folder: Path, split: str) -> Path:
    path = folder / "qrels" / f"{split}.tsv"
    if not path.is_file():
        known = [file.stem for file in sorted(path.parent.glob("*.tsv"))]
        raise UsageError(
            f"{folder} has no judgements for a split {split!r} (qrels/{split}.tsv)",
            suggest(split, known) if known else "see --data",
        )
    return path


def _judgements(
    path: Path, known: set[str], problems: list[Degradation]
) -> dict[str, dict[str, int]]:
    """Question to passage to grade, for questions with a grade above 0.

    A gold passage that is not in the corpus still counts: as one that was not found.
    """
    judgements: dict[str, dict[str, int]] = {}
    missing: list[str] = []
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, start=1):
        parts = line.split("\t")
        if number == 1 and parts[-1] == "score":
            continue
        if len(parts) != 3 or not parts[2].strip().lstrip("-").isdigit():  # noqa: PLR2004 - question, passage, score
            problems.append(
                data_problem(f"{path.name}:{number}: {line[:_MOST_CHARACTERS]!r}")
            )
            continue
        judgements.setdefault(parts[0], {})[parts[1]] = int(parts[2])
        if int(parts[2]) > 0 and parts[1] not in known:
            missing.append(parts[1])
    if missing:
        problems.append(
            data_problem(
                f"{path.name}: {len(missing)} judged passages are empty or not in the "
                f"corpus ({missing[0]!r} first); they count as not found"
            )
        )
    return {q: grades for q, grades in judgements.items() if max(grades.values()) > 0}
