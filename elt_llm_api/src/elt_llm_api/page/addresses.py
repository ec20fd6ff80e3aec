"""Answers that are shown again when their page is opened again, and their addresses."""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from elt_llm_core.results import QueryResult

MOST = 200  # answers that are remembered; one takes some ten kilobytes
LONGEST = 4000  # characters of a question, as over HTTP
_LONGEST_NAME = 200
_MOST_COLLECTIONS = 64


@dataclass(frozen=True)
class PageAddress:
    """What an address of the page asks. It comes from strangers.

    Attributes:
        question: The question; empty where there is none.
        collections: Names of the collections to ask; empty for all.
        profile: The profile; empty for the default.
        answer: The id of a remembered answer; it is secret, and says nothing.
    """

    question: str = ""
    collections: tuple[str, ...] = ()
    profile: str = ""
    answer: str = ""

    @classmethod
    def of(cls, given: QueryParams) -> "PageAddress":
        """Return what the parameters say; what is too long is left out."""
        names = given.getlist("collection")[:_MOST_COLLECTIONS]
        return cls(
            question=_short(given.get("q", ""), LONGEST),
            collections=tuple(n for n in names if _short(n, _LONGEST_NAME)),
            profile=_short(given.get("profile", ""), _LONGEST_NAME),
            answer=_short(given.get("answer", ""), _LONGEST_NAME),
        )

    @property
    def search(self) -> str:
        """The address as a query string, with its question mark."""
        pairs = [
            ("q", self.question),
            *(("collection", name) for name in self.collections),
            ("profile", self.profile),
            ("answer", self.answer),
        ]
        return f"?{urlencode([pair for pair in pairs if pair[1]])}"


@dataclass(frozen=True)
class RecentAnswer:
    """An answer, how it was asked, and the state of each collection it was asked of."""

    result: QueryResult
    policy: str
    collections: tuple[str, ...]
    profile: str
    states: Mapping[str, str]


class RecentAnswers:
    """The newest answers of this process. Safe between threads."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: OrderedDict[str, RecentAnswer] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, answer: RecentAnswer) -> str:
        """Keep an answer; returns its id, which nobody can guess."""
        key = secrets.token_urlsafe(12)
        with self._lock:
            self._kept[key] = answer
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return key

    def get(self, key: str) -> RecentAnswer | None:
        """Return the answer of that id, where it is still kept."""
        with self._lock:
            return self._kept.get(key)


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else ""
