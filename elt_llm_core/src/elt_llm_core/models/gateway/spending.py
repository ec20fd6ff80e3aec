"""What calls to models cost, and budgets for a question, a job and a day.

Whoever starts a question or a job opens an account; a gateway finds the open ones, so
no stage in between has to pass them on.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime

from elt_llm_core.config.sections import GatewaySection
from elt_llm_core.errors import BudgetSpentError
from elt_llm_core.results import ModelCost

UNITS = ("calls", "tokens", "seconds")


@dataclass
class Account:
    """What one question, job or day has spent. `limits` are by unit, 0 for none.

    `fallbacks` says which models failed, so that another was asked.
    """

    name: str
    limits: dict[str, float] = field(default_factory=dict)
    used: ModelCost = field(default_factory=ModelCost)
    fallbacks: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> None:
        """Raise BudgetSpentError where a limit is reached."""
        for unit, limit in self.limits.items():
            spent = getattr(self.used, unit)
            if limit and spent >= limit:
                raise BudgetSpentError(self.name, unit, f"{spent:g}", f"{limit:g}")

    def add(self, used: ModelCost) -> None:
        """Take a call into account."""
        with self._lock:
            self.used = self.used + used


_OPEN: ContextVar[tuple[Account, ...]] = ContextVar("accounts", default=())


@contextmanager
def open_account(name: str, settings: GatewaySection) -> Iterator[Account]:
    """Inside it, and in threads that copy its context, calls are counted.

    Args:
        name: `question` or `job`; the settings have its limits.
        settings: The section `gateway`.
    """
    account = Account(name, _limits(name, settings))
    before = _OPEN.set((*_OPEN.get(), account))
    try:
        yield account
    finally:
        _OPEN.reset(before)


class DayAccounts:
    """The account of today, by UTC; it is of this process."""

    def __init__(self) -> None:
        self._account = Account("")
        self._lock = threading.Lock()

    def today(self, settings: GatewaySection) -> Account:
        """Return the account of today with the limits of these settings."""
        day = datetime.now(UTC).date().isoformat()
        with self._lock:
            if self._account.name != f"day {day}":
                self._account = Account(f"day {day}")
            self._account.limits = _limits("day", settings)
            return self._account


DAYS = DayAccounts()


def note_fallback(failure: str) -> None:
    """Note on the open accounts that another model was asked, and why."""
    for account in _OPEN.get():
        account.fallbacks.append(failure)


def open_accounts(settings: GatewaySection) -> tuple[Account, ...]:
    """Return the accounts that a call is charged to: the innermost last."""
    return (DAYS.today(settings), *_OPEN.get())


def _limits(name: str, settings: GatewaySection) -> dict[str, float]:
    return {unit: getattr(settings, f"{name}_{unit}") for unit in UNITS}


class Totals:
    """What was spent in this process, by model and by how calls ended."""

    def __init__(self) -> None:
        self._used: dict[tuple[str, str], ModelCost] = {}
        self._lock = threading.Lock()

    def add(self, model: str, outcome: str, used: ModelCost) -> None:
        """Take a call into account; `outcome` is `ok` or the code of an error."""
        with self._lock:
            before = self._used.get((model, outcome), ModelCost())
            self._used[model, outcome] = before + used

    def rows(self) -> list[tuple[str, str, ModelCost]]:
        """Return model, outcome and what was spent, sorted."""
        with self._lock:
            return [(*key, used) for key, used in sorted(self._used.items())]


TOTALS = Totals()
