"""Example questions, made from a collection's own terms and headings."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.store import Store

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode

MOST = 4  # as many as can be read at a glance; chosen by eye
READ = 1500  # chunks of a collection that are read: a tenth of a second
_SHORTEST, _LONGEST = 4, 48  # characters of a term or heading that reads well
_TERM = re.compile(
    r"^[\"'\u201c\u2018]?(?P<term>[A-Z][\w'\u2019 -]{2,46}?)[\"'\u201d\u2019]?"
    r"\s+(?:shall\s+)?means?\s",
    re.MULTILINE,
)
# Text with a verb before "means" is no term, and a heading of headings is no topic.
_NOT_A_NAME = re.compile(
    r"\b(?:this|that|these|which|it|what|who|by|the|as|in|for|not|no|if|is|are)\b",
    re.IGNORECASE,
)
_NOT_PROSE = frozenset({"fact_sheet", "relationship", "table", "table_row"})
_DULL = re.compile(r"\b(?:contents?|table|definitions?|introduction|index|general)\b")
_NUMBER = re.compile(
    r"^(?:(?:chapter|section|part|article|rule|annex)\s+\w{1,5}"
    r"|\d+(?:\.\d+)*|[IVX]+|[A-Z](?:\.\d+)+)[).:]?\s*[-\u2013\u2014:.]?\s+",
    re.IGNORECASE,
)


def example_questions(
    store: Store, collections: Sequence[str], most: int = MOST
) -> tuple[str, ...]:
    """Return example questions for the collections, the same every time.

    They ask for terms that a chunk defines ("X means ..."), for sections by their
    headings, and for fact sheets by their names. No model is called, and no question is
    tried.

    Args:
        store: The data root.
        collections: The collections to ask; each contributes some questions, up to
            `most`.
        most: Maximum number of questions.

    Returns:
        English questions, or only headings if the documents are not in English; an
        empty list if the collections are empty.

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
        return headings
    kinds = (
        [f"What does \u201c{term}\u201d mean?" for term in _pick_evenly(_terms(nodes))],
        [f"What does \u201c{one}\u201d say?" for one in headings],
        [f"What is \u201c{sheet}\u201d?" for sheet in _pick_evenly(_sheets(nodes))],
    )
    return [one for row in zip_longest(*kinds) for one in row if one]


def _terms(nodes: Sequence["TextNode"]) -> list[str]:
    """Return the terms that the chunks define, in their order."""
    terms = (match["term"] for node in nodes for match in _TERM.finditer(node.text))
    return list(dict.fromkeys(term for term in terms if _is_name(term)))


def _headings(nodes: Sequence["TextNode"], most: int = MOST) -> list[str]:
    """Return the innermost headings of prose without numbers, by number of chunks.

    Only those whose words no other section has: an answer may quote that one instead.
    """
    prose = [node for node in nodes if node.metadata.get("kind") not in _NOT_PROSE]
    counts = Counter(
        one for node in prose if _is_name(one := _heading(node)) and not _is_dull(one)
    )
    rows = Counter(
        _heading(node) for node in nodes if node.metadata.get("kind") == "table_row"
    )
    texts: dict[str, set[str]] = defaultdict(set)
    for node in nodes:
        texts[_heading(node)].add(node.text.casefold())
    # Some rows of a table do not say what a section is about.
    fitting = (
        one
        for one in sorted(counts, key=lambda one: -counts[one])
        if rows[one] <= counts[one] and not _is_elsewhere(one, texts)
    )
    return list(islice(fitting, most))


def _is_elsewhere(heading: str, texts: Mapping[str, Iterable[str]]) -> bool:
    """Return whether another section has the words of a heading as whole words."""
    plain = heading.casefold()
    words = re.compile(rf"(?<!\w){re.escape(plain)}(?!\w)")
    return any(
        plain in text and words.search(text)  # the first is much faster
        for other, own in texts.items()
        if other != heading
        for text in own
    )


def _heading(node: "TextNode") -> str:
    """Return the innermost heading above a chunk, without its number."""
    innermost = str(node.metadata.get("section", "")).rpartition(" > ")[2]
    return _NUMBER.sub("", innermost).strip()


def _sheets(nodes: Sequence["TextNode"]) -> list[str]:
    """Return the names of fact sheets that have a description, in their order."""
    sheets = [n.text.splitlines() for n in nodes if n.metadata["kind"] == "fact_sheet"]
    return [
        lines[0] for lines in sheets if _is_name(lines[0]) and ": " not in lines[-1]
    ]


def _pick_evenly(names: Sequence[str]) -> list[str]:
    """Return names spread over the list, without its first and last."""
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
