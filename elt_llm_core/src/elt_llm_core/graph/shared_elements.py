"""Elements that several files of a joined model have in common, counted once."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from elt_llm_core.graph.graph_records import ElementRef
from elt_llm_core.graph.question_words import APPLICATION

SHOWN = 60  # names in the sentence of an answer; the record has all
_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s_-]+")


class SharedElement(NamedTuple):
    """One thing, and its entries in one or several files."""

    refs: tuple[ElementRef, ...]

    @property
    def first(self) -> ElementRef:
        """The entry of the first file."""
        return self.refs[0]


def group_shared(refs: Iterable[ElementRef]) -> list[SharedElement]:
    """Group the entries of different files for the same thing.

    Two entries are one thing if they have the same name, the same role and the same
    kind of type, in different files, unless each has a fact sheet id of its own. Two of
    a name in one file are two things, because that file tells them apart.

    Args:
        refs: Elements of a joined model.

    Returns:
        A group for each thing, in the order of its first entry.
    """
    groups: dict[str, list[list[ElementRef]]] = {}
    ordered: list[list[ElementRef]] = []
    for ref in {ref.id: ref for ref in refs}.values():
        same_name = groups.setdefault(" ".join(ref.name.split()).casefold(), [])
        fits = [group for group in same_name if _is_shared(group, ref)]
        if fits:
            fits[0].append(ref)
        else:
            same_name.append([ref])
            ordered.append(same_name[-1])
    return [SharedElement(tuple(group)) for group in ordered]


def _is_shared(group: Sequence[ElementRef], ref: ElementRef) -> bool:
    first = group[0]
    sheets = {r.fact_sheet_id for r in (*group, ref) if r.fact_sheet_id}
    return (
        first.role == ref.role
        and ref.location.file not in {r.location.file for r in group}
        and len(sheets) < 2  # noqa: PLR2004 - two ids are two fact sheets
        and _is_same_kind(first.type, ref.type)
    )


def _is_same_kind(one: str, other: str) -> bool:
    """Return whether types are of one kind: "Process" is a "BusinessProcess"."""
    if {one, other} <= APPLICATION:
        return True
    words, more = sorted((_words(one), _words(other)), key=len)
    return words == more[len(more) - len(words) :] and bool(words or not more)


def _words(kind: str) -> list[str]:
    return [w.casefold() for w in _WORD_START.split(kind) if w]


def state_names(groups: Sequence[SharedElement]) -> str:
    """Return the names of things, each as often as it is counted.

    Args:
        groups: The things.

    Returns:
        Such as "Kite, Ledger (2 of this name)"; "nothing" for none.
    """
    counts = Counter(group.first.name for group in groups)
    names = [
        f"{name} ({count} of this name)" if count > 1 else name
        for name, count in counts.items()
    ]
    left = sum(list(counts.values())[SHOWN:])
    more = f" and {left} more" if left else ""
    return ", ".join(names[:SHOWN]) + more if names else "nothing"


def state_shared(groups: Sequence[SharedElement]) -> str:
    """Return the sentence that says what is in several files; empty if nothing is.

    Args:
        groups: The things.
    """
    several = [group for group in groups if len(group.refs) > 1]
    if not several:
        return ""
    names = ", ".join(dict.fromkeys(g.first.name for g in several[:SHOWN]))
    more = f" and {len(several) - SHOWN} more" if len(several) > SHOWN else ""
    files = dict.fromkeys(r.location.file for g in several for r in g.refs)
    where = " and ".join(file for file in files if file)
    return f" In several files ({where}) and counted once: {names}{more}."
