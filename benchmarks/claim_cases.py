"""True and altered claims about passages of public rule books and handbooks.

Every case is made by a rule from a sentence of a passage, the same for the same data:
an altered one says what its passage does not say (`claim_alterations`), a true one says
the same in other signs or words (`claim_paraphrases`). The verifier has none of the
word lists that alter a claim there.
"""

# ruff: noqa: ARG001, S311 - every form takes the same arguments; seeded

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from claim_alterations import ALTERATIONS
from claim_paraphrases import NOISE, PARAPHRASES
from claim_passages import Alter, Passage, split_passage


@dataclass(frozen=True)
class ClaimCase:
    """A claim about passage `S1`: what was done to the sentence, and how it is said."""

    kind: str
    form: str
    claim: str
    passage: Passage
    sentence: str
    true: bool = False


def make_altered(passages: Sequence[Passage], count: int, seed: int) -> list[ClaimCase]:
    """Return `count` cases of each kind and form that say what is not so."""
    return [
        ClaimCase(kind, form, say(changed, passage, rng), passage, sentence)
        for kind, alter in ALTERATIONS.items()
        for form, say in FORMS.items()
        for rng in [random.Random(f"{seed} {kind} {form}")]
        for sentence, changed, passage in _take(passages, alter, count, rng)
    ]


def make_true(passages: Sequence[Passage], count: int, seed: int) -> list[ClaimCase]:
    """Return `count` cases of each kind that say what the passage says."""
    cases = []
    for kind, alter in (NOISE | PARAPHRASES).items():
        rng = random.Random(f"{seed} {kind}")
        for i, (sentence, changed, passage) in enumerate(
            _take(passages, alter, count, rng)
        ):
            form = (
                ("unquoted", "quoted", "beside")[i % 3] if kind in NOISE else "unquoted"
            )
            claim = FORMS[form](changed, passage, rng)
            cases.append(ClaimCase(kind, form, claim, passage, sentence, true=True))
    return cases


def _take(
    passages: Sequence[Passage], alter: Alter, count: int, rng: random.Random
) -> Iterator[tuple[str, str, Passage]]:
    """Up to `count` sentences that can be altered, no passage more than twice."""
    taken = 0
    order = list(passages)
    for _ in range(2):
        rng.shuffle(order)
        for passage in order:
            if taken == count:
                return
            choices = split_passage(passage.text)
            rng.shuffle(choices)
            for sentence in choices:
                changed = alter(sentence, passage, rng)
                if changed and changed not in " ".join(passage.text.split()):
                    taken += 1
                    yield sentence, changed, passage
                    break


def say_plainly(changed: str, passage: Passage, rng: random.Random) -> str:
    """The claim with its label."""
    return f"{changed[:-1]} [S1]."


def say_in_quotes(changed: str, passage: Passage, rng: random.Random) -> str:
    """The claim as a quotation."""
    return f'The document says: "{changed}" [S1]'


def say_beside(changed: str, passage: Passage, rng: random.Random) -> str:
    """The claim beside a quotation that is true."""
    true = min(split_passage(passage.text), key=len, default=passage.text).rstrip(".")
    return f'{changed[:-1]}, since it says "{true}" [S1].'


FORMS: dict[str, Callable[[str, Passage, random.Random], str]] = {
    "quoted": say_in_quotes,
    "unquoted": say_plainly,
    "beside": say_beside,
}
