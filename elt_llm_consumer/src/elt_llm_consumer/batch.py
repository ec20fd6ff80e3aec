"""The batch engine of every product: items, a journal, and an orderly end.

Each finished item is committed to the journal of the database, under a key of
everything that its result depends on. A later run reuses these results and does the
rest: of a killed run only the items in progress, and those whose result is provisional,
are processed again. An item that fails is retried by the next run. If a model server is
unavailable the batch waits; no item fails for it.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from elt_llm_consumer.server_patience import (
    AWAY,
    WaitEndedError,
    call_patiently,
)
from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import (
    AbandonedError,
    BudgetSpentError,
    EltLlmError,
)
from elt_llm_core.identifiers import digest, item_key
from elt_llm_core.jobs import ItemOutcome, JobContext, JobReport
from elt_llm_core.records import Record
from elt_llm_core.results import Degradation, DegradationKind

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

_OUR_PACKAGES = ("elt_llm_consumer", "elt_llm_core", "elt_llm_query")
_CODE = frozenset({".json", ".py", ".yaml"})  # weights and word lists count too


class WorkItem(Record):
    """One unit of work: its name and a key of everything its result depends on."""

    name: str
    parts: tuple[str, ...]


class ProvisionalResult(dict[str, Any]):
    """A result that is poorer than it could be, so that no later run reuses it."""


class BatchResult(Record):
    """Results in the order of the items; None for failed or unfinished items.

    `stopped` is true if items remain: the batch was asked to end, its budget is spent,
    or its model server stayed unavailable. Then nothing is published.
    """

    results: tuple[dict[str, Any] | None, ...]
    counts: dict[str, int]
    degradations: tuple[Degradation, ...] = ()
    failures: tuple[ItemOutcome, ...] = ()
    stopped: bool = False

    @property
    def successes(self) -> list[dict[str, Any]]:
        """Return the results of the items that did not fail."""
        return [result for result in self.results if result is not None]

    def counts_with(self, *, invalid: int = 0, **more: int) -> dict[str, int]:
        """Return the counts and `more`; `invalid` rows count as failed."""
        return {**self.counts, "failed": self.counts["failed"] + invalid, **more}

    def only(self, number: int) -> "BatchResult":
        """Return the result of a single item."""
        return self.model_copy(update={"results": (self.results[number],)})

    def early_report(self, job: str) -> JobReport:
        """Return the report of a job whose batch was stopped."""
        return JobReport(
            job=job,
            counts=self.counts,
            degradations=self.degradations,
            items=self.failures,
            stopped=True,
        )


@cache
def program_digest() -> str:
    """Return a digest of the code of products and questions, with data files.

    Results of older code are not reused.
    """
    texts: list[str] = []
    for package in _OUR_PACKAGES:
        spec = find_spec(package)
        folder = Path(spec.origin).parent if spec and spec.origin else Path()
        paths = sorted(path for path in folder.rglob("*") if path.suffix in _CODE)
        texts += [path.read_text(encoding="utf-8") for path in paths]
    return digest(*texts)


def model_identity(llm: "LLM") -> str:
    """Return the name of a model and its weights, as far as its server reports them.

    Args:
        llm: A language model.

    Raises:
        ModelError: If the server does not answer, or refuses.
    """
    return f"{llm.metadata.model_name} {getattr(llm, 'model_digest', '')}"


def run_items(
    context: JobContext,
    job: str,
    items: Sequence[WorkItem],
    work: Callable[[int], Mapping[str, Any]],
    fresh: bool = False,
    at_once: int = 1,
) -> BatchResult:
    """Call `work(i)` for every item whose result is not in the journal.

    Args:
        context: Its store has the journal; its `stopped` is checked before each item.
        job: The name of the run in the journal.
        items: The items. Their keys determine which results can be reused.
        work: Processes an item. If it raises an EltLlmError, or its record is invalid,
            the item is recorded as failed and retried in the next run. A
            `ProvisionalResult` is made again by the next run, too.
        fresh: Reuse nothing.
        at_once: Number of items processed at a time, in separate threads.

    Returns:
        The results. They do not depend on `at_once`.

    Raises:
        ModelUnavailableError: If a model server is unavailable and no item was
            finished.
    """
    batch = _Batch(context, job, items, work)
    return batch.run(fresh=fresh, at_once=at_once)


def unfinished_items(
    context: JobContext, job: str, items: Sequence[WorkItem], fresh: bool = False
) -> list[int]:
    """Return the items that `run_items` will process, in order.

    Args:
        context: Its store has the journal.
        job: The name of the run in the journal.
        items: The items.
        fresh: Reuse nothing.
    """
    return [
        number
        for number, key in enumerate(_item_keys(job, items))
        if fresh or context.store.journal.get(key) is None
    ]


def _item_keys(job: str, items: Sequence[WorkItem]) -> list[str]:
    return [item_key(job, program_digest(), *item.parts) for item in items]


class _Batch:
    def __init__(
        self,
        context: JobContext,
        job: str,
        items: Sequence[WorkItem],
        work: Callable[[int], Mapping[str, Any]],
    ) -> None:
        self._context = context
        self._job = job
        self._items = items
        self._work = work
        self._keys = _item_keys(job, items)
        self._results: dict[int, dict[str, Any]] = {}
        self._failed: dict[int, str] = {}
        self._reused = 0
        self._stop = ""
        self._away: EltLlmError | None = None
        self._lock = threading.Lock()

    def run(self, *, fresh: bool, at_once: int) -> BatchResult:
        if not fresh:
            self._reuse()
        left = [n for n in range(len(self._items)) if n not in self._results]
        if at_once > 1 and len(left) > 1:
            self._run_in_threads(left, at_once)
        else:
            for number in left:
                self._do(number)
        self._context.progress(self._job, self._end_count, len(self._items), "")
        if self._away is not None and len(self._results) == self._reused:
            raise self._away
        return self._result()

    @property
    def _end_count(self) -> int:
        return len(self._results) + len(self._failed)

    def _reuse(self) -> None:
        """Take the finished results from the journal."""
        for number, key in enumerate(self._keys):
            stored = self._context.store.journal.get(key)
            if stored is not None:
                self._results[number] = stored
        self._reused = len(self._results)

    def _run_in_threads(self, left: Sequence[int], at_once: int) -> None:
        pool = ThreadPoolExecutor(at_once, thread_name_prefix="batch")
        try:
            futures = [pool.submit(copy_context().run, self._do, n) for n in left]
            for future in futures:
                future.result()
        except BaseException:
            self._stop = self._stop or "it was interrupted"
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _do(self, number: int) -> None:
        """Process one item and commit it, unless the batch is to end."""
        if self._stop or self._context.stopped():
            self._stop = self._stop or "it was asked to"
            return
        item = self._items[number]
        self._show(item.name)
        try:
            result = self._work_patiently(number)
        except AbandonedError:
            self._stop = "it was asked to"
        except BudgetSpentError as error:
            self._stop = error.message
        except (EltLlmError, ValidationError) as error:
            self._fail(number, error)
        else:
            if result is not None:
                self._commit(number, result)

    def _work_patiently(self, number: int) -> Mapping[str, Any] | None:
        """Return the result; None if the model server stays unavailable."""
        try:
            return call_patiently(
                lambda: self._work(number),
                self._context,
                lambda: bool(self._stop) or len(self._results) == self._reused,
                self._show,
            )
        except AWAY as error:
            self._away = error
        except WaitEndedError as ended:
            self._away = ended.error
        self._stop = self._stop or self._away.message
        return None

    def _show(self, detail: str) -> None:
        with self._lock:
            self._context.progress(self._job, self._end_count, len(self._items), detail)

    def _commit(self, number: int, result: Mapping[str, Any]) -> None:
        item, key, row = self._items[number], self._keys[number], dict(result)
        if not isinstance(result, ProvisionalResult):
            self._context.store.journal.put(
                self._job, key, number, item.name, result=row
            )
        crash_point(CrashPoint.ITEM_DONE)
        with self._lock:
            self._results[number] = row

    def _fail(self, number: int, error: EltLlmError | ValidationError) -> None:
        code, message = _describe_error(error)
        failure = {"error": {"code": code, "message": message}}
        item, key = self._items[number], self._keys[number]
        self._context.store.journal.put(
            self._job, key, number, item.name, result=failure, state="failed"
        )
        with self._lock:
            self._failed[number] = message

    def _result(self) -> BatchResult:
        count = len(self._items)
        failed = sorted(self._failed.items())
        problems = [
            f"{self._job}: {self._items[n].name!r} is left out: {why}"
            for n, why in failed
        ]
        counts = {
            "done": len(self._results) - self._reused,
            "reused": self._reused,
            "failed": len(failed),
        }
        left = count - self._end_count
        if left:
            counts["left"] = left
            problems.append(
                f"{self._job}: {left} of {count} items remain because the batch "
                f"ended early: {self._stop}; the same command resumes there"
            )
        kind = DegradationKind.ITEM_FAILED
        return BatchResult(
            results=tuple(self._results.get(n) for n in range(count)),
            counts=counts,
            degradations=tuple(Degradation(kind=kind, detail=d) for d in problems),
            failures=tuple(
                ItemOutcome(
                    name=self._items[n].name, uri="", outcome="failed", detail=why
                )
                for n, why in failed
            ),
            stopped=bool(left),
        )


def _describe_error(error: EltLlmError | ValidationError) -> tuple[str, str]:
    """Return the code and message of an error; CON001 for an invalid record."""
    if isinstance(error, EltLlmError):
        return error.code, error.message
    first = error.errors()[0]
    where = "/".join(str(part) for part in first["loc"])
    return "CON001", f"its record is invalid at {where!r}: {first['msg']}"
