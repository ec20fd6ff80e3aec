"""Test sets in the BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels/SPLIT.tsv`.

A line that cannot be read is told with its file and number, and the others go on.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elt_llm_core.errors import UsageError, suggest
from elt_llm_core.results import Degradation, DegradationKind

SHOWN = 40


@dataclass(frozen=True)
class Passage:
    """What is retrieved: the unit that is judged."""

    id: str
    title: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """A question with its judgements: passage to grade, at least one above 0.

    `targets` maps chunks to the judged passages they hold, where those are not whole
    chunks; `judged` then says what the passages are.
    """

    id: str
    text: str
    gold: Mapping[str, int]
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    judged: tuple[str, ...] = ()


@dataclass(frozen=True)
class TestSet:
    """Passages in the order of the file, judged questions in the order of theirs.

    `problems` tells every line that was left out.
    """

    __test__ = False  # no pytest class

    name: str
    split: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]
    problems: tuple[Degradation, ...] = ()


def read_beir(folder: Path, split: str, limit: int | None = None) -> TestSet:
    """The passages with text, and the first `limit` questions that have judgements.

    Raises UsageError for a file that is not there or holds nothing that can be used.
    """
    problems: list[Degradation] = []
    passages = _passages(_rows(folder / "corpus.jsonl", problems), problems)
    known = {passage.id for passage in passages}
    gold = _judgements(_qrels(folder, split), known, problems)
    texts = _queries(_rows(folder / "queries.jsonl", problems), problems)
    unasked = sorted(gold.keys() - texts.keys())
    problems += [
        _problem(f"the judged question {one!r} is not there") for one in unasked
    ]
    questions = [Question(i, t, gold[i]) for i, t in texts.items() if i in gold]
    if not passages or not questions:
        raise UsageError(
            f"{folder} holds {len(passages)} passages and {len(questions)} judged "
            f"questions of the split {split!r}",
            "both are needed; see docs/how-to/measure-retrieval.md for the layout",
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
    """Place (`file:line`) and object of every line; what is no object is told."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                place = f"{path.name}:{number}"
                try:
                    row = json.loads(line)
                except ValueError as error:
                    problems.append(_problem(f"{place}: {error}"))
                    continue
                if isinstance(row, dict):
                    yield place, row
                else:
                    problems.append(_problem(f"{place}: no JSON object"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error


def told(problem: str) -> Degradation:
    """A line that was left out, and why."""
    return _problem(problem)


def _problem(detail: str) -> Degradation:
    return Degradation(kind=DegradationKind.ITEM_FAILED, detail=detail)


_Rows = Iterator[tuple[str, str, dict[str, Any]]]


def _rows(path: Path, problems: list[Degradation]) -> _Rows:
    """Place, id and object of the lines that have an id and a text."""
    seen: set[str] = set()
    for place, row in json_lines(path, problems):
        key, text = row.get("_id"), row.get("text")
        if not isinstance(key, str) or not key or not isinstance(text, str):
            problems.append(_problem(f"{place}: `_id` and `text` must be strings"))
        elif key in seen:
            problems.append(_problem(f"{place}: the id {key!r} was there before"))
        else:
            seen.add(key)
            yield place, key, row


def _passages(rows: _Rows, problems: list[Degradation]) -> list[Passage]:
    found: list[Passage] = []
    empty = 0
    for place, key, row in rows:
        title, more = row.get("title") or "", row.get("metadata") or {}
        if not isinstance(title, str) or not isinstance(more, dict):
            problems.append(_problem(f"{place}: `title` or `metadata` of another kind"))
        elif row["text"].strip() or title.strip():
            found.append(Passage(key, title.strip(), row["text"].strip(), more))
        else:
            empty += 1
    if empty:
        problems.append(_problem(f"corpus.jsonl: {empty} passages without any text"))
    return found


def _queries(rows: _Rows, problems: list[Degradation]) -> dict[str, str]:
    found = {}
    for place, key, row in rows:
        if any(character.isalnum() for character in row["text"]):
            found[key] = row["text"]
        else:
            problems.append(_problem(f"{place}: the question is empty"))
    return found


def _qrels(folder: Path, split: str) -> Path:
    path = folder / "qrels" / f"{split}.tsv"
    if not path.is_file():
        known = [found.stem for found in sorted(path.parent.glob("*.tsv"))]
        raise UsageError(
            f"{folder} has no judgements of a split {split!r} (qrels/{split}.tsv)",
            suggest(split, known) if known else "see --data",
        )
    return path


def _judgements(
    path: Path, known: set[str], problems: list[Degradation]
) -> dict[str, dict[str, int]]:
    """Question to passage to grade, for questions with a grade above 0.

    A gold passage that the corpus lacks still counts: it cannot be found.
    """
    found: dict[str, dict[str, int]] = {}
    missing: list[str] = []
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, start=1):
        parts = line.split("\t")
        if number == 1 and parts[-1] == "score":
            continue
        if len(parts) != 3 or not parts[2].strip().lstrip("-").isdigit():  # noqa: PLR2004 - the layout
            problems.append(_problem(f"{path.name}:{number}: {line[:SHOWN]!r}"))
            continue
        found.setdefault(parts[0], {})[parts[1]] = int(parts[2])
        if int(parts[2]) > 0 and parts[1] not in known:
            missing.append(parts[1])
    if missing:
        problems.append(
            _problem(
                f"{path.name}: {len(missing)} judged passages are empty or not in the "
                f"corpus, {missing[0]!r} first; they count as not found"
            )
        )
    return {q: grades for q, grades in found.items() if max(grades.values()) > 0}
