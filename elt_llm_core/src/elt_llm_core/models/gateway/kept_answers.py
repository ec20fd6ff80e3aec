"""Cached answers of models, stored in the database by content."""

import contextlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

from elt_llm_core.errors import ModelError, StoreError
from elt_llm_core.identifiers import item_key

Json = dict[str, Any]
RUN = "answers"

# Fields without effect on the answer: how long the model stays loaded, streaming.
_UNTOLD = frozenset({"keep_alive", "stream", "stream_options"})


class Answers(Protocol):
    """A cache of answers by content, as in `Store.journal`."""

    def get(self, key: str) -> Json | None:
        """Return the answer cached under a key, or None."""

    def put(self, run: str, key: str, ordinal: int, item: str, *, result: Json) -> None:
        """Cache an answer."""


_CURRENT: ContextVar[Answers | None] = ContextVar("answers", default=None)


@contextmanager
def keep_answers(answers: Answers) -> Iterator[None]:
    """Cache and reuse answers in this block and in threads that copy its context."""
    before = _CURRENT.set(answers)
    try:
        yield
    finally:
        _CURRENT.reset(before)


@dataclass(frozen=True)
class Memo:
    """A request whose answer can be cached.

    `digest` identifies the model's weights, empty if the server reports none; it is
    called only if there is an answer to store or to return. `dump` and `load` convert
    the answer to JSON and back.
    """

    body: Json
    digest: Callable[[], str] = str
    dump: Callable[[Any], Json] = dict
    load: Callable[[Json], Any] = dict

    @property
    def temperature(self) -> float:
        """Return the request's temperature; 0 means deterministic answers."""
        options = self.body.get("options") or self.body
        return float(options.get("temperature") or 0.0)

    @property
    def key(self) -> str:
        """Return the same key for equal requests."""
        request = {k: v for k, v in self.body.items() if k not in _UNTOLD}
        return item_key(RUN, json.dumps(request, sort_keys=True, default=_plain))

    def find(self) -> Any:
        """Return the cached answer of the same weights, or None."""
        answers = _CURRENT.get()
        with contextlib.suppress(ModelError, StoreError):
            kept = answers.get(self.key) if answers is not None else None
            if kept is not None and kept["digest"] == self.digest():
                return self.load(kept["answer"])
        return None

    def keep(self, answer: Any) -> None:
        """Cache an answer, unless the database cannot be written."""
        answers = _CURRENT.get()
        if answers is None:
            return
        with contextlib.suppress(ModelError, StoreError):
            kept = {"digest": self.digest(), "answer": self.dump(answer)}
            answers.put(RUN, self.key, 0, str(self.body.get("model")), result=kept)


def _plain(value: Any) -> Any:
    """Return values that JSON can represent, for the records of clients."""
    return value.model_dump() if hasattr(value, "model_dump") else str(value)
