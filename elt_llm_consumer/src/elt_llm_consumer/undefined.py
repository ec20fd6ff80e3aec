"""Terms that a text uses as it uses its defined terms, and never defines."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import Field

from elt_llm_consumer import function_words
from elt_llm_consumer.phrases import clean, fold
from elt_llm_consumer.terms import Place
from elt_llm_consumer.units import Unit
from elt_llm_core.results import Record

FEWEST_USES, MOST_PLACES, MOST_WORDS = 3, 10, 6
_WORD = r"[A-Z][\w'\u2019/-]*[a-z][\w'\u2019/-]*"
_SMALL = r"(?:of|and|for|to|in|the)"
# "the Tether Certificate": a determiner before it tells a term from a person's name.
_CAPITALS = re.compile(
    r"(?<![\w.])(?:[Tt]he|[Aa]n?|[Aa]ny|[Ee]ach|[Ee]very|[Nn]o|[Ss]uch|[Tt]his|[Tt]hat)"
    rf"\s+(?P<term>{_WORD}(?:\s+(?:{_SMALL}\s+){{0,2}}{_WORD})*)(?!\s+\d)"
)
_QUOTED = re.compile(
    r"[\"\u201c](?P<term>[A-Za-z][\w'\u2019/-]*(?:\s+[\w'\u2019/-]+){0,4})[\"\u201d]"
)


class UndefinedTerm(Record):
    """A term, how often it is used, and the first places."""

    term: str
    uses: int = Field(ge=FEWEST_USES)
    document_id: str
    places: tuple[Place, ...] = Field(min_length=1, max_length=MOST_PLACES)


def undefined_terms(
    document_id: str, text: str, running: Sequence[Unit], known: Iterable[str]
) -> list[UndefinedTerm]:
    """Quoted and capitalised terms used three times or more and not in `known`.

    Most used first, then by name. `known` are terms and synonyms, folded here. Capitals
    count only where a term in `known` has them: else they mean nothing here.
    """
    names = [clean(name) for name in known]
    folded = {fold(name) for name in names}
    capitals = any(name[:1].isupper() for name in names)
    uses: Mapping[str, list[tuple[str, Place]]] = defaultdict(list)
    for unit in running:
        for said, place in _uses(text, unit, capitals):
            if not _covered(fold(said), folded):
                uses[fold(said)].append((said, place))
    found = [
        UndefinedTerm(
            term=min(said for said, _ in those),
            uses=len(those),
            document_id=document_id,
            places=tuple(place for _, place in those[:MOST_PLACES]),
        )
        for _, those in sorted(uses.items())
        if len(those) >= FEWEST_USES
    ]
    return sorted(found, key=lambda one: (-one.uses, one.term))


def _covered(name: str, known: set[str]) -> bool:
    """Whether a name is known, as "Tenant" is, or made of known ones and "and"."""
    parts = [part for part in re.split(r"\band\b", name) if part.strip()]
    return name in known or all(part.strip() in known for part in parts)


def _uses(text: str, unit: Unit, capitals: bool) -> Iterator[tuple[str, Place]]:
    for pattern in (_CAPITALS, _QUOTED) if capitals else (_QUOTED,):
        for match in pattern.finditer(unit.text):
            said = clean(match["term"])
            if not _can_be_term(said):
                continue
            for start, end in unit.spans(*match.span("term"))[:1]:
                place = Place(
                    text=text[start:end],
                    start=start,
                    end=end,
                    page=unit.page,
                    section=unit.section,
                )
                yield said, place


def _can_be_term(said: str) -> bool:
    words = said.lower().split()
    return len(words) <= MOST_WORDS and not (
        words[0] in function_words.NOT_FIRST or words[-1] in function_words.NOT_LAST
    )
