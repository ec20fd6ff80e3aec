"""What batch products share: their options, and a journal row for each item."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator

from elt_llm_core.errors import EltLlmError
from elt_llm_core.identifiers import digest, item_key
from elt_llm_core.jobs import JobContext, Runner
from elt_llm_core.records import Record
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.strategy import Strategy


class ProductJob(Strategy[Runner]):
    """Options that all products share."""

    collections: tuple[str, ...] = Field(description="where the documents are")
    model: tuple[str, ...] = Field(
        default=(), description="collections that hold the model, joined into one"
    )
    output: Path | None = Field(default=None, description="where the file goes")
    fresh: bool = Field(default=False, description="do finished items again")
    aliases: Path | None = Field(
        default=None, description="YAML file of entity name to synonyms"
    )
    textbook: bool = Field(
        default=False, description="count sentences that only explain a term too"
    )

    @field_validator("model", mode="before")
    @classmethod
    def _several(cls, value: object) -> object:
        """One name may stand for a tuple of it, and "" for none."""
        names = (value,) if isinstance(value, str) else value
        return (
            tuple(n for n in names if n) if isinstance(names, tuple | list) else names
        )


class Item(Record):
    """One thing to do: what it is called, and everything its result depends on."""

    name: str
    parts: tuple[str, ...]


class Outcome(Record):
    """Results in the order of the items, None where one failed."""

    results: tuple[dict[str, Any] | None, ...]
    counts: dict[str, int]
    degradations: tuple[Degradation, ...] = ()

    @property
    def good(self) -> list[dict[str, Any]]:
        """The results there are."""
        return [result for result in self.results if result is not None]

    def counted(self, *, unsound: int = 0, **more: int) -> dict[str, int]:
        """The counts with others; `unsound` rows are among the failed."""
        return {**self.counts, "failed": self.counts["failed"] + unsound, **more}


@cache
def program() -> str:
    """Changes with any line of this package: no older program's result is reused."""
    folder = Path(__file__).parent
    return digest(
        *(p.read_text(encoding="utf-8") for p in sorted(folder.rglob("*.py")))
    )


def run_items(
    context: JobContext,
    job: str,
    items: Sequence[Item],
    work: Callable[[int], Mapping[str, Any]],
    fresh: bool = False,
) -> Outcome:
    """Do `work(i)` for every item whose result the journal does not have.

    Each result is committed before the next item begins. An item that raises an error
    of this project, or whose record is refused, is recorded as failed, is not content,
    and is tried again next time.
    """
    results: list[dict[str, Any] | None] = []
    counts = {"done": 0, "reused": 0, "failed": 0}
    problems: list[Degradation] = []
    for number, item in enumerate(items):
        context.progress(job, number, len(items), item.name)
        key = item_key(job, program(), *item.parts)
        held = None if fresh else context.store.journal.get(key)
        if held is not None:
            counts["reused"] += 1
            results.append(held)
            continue
        result, problem = _attempt(context, job, (number, item, key), work)
        counts["done" if problem is None else "failed"] += 1
        results.append(result)
        problems += [] if problem is None else [problem]
    context.progress(job, len(items), len(items), "")
    return Outcome(results=tuple(results), counts=counts, degradations=tuple(problems))


def _attempt(
    context: JobContext,
    job: str,
    place: tuple[int, Item, str],
    work: Callable[[int], Mapping[str, Any]],
) -> tuple[dict[str, Any] | None, Degradation | None]:
    number, item, key = place
    journal = context.store.journal
    try:
        result = dict(work(number))
    except (EltLlmError, ValidationError) as error:
        code, message = _explained(error)
        failure = {"error": {"code": code, "message": message}}
        journal.put(job, key, number, item.name, result=failure, state="failed")
        detail = f"{job}: {item.name!r} is left out: {message}"
        return None, Degradation(kind=DegradationKind.ITEM_FAILED, detail=detail)
    journal.put(job, key, number, item.name, result=result)
    return result, None


def _explained(error: EltLlmError | ValidationError) -> tuple[str, str]:
    """The code and the sentence of an error; a record that is refused is CON001."""
    if isinstance(error, EltLlmError):
        return error.code, error.message
    first = error.errors()[0]
    where = "/".join(str(part) for part in first["loc"])
    return "CON001", f"its record is refused at {where!r}: {first['msg']}"
