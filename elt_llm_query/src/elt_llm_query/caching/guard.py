"""When two questions that look alike may share what was found for one of them."""

from collections.abc import Callable, Sequence

from elt_llm_core.store import Collection
from elt_llm_query.marks import marks
from elt_llm_query.synthesizers.question import defined_term
from elt_llm_query.text import stem, words
from elt_llm_query.verify import guards
from elt_llm_query.words import STOP_WORDS

FEW = 10  # chunks
SHARE = 100  # one chunk in so many

Rare = Callable[[str], bool]
Matter = tuple[tuple[str, ...], tuple[tuple[str, int], ...]]


def matter(text: str) -> Matter:
    """Identifiers, numbers with units, bounds and negations, in order.

    Questions of another matter share nothing, however alike they are.
    """
    return tuple(marks(text)), tuple(guards(text).items())


def same_words(one: str, other: str, rare: Rare) -> bool:
    """Whether every word that only one of them has is common, and they ask alike.

    `rare` is asked about such words. A word that only a prefix tells from one of the
    other question ("registered", "unregistered") never passes.
    """
    if defined_term(one).casefold() != defined_term(other).casefold():
        return False
    mine, theirs = _content(one), _content(other)
    left = {s: w for s, w in mine.items() if s not in theirs}
    right = {s: w for s, w in theirs.items() if s not in mine}
    opposed = any(a.endswith(b) or b.endswith(a) for a in left for b in theirs) or any(
        a.endswith(b) or b.endswith(a) for a in right for b in mine
    )
    return not opposed and not any(map(rare, [*left.values(), *right.values()]))


def rare_in(collections: Sequence[Collection]) -> Rare:
    """Tells words that stand in few chunks: ten, or one in a hundred."""
    chunks = sum(c.card.chunks for c in collections)
    most = max(FEW, chunks // SHARE)

    def rare(word: str) -> bool:
        """True for a word of few chunks, or of none."""
        found = 0
        for collection in collections:
            found += len(collection.search_keyword(word, most + 1 - found))
            if found > most:
                return False
        return True

    return rare


def _content(text: str) -> dict[str, str]:
    """Content words by their stems."""
    return {stem(w): w for w in words(text) if w.lower() not in STOP_WORDS}
