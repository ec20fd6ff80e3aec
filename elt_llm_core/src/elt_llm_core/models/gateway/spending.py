"""Accounting of model calls, and budgets for a question, a job and a day.

The code that starts a question or a job opens an account; a gateway finds the open
ones, so that no stage in between has to pass them on.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from typing_extensions import override

from elt_llm_core.config.sections import GatewaySection
from elt_llm_core.errors import BudgetSpentError, ModelError, StoreError
from elt_llm_core.results import ModelCost

UNITS = ("calls", "tokens", "seconds")


@dataclass
class Account:
    """The usage of one question, job or day. `limits` are by unit, 0 for none.

    `fallbacks` are the models that failed and were replaced by another. `asked` counts
    the requested answers, including cached ones. `cut_answers` is the setting,
    `setting` the prefix of the keys of the limits.
    """

    name: str
    limits: dict[str, float] = field(default_factory=dict)
    used: ModelCost = field(default_factory=ModelCost)
    fallbacks: list[str] = field(default_factory=list)
    asked: int = 0
    cut_answers: bool = False
    setting: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> None:
        """Raise BudgetSpentError if a limit is reached."""
        for unit in self.limits:
            self._require(unit, getattr(self.used, unit))

    def _require(self, unit: str, spent: float) -> None:
        limit = self.limits[unit]
        if limit and spent >= limit:
            key = f"{self.setting}{unit}" if self.setting else ""
            raise BudgetSpentError(self.name, unit, f"{spent:g}", f"{limit:g}", key)

    def add(self, used: ModelCost) -> None:
        """Add the cost of a call."""
        with self._lock:
            self.used = self.used + used


_OPEN: ContextVar[tuple[Account, ...]] = ContextVar("accounts", default=())


@contextmanager
def open_account(name: str, settings: GatewaySection) -> Iterator[Account]:
    """Count calls in this block and in threads that copy its context.

    Args:
        name: `question` or `job`; the settings have its limits.
        settings: The section `gateway`.
    """
    limits = _limits(name, settings)
    with _open(Account(name, limits, cut_answers=settings.cut_answers)) as account:
        yield account


@contextmanager
def count_calls(name: str) -> Iterator[Account]:
    """Like `open_account`, without limits: for a part of a question."""
    with _open(Account(name)) as account:
        yield account


@contextmanager
def limit_calls(
    name: str, setting: str, limits: Mapping[str, float]
) -> Iterator[Account]:
    """As `open_account`, with limits of its own: for a part of a question.

    Args:
        name: Of the part, for messages.
        setting: The begin of the keys that set the limits.
        limits: By unit (`UNITS`); 0 for none.
    """
    with _open(Account(name, dict(limits), setting=setting)) as account:
        yield account


@contextmanager
def charge(account: Account) -> Iterator[Account]:
    """Count calls in this block on an account that several blocks share."""
    with _open(account):
        yield account


@contextmanager
def _open(account: Account) -> Iterator[Account]:
    before = _OPEN.set((*_OPEN.get(), account))
    try:
        yield account
    finally:
        _OPEN.reset(before)


def count_cut_answers() -> int:
    """Count the truncated answers of the open question or job.

    They reached the maximum length. Answers that need not end at a whole sentence, by
    the setting, are not counted. A streamed answer is cut by the code that joins it.
    """
    return sum(account.used.cut for account in _OPEN.get() if account.cut_answers)


class CallLedger(Protocol):
    """The usage per day of all processes, as in `Store.day_ledger`."""

    def take_call(self, day: str, most: float) -> bool:
        """Count one more call, unless the limit is reached."""

    def add(self, day: str, amounts: Mapping[str, float]) -> None:
        """Add to the sums of a day."""

    def sums(self, day: str) -> dict[str, float]:
        """Return the usage of that day, by unit."""


_LEDGER: ContextVar[CallLedger | None] = ContextVar("ledger", default=None)


@contextmanager
def count_days(ledger: CallLedger) -> Iterator[None]:
    """Count days over all processes in this block and its threads."""
    before = _LEDGER.set(ledger)
    try:
        yield
    finally:
        _LEDGER.reset(before)


class SharedDay(Account):
    """The usage of a day by all processes with the same database.

    A call is counted before it is made, so that two processes never exceed the limit.
    """

    def __init__(self, day: str, limits: dict[str, float], ledger: CallLedger) -> None:
        super().__init__(f"day {day}", limits)
        self._day = day
        self._ledger = ledger

    @override
    def check(self) -> None:
        """Count a call.

        Raises:
            BudgetSpentError: If a limit is reached.
            ModelError: If the database cannot be written, because the budget could not
                be enforced.
        """
        most = self.limits["calls"]
        try:
            sums = self._ledger.sums(self._day)
            for unit in self.limits:
                self._require(unit, sums.get(unit, 0.0))
            if not self._ledger.take_call(self._day, most):
                self._require("calls", most)
        except StoreError as error:
            raise ModelError(
                f"calls to models of the {self.name} cannot be counted "
                f"({error.message})",
                "make the data root writable, or set gateway.day_calls, day_tokens "
                "and day_seconds to 0",
            ) from error

    @override
    def add(self, used: ModelCost) -> None:
        """Add the cost of the call.

        If that fails, the answer is not lost; the next `check` fails too, with the
        reason.
        """
        amounts = {"tokens": float(used.tokens), "seconds": used.seconds}
        with suppress(StoreError):
            self._ledger.add(self._day, amounts)


class DayAccounts:
    """The account of today, by UTC, in this process."""

    def __init__(self) -> None:
        self._account = Account("")
        self._lock = threading.Lock()

    def today(self, settings: GatewaySection) -> Account:
        """Return the account of today with the limits of these settings.

        It covers all processes if there is a limit and a database to count in.
        """
        day = datetime.now(UTC).date().isoformat()
        limits, ledger = _limits("day", settings), _LEDGER.get()
        if ledger is not None and any(limits.values()):
            return SharedDay(day, limits, ledger)
        with self._lock:
            if self._account.name != f"day {day}":
                self._account = Account(f"day {day}")
            self._account.limits = limits
            return self._account


DAYS = DayAccounts()


def note_answer(*, cut: bool = False, asked: bool = False) -> None:
    """Record on the open accounts that a model is called, or a cached answer is cut."""
    for account in _OPEN.get():
        account.asked += asked
        if cut:
            account.add(ModelCost(cut=1))


def answers_left(most: int) -> int:
    """Return how many more answers a question may request.

    Cached answers count too, so that a repeated question plans the same prompts and
    gets the same answers.

    Args:
        most: Maximum for the whole question; a lower limit of calls takes precedence.
    """
    account = next((one for one in _OPEN.get() if one.name == "question"), None)
    if account is None:
        return most
    left, limit = most - account.asked, int(account.limits.get("calls", 0))
    # Its calls include those of embedders and failed attempts.
    return min(left, limit - account.used.calls) if limit else left


def note_fallback(failure: str) -> None:
    """Record on the open accounts that another model was called, and why."""
    for account in _OPEN.get():
        account.fallbacks.append(failure)


def open_accounts(settings: GatewaySection) -> tuple[Account, ...]:
    """Return the accounts that a call is charged to, the day last.

    A shared day counts a call when it is checked, so the others must be checked first.
    """
    return (*_OPEN.get(), DAYS.today(settings))


def _limits(name: str, settings: GatewaySection) -> dict[str, float]:
    return {unit: getattr(settings, f"{name}_{unit}") for unit in UNITS}


class Totals:
    """The usage in this process, by model and outcome."""

    def __init__(self) -> None:
        self._used: dict[tuple[str, str], ModelCost] = {}
        self._lock = threading.Lock()

    def add(self, model: str, outcome: str, used: ModelCost) -> None:
        """Add a call; `outcome` is `ok` or the code of an error."""
        with self._lock:
            before = self._used.get((model, outcome), ModelCost())
            self._used[model, outcome] = before + used

    def rows(self) -> list[tuple[str, str, ModelCost]]:
        """Return model, outcome and usage, sorted."""
        with self._lock:
            return [(*key, used) for key, used in sorted(self._used.items())]


TOTALS = Totals()
