"""Evidence from documents about the things that a conversation names."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from elt_llm_core.store import Store
from elt_llm_query.analysis.follow_up import stems_of

# Characters between two items of one list: fourteen items of three words, the longest
# list in running text of the rule books that were looked at.
WINDOW = 300
ITEM = 5  # words of an item; a longer one is a clause

_NUMBERING = re.compile(r"^(?:[^\W_]{0,3}\d[\w.]*|\W)+\s*")
_BETWEEN_ITEMS = re.compile(r"\s*(?:,|;|/|\band\b|\bor\b|&)\s*", re.IGNORECASE)


class SpokenOf:
    """Texts, headings and titles of documents, as evidence for similar things.

    Args:
        texts: The texts of the documents.
        sections: Section paths, with " > " between levels.
        titles: Titles of the documents that may be meant.
    """

    def __init__(
        self,
        texts: Iterable[str],
        sections: Iterable[str] = (),
        titles: Iterable[str] = (),
    ) -> None:
        self._texts = texts
        self._sections = sections
        self._titles = titles

    def has(self, phrase: str) -> bool:
        """Return whether a text contains a phrase, across line breaks."""
        return bool(_phrase(phrase, "").search(self._text))

    def are_alike(self, one: str, other: str) -> bool:
        """Return whether both are headings of one section or items of one list."""
        keys = stems_of(one), stems_of(other)
        if not all(keys) or keys[0] == keys[1]:
            return False
        return any(
            set(keys) <= names for names in (*self._siblings, self._named_titles)
        ) or self._are_listed(one, other)

    @cached_property
    def _text(self) -> str:
        return " ".join(" ".join(self._texts).split())

    @cached_property
    def _siblings(self) -> tuple[frozenset[frozenset[str]], ...]:
        """Return the headings of each section, without numbers, as stems."""
        below: dict[str, set[frozenset[str]]] = {}
        for section in self._sections:
            above, _, name = section.rpartition(" > ")
            below.setdefault(above, set()).add(stems_of(_NUMBERING.sub("", name)))
        return tuple(map(frozenset, below.values()))

    @cached_property
    def _named_titles(self) -> frozenset[frozenset[str]]:
        return frozenset(stems_of(title.replace("_", " ")) for title in self._titles)

    def _are_listed(self, one: str, other: str) -> bool:
        """Return whether both are items of one list: "cats, rabbits and dogs"."""
        for first, second in ((one, other), (other, one)):
            later = _phrase(second)
            for match in _phrase(first).finditer(self._text):
                after = self._text[match.end() : match.end() + WINDOW]
                match_after = later.search(after)
                if match_after and _is_list(after[: match_after.start()]):
                    return True
        return False


def read_spoken_of(store: Store, documents: Sequence[str]) -> SpokenOf:
    """Return evidence from documents, read when needed.

    Args:
        store: The data root.
        documents: Their ids.
    """

    def sections() -> Iterable[str]:
        return (b.section for one in documents for b in store.blocks(one))

    rows = [row for one in documents if (row := store.document(one))]
    beside = (
        title
        for name in dict.fromkeys(row.collection for row in rows)
        for row in store.documents(name)
        for title in (row.title, row.name.rpartition(".")[0])
    )
    return SpokenOf((store.document_text(one) for one in documents), sections(), beside)


def _phrase(phrase: str, ending: str = "(?:s|es)?") -> re.Pattern[str]:
    """A phrase as whole words, singular or plural, whatever their case."""
    return re.compile(rf"(?<!\w){re.escape(phrase)}{ending}(?!\w)", re.IGNORECASE)


def _is_list(between: str) -> bool:
    """Return whether the text between two things makes them items of one list."""
    if re.search(r"[.:()]\s|[()\[\]]", between):
        return False
    items = _BETWEEN_ITEMS.split(between)
    return (
        len(items) > 1
        and all(len(item.split()) <= ITEM for item in items)
        and (not items[0].strip() and _is_determiner(items[-1]))
    )


def _is_determiner(text: str) -> bool:
    return text.strip().lower() in {"", "a", "an", "the"}
