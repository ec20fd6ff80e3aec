"""A user's own questions: a JSON object a line, with what answers each.

    {"question": "...", "gold": [{"document": "rules.pdf", "quote": "..."}]}
    {"question": "...", "gold": [{"document": "rules.pdf", "page": 4}]}
    {"question": "...", "gold": [{"chunk": "8f1e..."}]}
    {"question": "...", "answerable": false}

`answer` may hold words that a right answer says. `status` is `accepted` (also where it
is not given), `candidate` or `rejected`; only accepted lines are asked. Lines with the
same question are one question with the gold of all.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from elt_llm_core.config.loader import plain_reason
from elt_llm_core.errors import UsageError
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.identifiers import digest
from elt_llm_core.records import Record
from elt_llm_core.results import Degradation
from elt_llm_query.evaluation.beir import json_lines, told

KEY = 12  # hex digits that name a question
SHOWN = 5  # lines that are told where none can be used


class Gold(Record):
    """Where an answer stands: in a quote, else on a page, else in a whole document.

    A `chunk` names a chunk by its id, and needs nothing else.
    """

    document: str = Field(default="", description="file name, title or address")
    page: int | None = Field(default=None, ge=1)
    quote: str = ""
    chunk: str = ""

    @model_validator(mode="after")
    def _names_something(self) -> "Gold":
        if not self.document and not self.chunk:
            msg = "`gold` needs a document or a chunk"
            raise ValueError(msg)
        return self


class Labelled(Record):
    """One line. `wrong` holds what a user marked as not answering."""

    question: str = Field(min_length=1)
    gold: tuple[Gold, ...] = ()
    wrong: tuple[Gold, ...] = ()
    answer: tuple[str, ...] = ()
    answerable: bool = True
    status: Literal["accepted", "candidate", "rejected"] = "accepted"

    @property
    def key(self) -> str:
        """A name made of the question's text."""
        return digest(self.question)[:KEY]


def read_labelled(path: Path) -> tuple[tuple[Labelled, ...], tuple[Degradation, ...]]:
    """The accepted questions in the order of the file, and the lines left out.

    Raises UsageError for a file that cannot be read or holds no question.
    """
    problems: list[Degradation] = []
    found: dict[str, Labelled] = {}
    for place, row in json_lines(path, problems):
        try:
            line = Labelled.model_validate(row)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "line"
            problems.append(told(f"{place}: {where}: {plain_reason(first['msg'])}"))
            continue
        if not any(character.isalnum() for character in line.question):
            problems.append(told(f"{place}: the question is empty"))
        elif line.status == "accepted":
            found[line.key] = _joined(found.get(line.key), line)
    if not found:
        raise UsageError(
            f"{path} holds no accepted question",
            "a line is {'question': ..., 'gold': [{'document': ..., 'quote': ...}]}",
            [problem.detail for problem in problems[:SHOWN]],
        )
    return tuple(found.values()), tuple(problems)


def append(path: Path, lines: Sequence[Labelled]) -> None:
    """Put lines at the end of a file, which is made where it is not there.

    Raises StoreWriteError, and UsageError for a file that cannot be read.
    """
    try:
        before = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    if before and not before.endswith(b"\n"):
        before += b"\n"
    new = "".join(f"{json.dumps(_row(one), ensure_ascii=False)}\n" for one in lines)
    write_atomic(path, before + new.encode("utf-8"))


def _row(line: Labelled) -> dict[str, Any]:
    return line.model_dump(mode="json", exclude_defaults=True)


def _joined(first: Labelled | None, second: Labelled) -> Labelled:
    if first is None:
        return second
    return first.model_copy(
        update={
            "gold": tuple(dict.fromkeys((*first.gold, *second.gold))),
            "wrong": tuple(dict.fromkeys((*first.wrong, *second.wrong))),
            "answer": tuple(dict.fromkeys((*first.answer, *second.answer))),
            "answerable": first.answerable and second.answerable,
        }
    )
