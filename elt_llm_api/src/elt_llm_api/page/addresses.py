"""Addresses of the page, and recent answers that an address shows again."""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from elt_llm_core.results import QueryResult

MOST = 200  # answers that are kept; one takes about 10 kB
LONGEST = 4000  # characters of a question, as over HTTP
# Characters; longer names are ignored, since anybody can write an address.
_LONGEST_NAME = 200
_MOST_COLLECTIONS = 64


@dataclass(frozen=True)
class PageAddress:
    """What an address of the page asks for. It is untrusted input.

    Attributes:
        question: The question; may be empty.
        collections: Names of the collections to ask; empty for all.
        profile: The profile; empty for the default.
        answer: The id of a recent answer, a random text that cannot be guessed.
    """

    question: str = ""
    collections: tuple[str, ...] = ()
    profile: str = ""
    answer: str = ""

    @classmethod
    def of(cls, given: QueryParams) -> "PageAddress":
        """Read the parameters of a query string; overlong values are dropped."""
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
    """An answer, how it was asked, and the state of each collection at that time."""

    result: QueryResult
    policy: str
    collections: tuple[str, ...]
    profile: str
    states: Mapping[str, str]


class RecentAnswers:
    """The most recent answers of this process. Safe to use from several threads."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: OrderedDict[str, RecentAnswer] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, answer: RecentAnswer) -> str:
        """Keep an answer and return its id, which cannot be guessed."""
        key = secrets.token_urlsafe(12)
        with self._lock:
            self._kept[key] = answer
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return key

    def get(self, key: str) -> RecentAnswer | None:
        """Return the answer with that id, or None if it is no longer kept."""
        with self._lock:
            return self._kept.get(key)


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else ""
