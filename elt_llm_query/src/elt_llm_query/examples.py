"""Questions to begin with, made of a collection's own terms and headings."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.store import Store

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode

MOST = 4  # as many as are read at a glance; chosen by eye
READ = 1500  # chunks of a collection that are read: a tenth of a second
_SHORTEST, _LONGEST = 4, 48  # characters of a term or heading that reads well
_TERM = re.compile(
    r"^[\"'\u201c\u2018]?(?P<term>[A-Z][\w'\u2019 -]{2,46}?)[\"'\u201d\u2019]?"
    r"\s+(?:shall\s+)?means?\s",
    re.MULTILINE,
)
# A sentence that goes on before "means" is no term; nor is a heading of headings.
_NOT_A_NAME = re.compile(
    r"\b(?:this|that|these|which|it|what|who|by|the|as|in|for|not|no|if|is|are)\b",
    re.IGNORECASE,
)
_DULL = re.compile(r"\b(?:contents?|table|definitions?|introduction|index|general)\b")
_NUMBER = re.compile(
    r"^(?:(?:chapter|section|part|article|rule|annex)\s+\w{1,5}"
    r"|\d+(?:\.\d+)*|[IVX]+|[A-Z](?:\.\d+)+)[).:]?\s*[-\u2013\u2014:.]?\s+",
    re.IGNORECASE,
)


def example_questions(
    store: Store, collections: Sequence[str], most: int = MOST
) -> tuple[str, ...]:
    """Return questions that the collections may be asked, the same every time.

    They ask for terms that a chunk defines ("X means ..."), for sections by their
    headings, and for fact sheets by their names. No model is asked, and no question is
    tried.

    Args:
        store: The data root.
        collections: Those that will be asked; each gives some, as far as there is room.
        most: The most questions to return.

    Returns:
        English questions, or headings alone where the documents are not in English;
        nothing where the collections are empty.

    Raises:
        CollectionNotFoundError: If one of the collections does not exist.
    """
    lists = [_questions(store, name) for name in collections]
    mixed = (one for row in zip_longest(*lists) for one in row if one)
    return tuple(islice(dict.fromkeys(mixed), most))


def _questions(store: Store, name: str) -> list[str]:
    nodes = list(islice(store.nodes(name), READ))
    headings = _headings(nodes)
    if ENGLISH not in store.open(name).languages:
        return headings[:MOST]
    kinds = (
        [f"What does \u201c{term}\u201d mean?" for term in _pick_evenly(_terms(nodes))],
        [f"What does \u201c{one}\u201d say?" for one in headings[:MOST]],
        [f"What is \u201c{sheet}\u201d?" for sheet in _pick_evenly(_sheets(nodes))],
    )
    return [one for row in zip_longest(*kinds) for one in row if one]


def _terms(nodes: Sequence["TextNode"]) -> list[str]:
    """What the chunks define, in their order."""
    terms = (match["term"] for node in nodes for match in _TERM.finditer(node.text))
    return list(dict.fromkeys(term for term in terms if _is_name(term)))


def _headings(nodes: Sequence["TextNode"]) -> list[str]:
    """The innermost headings of prose, no numbers, that with the most chunks first."""
    sections = (
        _NUMBER.sub("", str(node.metadata["section"]).rpartition(" > ")[2]).strip()
        for node in nodes
        # One row of a table says nothing of the whole section.
        if node.metadata.get("kind") not in {"fact_sheet", "relationship", "table_row"}
    )
    counts = Counter(one for one in sections if _is_name(one) and not _is_dull(one))
    return sorted(counts, key=lambda one: -counts[one])


def _sheets(nodes: Sequence["TextNode"]) -> list[str]:
    """The names of fact sheets that have a description, in their order."""
    sheets = [n.text.splitlines() for n in nodes if n.metadata["kind"] == "fact_sheet"]
    return [
        lines[0] for lines in sheets if _is_name(lines[0]) and ": " not in lines[-1]
    ]


def _pick_evenly(names: Sequence[str]) -> list[str]:
    """Some of the names from all over the list, neither its first nor its last."""
    if not names:
        return []
    places = (int(len(names) * (n + 0.5) / MOST) for n in range(MOST))
    return list(dict.fromkeys(names[place] for place in places))


def _is_name(text: str) -> bool:
    return (
        _SHORTEST <= len(text) <= _LONGEST
        and text[-1].isalnum()
        and not _NOT_A_NAME.search(text)
    )


def _is_dull(text: str) -> bool:
    return bool(_DULL.search(text.casefold()))
