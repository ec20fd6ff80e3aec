"""The content words of a claim in the places of one sentence."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from elt_llm_query.analysis.foreign_guards import UNKNOWN, Languages
from elt_llm_query.analysis.lexicon import IRREGULAR
from elt_llm_query.analysis.stems import stem
from elt_llm_query.grounding.claim_words import (
    PassageWords,
    Token,
    WordRole,
    read_claim,
    read_passage,
    without_numbering,
)

LONGEST_AGENT = 4  # content words before its verb: "the owner of the boat may fly"
_DONE = r"\b(?:be|been|being|is|are|was|were)\s+(?:not\s+)?(?!to\b|not\b)%s(\w+)\b"
# Participles of regular verbs, and of verbs that never change.
_PARTICIPLE = ("ed", "en", "wn", "ld", "de", "pt", "nt", "id")
_UNCHANGED = frozenset({"set", "put", "cut", "let", "cast", "read", "split"})
# Endings of a verb that is no active one: "a fine imposed on her", "is refundable".
_NOT_ACTIVE = (*_PARTICIPLE, "ing", "able", "ible")
PASSIVE = re.compile(_DONE % r"(?:\w+ly\s+)?", re.IGNORECASE)
DONE_BY = re.compile(_DONE % r"(?:\w+\s+)?" + r"\s+(?:\w+\s+){0,3}?by\b", re.IGNORECASE)


@dataclass(frozen=True)
class WordAlignment:
    """The content words of a claim in the places of one sentence.

    Args:
        claim: One statement, without labels.
        sentence: The sentence of a passage that is compared.
        known: Words of the title and section, which a claim may add.
        languages: Those whose guards count.
        asked: The question, which may state a condition that the claim leaves out.
    """

    claim: str
    sentence: str
    known: Mapping[str, list[int]]
    languages: Languages = UNKNOWN
    asked: str = ""

    @cached_property
    def tokens(self) -> Sequence[Token]:
        """Return the words of the claim."""
        return read_claim(self.claim, self.languages)

    @cached_property
    def passage_words(self) -> PassageWords:
        """Return the words of the sentence, without a number the claim lacks."""
        sentence = without_numbering(self.sentence, self.claim)
        return read_passage(sentence, self.languages)

    @cached_property
    def occurrences(self) -> list[list[int]]:
        """Return the places of each word of the claim in the sentence."""
        return [self.passage_words.find(token) for token in self.tokens]

    @cached_property
    def ours(self) -> list[str]:
        """Return the keys of the claim, in the sentence's words if it has them."""
        return [
            self.passage_words.tokens[places[0]].key if places else token.key
            for token, places in zip(self.tokens, self.occurrences, strict=True)
        ]

    @cached_property
    def edits(self) -> Sequence[tuple[str, int, int, int, int]]:
        """Return the edits from the sentence to the claim, as `difflib` does."""
        theirs = [token.key for token in self.passage_words.tokens]
        matcher = SequenceMatcher(None, theirs, self.ours, autojunk=False)
        return matcher.get_opcodes()

    @cached_property
    def made_passive(self) -> list[int]:
        """Return the places in the sentence of verbs that only the claim has passive.

        "The rooms are kept warm" is said by "the unit keeps the rooms warm".
        """
        ours = participles(PASSIVE, self.claim) - participles(PASSIVE, self.sentence)
        here = enumerate(self.passage_words.tokens)
        return [
            i
            for i, token in here
            if token.key in ours
            and not token.written.endswith(_NOT_ACTIVE)
            and not token.refers  # "the town bought it": the object is a pronoun
        ]

    @cached_property
    def agents(self) -> set[str]:
        """Return the words before verbs made passive: who does it."""
        agents: set[str] = set()
        here = self.passage_words.tokens
        for verb in self.made_passive:
            for token in reversed(here[max(0, verb - LONGEST_AGENT) : verb]):
                if token.closes:
                    break
                if token.role is not WordRole.GUARD:
                    agents.add(token.key)
        return agents

    @cached_property
    def words(self) -> list[int]:
        """Return the places of the claim's words, without guards."""
        return [i for i, t in enumerate(self.tokens) if t.role is not WordRole.GUARD]

    @cached_property
    def places_in_claim(self) -> set[int]:
        """Return the places in the sentence of the claim's words."""
        return {place for places in self.occurrences for place in places}


def participles(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    """Return the stems of the participles that a pattern matches."""
    verbs = (verb.lower() for verb in pattern.findall(text))
    return frozenset(
        stem(IRREGULAR.get(verb, verb))
        for verb in verbs
        if verb in IRREGULAR or verb in _UNCHANGED or verb.endswith(_PARTICIPLE)
    )
