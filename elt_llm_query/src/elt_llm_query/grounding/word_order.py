"""Compare the word order of a claim with one sentence: omissions, additions, swaps.

A sentence may contain all words of the claim and still state something else: who acts
on whom, which of two numbers, all or only some.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise, product, zip_longest

from elt_llm_query.analysis.foreign_guards import FOREIGN_MODALS, UNKNOWN, Languages
from elt_llm_query.analysis.lexicon import (
    IRREGULAR,
    NUMBER_WORDS,
    ORDINAL_NUMBERS,
    PROVIDED,
)
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.analysis.stems import refers_back, stem
from elt_llm_query.analysis.term_match import phrases
from elt_llm_query.grounding.claim_difference import (
    ClaimDifference,
    DifferenceKind,
    contradiction,
)
from elt_llm_query.grounding.claim_guards import MODALS
from elt_llm_query.grounding.claim_words import (
    PassageWords,
    Token,
    WordRole,
    are_alike,
    read_claim,
    read_passage,
    without_numbering,
)
from elt_llm_query.grounding.left_out_conditions import find_left_out
from elt_llm_query.grounding.mixed_clauses import find_mixed
from elt_llm_query.grounding.turned_links import find_other_bound, find_other_link
from elt_llm_query.grounding.turned_ranges import find_turned

LONGEST_SWAP = 6  # content words of a name or a number that replaces another
LONGEST_AGENT = 4  # content words before its verb: "the owner of the boat may fly"
LONGEST_LETTERS = 3  # letters of a code before its number: "E04", "ISO 9001"
LONGEST_RESTRICTION = 3  # content words; more of them are a separate clause
# Guards after which a noun denotes all of its kind.
_LIMITS = frozenset({"except", "unless", PROVIDED})
_GENERAL = frozenset({"all", "any", "not", "only", "most", "some", "many", "few"})
_NEARLY = frozenset({"almost", "nearly"})
_NAMED = frozenset({WordRole.WORD, WordRole.NAME})
_ORDINALS = frozenset(map(stem, ORDINAL_NUMBERS))
# "One fifth of the voting members" is not one fifth of the members.
_SHARE = re.compile(
    r"(?:\b(?:half|halves|thirds?|quarters?|fifths?|sixths?|eighths?|tenths?|majority"
    r"|percent|per cent)|%) of (?:all |the |its |their )*([^\W\d_]+)",
    re.IGNORECASE,
)
_NAMING = frozenset({"called", "named", "known"})  # "is called" means no more than "is"
_DONE = r"\b(?:be|been|being|is|are|was|were)\s+(?:not\s+)?(?!to\b|not\b)%s(\w+)\b"
# Participles of regular verbs, and of verbs that never change.
_PARTICIPLE = ("ed", "en", "wn", "ld", "de", "pt", "nt", "id")
_UNCHANGED = frozenset({"set", "put", "cut", "let", "cast", "read", "split"})
# Endings of a verb that is no active one: "a fine imposed on her", "is refundable".
_NOT_ACTIVE = (*_PARTICIPLE, "ing", "able", "ible")
_PASSIVE = re.compile(_DONE % r"(?:\w+ly\s+)?", re.IGNORECASE)
_DONE_BY = re.compile(
    _DONE % r"(?:\w+\s+)?" + r"\s+(?:\w+\s+){0,3}?by\b", re.IGNORECASE
)
# "One of the parties", "half of the rooms", "a member of the Board" denote a part of
# the noun that follows.
_PART = re.compile(
    rf"\b(?:(one or more|any one|{phrases(NUMBER_WORDS)}|\d+|half|part|some|any|either)"
    r"|an? (?:\w+ )?(\w+)) of (?:the|these|those|its|their|our|your|his|her)"
    r"(?: \w+){1,2}",
    re.IGNORECASE,
)
# A sentence that does not begin with its subject.
_PREPOSED = re.compile(
    r"\W*(?:after|at|before|by|during|for|from|if|in|on|to|under|unless|until|upon|when"
    r"|where|while|with|within|without)\b",
    re.IGNORECASE,
)
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_DONE_TO = re.compile(
    r"\b(?:must|may|shall|should|will|can)(?: not| only| also)? be\b", re.IGNORECASE
)


@dataclass(frozen=True)
class WordOrder:
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

    def find_swap(self) -> ClaimDifference | None:
        """Return words of the claim at whose place the sentence has other words.

        The sentence may contain them elsewhere: the name of another party, the other
        one of two numbers. Words that only moved are no swap.
        """
        theirs = [token.key for token in self.passage_words.tokens]
        ours, tokens = self._ours, self.tokens
        for kind, low, high, first, last in self._edits:
            if kind != "replace" or max(high - low, last - first) > LONGEST_SWAP:
                continue
            gone = {k for k in theirs[low:high] if theirs.count(k) > ours.count(k)}
            gone -= self._agents
            new = [
                tokens[i]
                for i in range(first, last)
                if ours[i] not in theirs[low:high]
                and not (tokens[i].key in self.known and _may_be_named(tokens[i]))
                and not any(are_alike(tokens[i].key, key) for key in gone)
            ]
            if gone and new:
                here = self.passage_words.tokens[low:high]
                written = next(t.written for t in here if t.key in gone)
                other = min(new, key=lambda token: token.key in self.known)
                reason = f"the passage has {written!r} for {other.written!r}"
                exact = other.role is not WordRole.WORD
                what = (
                    DifferenceKind.NAME_REPLACED
                    if exact
                    else DifferenceKind.WORD_REPLACED
                )
                return contradiction(reason, what)
        return None

    def find_others(self) -> Iterator[ClaimDifference]:
        """Return words that are added, left out or reversed."""
        added = None if refers_back(self.sentence) else self._find_added()
        turned = (
            self._find_reversal()
            or self._find_exchange()
            or self._find_agent_as_object()
        )
        turned = (
            turned
            or self._find_exchanged_numbers()
            or self._find_turned_range()
            or self._find_other_order()
        )
        turned = turned or self._find_link()
        limits = (
            self._find_part(),
            self._find_restriction(),
            self._find_ordinal(),
            self._find_other_member(),
            self._find_limit(),
            self._find_condition(),
            self._find_denial(),
        )
        others = (*limits, self._find_mixture(), turned)
        for one in (added, *others, self._find_other_subject()):
            if one:
                yield one

    @cached_property
    def _ours(self) -> list[str]:
        """Return the keys of the claim, in the sentence's words if it has them."""
        return [
            self.passage_words.tokens[places[0]].key if places else token.key
            for token, places in zip(self.tokens, self.occurrences, strict=True)
        ]

    @cached_property
    def _edits(self) -> Sequence[tuple[str, int, int, int, int]]:
        theirs = [token.key for token in self.passage_words.tokens]
        matcher = SequenceMatcher(None, theirs, self._ours, autojunk=False)
        return matcher.get_opcodes()

    @cached_property
    def _made_passive(self) -> list[int]:
        """Return the places in the sentence of verbs that only the claim has passive.

        "The rooms are kept warm" is said by "the unit keeps the rooms warm".
        """
        ours = _stems(_PASSIVE, self.claim) - _stems(_PASSIVE, self.sentence)
        here = enumerate(self.passage_words.tokens)
        return [
            i
            for i, token in here
            if token.key in ours
            and not token.written.endswith(_NOT_ACTIVE)
            and not token.refers  # "the town bought it": the object is a pronoun
        ]

    @cached_property
    def _agents(self) -> set[str]:
        """Return the words before those verbs: who does it, which a passive omits."""
        agents: set[str] = set()
        here = self.passage_words.tokens
        for verb in self._made_passive:
            for token in reversed(here[max(0, verb - LONGEST_AGENT) : verb]):
                if token.closes:
                    break
                if token.role is not WordRole.GUARD:
                    agents.add(token.key)
        return agents

    def _find_agent_as_object(self) -> ClaimDifference | None:
        """Return a noun before a passive verb that is the actor in the sentence.

        "The unit is kept warm" is not said by "the unit keeps the rooms warm".
        """
        keys = {self.passage_words.tokens[i].key for i in self._made_passive}
        previous = None
        for i in self._words:
            if previous is not None and self._ours[i] in keys:
                verbs, nouns = self.occurrences[i], self.occurrences[previous]
                if nouns and all(noun < verb for noun in nouns for verb in verbs):
                    pair = self.tokens[previous], self.tokens[i]
                    return _changed_places(*pair, DifferenceKind.VOICE)
            previous = i if self.occurrences[i] else previous
        return None

    @cached_property
    def _words(self) -> list[int]:
        """Return the places of the claim's words, without guards."""
        return [i for i, t in enumerate(self.tokens) if t.role is not WordRole.GUARD]

    @cached_property
    def _places_in_claim(self) -> set[int]:
        """Return the places in the sentence of the claim's words."""
        return {place for places in self.occurrences for place in places}

    def _find_added(self) -> ClaimDifference | None:
        """Return a name or number of another sentence, inserted between two words."""
        for kind, _, _, first, last in self._edits:
            for i in range(first, last) if kind == "insert" else ():
                token = self.tokens[i]
                if (
                    token.role in (WordRole.NAME, WordRole.NUMBER)
                    and not self.occurrences[i]
                    and token.key not in self.known
                ):
                    return _of_another(token, DifferenceKind.NAME_ADDED)
        return None

    def _find_reversal(self) -> ClaimDifference | None:
        """Return two words that changed places around a third: who acts on whom.

        Around a verb whose actor follows ("signed by") in only one of the two texts,
        the words must have changed places.
        """
        turned = _stems(_DONE_BY, self.claim) ^ _stems(_DONE_BY, self.sentence)
        everything = enumerate(self.passage_words.tokens)
        theirs = [i for i, t in everything if t.role is not WordRole.GUARD]
        rank = {place: i for i, place in enumerate(theirs)}
        words, tokens, places = self._words, self.tokens, self.occurrences
        for left, middle, right in zip(words, words[1:], words[2:], strict=False):
            if tokens[left].key == tokens[right].key or tokens[middle].closes:
                continue
            first, last = places[left], places[right]
            if tokens[middle].key not in turned:
                first, last = last, first
            for place in filter(rank.__contains__, places[middle]):
                before, after = rank[place] - 1, rank[place] + 1
                inside = before >= 0 and after < len(theirs)
                if self.passage_words.tokens[place].closes:
                    continue  # the next word is of another clause
                if inside and theirs[before] in first and theirs[after] in last:
                    return _changed_places(tokens[left], tokens[right])
        return None

    def _find_exchange(self) -> ClaimDifference | None:
        """Return words on both sides of a third that changed sides in the claim.

        A phrase that moves to the front changes sides alone, and clauses that change
        places have no third word between them. If the verb is passive in only one of
        the two texts, both sides must change.
        """
        turned = _stems(_PASSIVE, self.claim) ^ _stems(_PASSIVE, self.sentence)
        if turned & set(self._ours):
            return None
        place = {
            i: places[0]
            for i in self._words
            for places in [self._described_places(i)]
            if len(places) == 1
        }
        for middle, here in place.items():
            if self.tokens[middle].written == "also":
                continue  # it belongs to the phrase in front
            left = [i for i in place if i < middle and place[i] > here]
            right = [i for i in place if i > middle and place[i] < here]
            if left and right:
                return _changed_places(self.tokens[left[-1]], self.tokens[right[0]])
        return None

    def _described_places(self, at: int) -> Sequence[int]:
        """Return the places of a word, those with the same modifier if some have it.

        "The vice-president" and "the president" of one sentence are two persons.
        """
        places = self.occurrences[at]
        if self.tokens[at].role not in _NAMED:
            return places
        here = self.passage_words.tokens
        mine = _described_by(self.tokens, at)
        same = [place for place in places if _described_by(here, place) == mine]
        return same or places

    def _find_exchanged_numbers(self) -> ClaimDifference | None:
        """Return two numbers in each other's place, or one in the place of another.

        Numbers with nothing but other numbers between them are a list.
        """
        here, tokens = self.passage_words.tokens, self.tokens
        put: dict[tuple[str, str], int] = {}
        for kind, low, high, first, last in self._edits:
            if kind != "replace":
                continue
            theirs, ours = _numbers(here[low:high]), _numbers(tokens[first:last])
            if len(theirs) != 1 or len(ours) != 1:
                continue
            old, new = theirs[0], ours[0]
            start = put.get((new.key, old.key), first)
            if any(t.role in _NAMED for t in tokens[start:first]):
                return _changed_places(old, new)
            put[old.key, new.key] = first
        return self._find_repeated_number()

    def _find_repeated_number(self) -> ClaimDifference | None:
        """Return a number that the claim has twice, the second time for another one."""
        theirs, ours = _numbers(self.passage_words.tokens), _numbers(self.tokens)
        counted = Counter(token.key for token in theirs)
        if len(theirs) != len(ours) or any(t.key not in counted for t in ours):
            return None
        left_out = counted - Counter(token.key for token in ours)
        gone = next((token for token in theirs if token.key in left_out), None)
        reason = f"the passage has {gone.written!r} too" if gone else ""
        return contradiction(reason, DifferenceKind.NAME_REPLACED) if gone else None

    def _find_turned_range(self) -> ClaimDifference | None:
        """Return the range whose ends changed places: "from June to May"."""
        end = find_turned(self.claim, self.sentence)
        reason = f"the range with {end!r} is the other way round"
        return contradiction(reason, DifferenceKind.RANGE_TURNED) if end else None

    def _find_other_order(self) -> ClaimDifference | None:
        """Return joined numbers in another order in a sentence with "respectively".

        If what they belong to changed places, too, two pairs did.
        """
        if not _RESPECTIVELY.search(self.sentence):
            return None
        words, places = self._words, self.occurrences
        turned = [
            (left, right)
            for left, right in pairwise(words)
            if self.tokens[left].joins
            and len(places[left]) == len(places[right]) == 1
            and places[left] > places[right]
        ]
        if len(turned) != 1:
            return None
        left, right = turned[0]
        return _changed_places(self.tokens[left], self.tokens[right])

    def _find_mixture(self) -> ClaimDifference | None:
        """Return a word that the sentence states of another subject: "X may, but Y is".

        A claim that has several clauses may take one from each side.
        """
        here = self.passage_words.tokens
        args = self.tokens, self.occurrences, self.passage_words, self.known
        if mixed := find_mixed(*args, self._main_clause):
            return _of_another(mixed, DifferenceKind.TWO_SUBJECTS)
        turn = next((i + 1 for i, token in enumerate(here) if token.turns), None)
        clauses = any(token.closes or token.joins for token in self.tokens[:-1])
        if turn is None or clauses:
            return None
        known = [(i, places) for i, places in enumerate(self.occurrences) if places]
        before = [i for i, places in known if places[-1] < turn]
        after = [i for i, places in known if places[0] >= turn]
        if before and after:
            return _of_another(self.tokens[after[0]], DifferenceKind.TWO_SUBJECTS)
        return None

    @property
    def _main_clause(self) -> int:
        """Return the place of its first word, after a phrase in front of it."""
        if not _PREPOSED.match(self.sentence):
            return 0
        here = self.passage_words.tokens
        return next((i + 1 for i, token in enumerate(here) if token.closes), 0)

    def _find_other_subject(self) -> ClaimDifference | None:
        """Return the subject of a "must" or "may" that is not the claim's subject."""
        done = _DONE_TO.search(self.claim) or _DONE_TO.search(self.sentence)
        if done or _PREPOSED.match(self.sentence):
            return None
        tokens = self.tokens
        for at, token in enumerate(tokens):
            place = next(iter(self.occurrences[at]), 0)
            if token.key not in MODALS or token.written in FOREIGN_MODALS or not place:
                continue
            if any(t.closes or t.joins for t in self.passage_words.tokens[:place]):
                return None
            pairs = enumerate(self.occurrences)
            ours = {i for i, places in pairs if places and places[-1] < place}
            late = [i for i in ours if i > at and tokens[i].role is not WordRole.GUARD]
            if late and not any(i < at for i in ours):
                return _of_another(tokens[late[0]], DifferenceKind.OTHER_SUBJECT)
            return None
        return None

    def _find_restriction(self) -> ClaimDifference | None:
        """Return a word of the sentence that restricts a general claim.

        "Undergraduate students may not" is not "students may not", and "bills for
        raising revenue" are not all bills. A noun after "the" or "this" in the claim
        refers to something mentioned before and needs no restriction.
        """
        words, tokens = self._words, self.tokens
        left_out = ""
        for at, after in zip_longest(words, words[1:]):
            of_all = at > 0 and tokens[at - 1].key in _GENERAL
            if (modifier := self._modifier(at)) in _NEARLY:
                left_out = left_out or modifier
            if (of_all or at == words[0]) and not self._is_definite(at):
                left_out = left_out or self._modifier(at)
            if of_all and after is not None and not tokens[at].closes:
                left_out = left_out or self._dropped_between(at, after)
        reason = f"{left_out!r} is left out"
        what = DifferenceKind.RESTRICTION_LEFT_OUT
        return contradiction(reason, what) if left_out else None

    def _find_limit(self) -> ClaimDifference | None:
        """Return an exception or condition that follows the words of the claim.

        "Open every day" is not said by "open every day except Monday".
        """
        if not self._places_in_claim or any(t.key in _LIMITS for t in self.tokens):
            return None
        last = max(self._places_in_claim)
        for place, token in enumerate(self.passage_words.tokens):
            if place and self.passage_words.tokens[place - 1].ends:
                last = -1  # a limit of another clause
            if place > last >= 0 and token.key in _LIMITS:
                reason = f"{token.written!r} is left out"
                return contradiction(reason, DifferenceKind.LIMIT_LEFT_OUT)
        return None

    def _find_condition(self) -> ClaimDifference | None:
        """Return a condition of the sentence that the claim leaves out."""
        opener = find_left_out(self.claim, self.sentence, self.asked, self.languages)
        reason = f"{opener!r} is left out"
        return contradiction(reason, DifferenceKind.LIMIT_LEFT_OUT) if opener else None

    def _find_denial(self) -> ClaimDifference | None:
        """Return a "not" at the end of a clause if the claim has words of that clause.

        "Heating is included, internet is not": the "not" has no word after it.
        """
        here = self.passage_words.tokens
        if any(token.key == "not" for token in self.tokens):
            return None
        for place, token in enumerate(here):
            final = token.closes or place + 1 == len(here)
            if token.key != "not" or not final or not place or here[place - 1].closes:
                continue
            clause = {place - 1}
            while (first := min(clause)) and not here[first - 1].closes:
                clause.add(first - 1)
            if any(places and clause.issuperset(places) for places in self.occurrences):
                reason = f"{token.written!r} is left out"
                return contradiction(reason, DifferenceKind.GUARD_LEFT_OUT, token.key)
        return None

    def _find_ordinal(self) -> ClaimDifference | None:
        """Return a word left out between an ordinal or a share and what it counts.

        "The third working day" is not "the third day".
        """
        shares = {stem(noun.lower()) for noun in _SHARE.findall(self.claim)}
        for at, token in enumerate(self.tokens[:-1]):
            after = self.tokens[at + 1]
            counted = token.key in _ORDINALS and token.attached
            if counted and after.role is WordRole.WORD:
                left_out = self._dropped_between(at, at + 1)
            elif after.key in shares:
                left_out = self._modifier(at + 1)
            else:
                continue
            if left_out:
                reason = f"{left_out!r} is left out"
                return contradiction(reason, DifferenceKind.RESTRICTION_LEFT_OUT)
        return None

    def _find_other_member(self) -> ClaimDifference | None:
        """Return a member left out of an "only": "only the cook and the maid dine"."""
        only = next((i for i, t in enumerate(self.tokens) if t.key == "only"), None)
        here, ours = self.passage_words.tokens, self._places_in_claim
        words = [i for i in self._words if only is not None and i > only]
        for at, after in pairwise(words):
            if self.tokens[at].closes or self.tokens[at].joins:
                return None
            for start, end in product(self.occurrences[at], self.occurrences[after]):
                between = range(start + 1, end)
                if here[start].link and between and ours.isdisjoint(between):
                    reason = f"{here[start + 1].written!r} is left out"
                    return contradiction(reason, DifferenceKind.PART_LEFT_OUT)
        return None

    def _find_link(self) -> ClaimDifference | None:
        """Return an "and" for an "or", or "by the end" for "from the end"."""
        tokens, places = self.tokens, self.occurrences
        if other := find_other_link(tokens, places, self.passage_words):
            reason = f"the passage has {other[1]!r} for {other[0]!r}"
            return contradiction(reason, DifferenceKind.GUARD_ELSEWHERE)
        if time := find_other_bound(self.claim, self.sentence):
            reason = f"{time!r} is the other end of a time"
            return contradiction(reason, DifferenceKind.RANGE_TURNED)
        return None

    def _find_part(self) -> ClaimDifference | None:
        """Return a word for a part if the claim speaks of the whole.

        The claim has the noun but not the word for the part: "one of the parties" is
        neither "the parties" nor each of them.
        """
        ours = {token.key for token in self.tokens}
        sentence = normalise(self.sentence).text
        for match in _PART.finditer(sentence):
            part, whole = read_passage(match[1] or match[2]), match[0].split()[-2:]
            named = {token.key for token in read_passage(" ".join(whole)).tokens}
            rest = sentence.replace(match[0], "")
            elsewhere = {token.key for token in read_passage(rest).tokens}
            if named & ours - elsewhere and not ours & set(part.places):
                reason = f"{match[1] or match[2]!r} of them is left out"
                return contradiction(reason, DifferenceKind.PART_LEFT_OUT)
        return None

    def _is_definite(self, at: int) -> bool:
        """Return whether "the" or the like precedes a word, or its neighbour."""
        before = self.tokens[at - 1] if at else None
        beside = before is not None and before.attached and before.definite
        return self.tokens[at].definite or beside

    def _modifier(self, at: int) -> str:
        """Return the word before a word of the sentence, if the claim lacks it."""
        left_out = ""
        if self._is_identifier(at):
            return ""  # "error E04", "Rule 7b": the noun only says what it identifies
        for place in self.occurrences[at]:
            before = self.passage_words.tokens[place - 1] if place else None
            if not before or not before.attached or not self._lacks(place - 1):
                return ""
            left_out = before.written
        return left_out

    def _is_identifier(self, at: int) -> bool:
        """Return whether a word is the beginning of a code: the "e" of "E04"."""
        after = self.tokens[at + 1 : at + 2]
        return len(self.tokens[at].written) <= LONGEST_LETTERS and any(
            self.tokens[at].attached and token.role is WordRole.NUMBER
            for token in after
        )

    def _dropped_between(self, at: int, after: int) -> str:
        """Return the first word left out between two neighbours in the claim.

        Words after a comma or an "and" are another member of a list.
        """
        second = self.occurrences[after]
        pairs = [(p, q) for p in self.occurrences[at] for q in second if p < q]
        if not pairs:
            return ""
        low, high = min(pairs, key=lambda pair: pair[1] - pair[0])
        here = self.passage_words.tokens
        if any(here[i].closes or here[i].joins for i in range(low, high)):
            return ""
        between = [
            i for i in range(low + 1, high) if here[i].role is not WordRole.GUARD
        ]
        short = 0 < len(between) <= LONGEST_RESTRICTION
        if short and all(self._lacks(i) for i in between):
            return here[between[0]].written
        return ""

    def _lacks(self, place: int) -> bool:
        """Return whether the claim leaves out a word or name of the sentence."""
        token = self.passage_words.tokens[place]
        if token.role not in (WordRole.WORD, WordRole.NAME):
            return False
        implied = token.key in self.known or token.written in _NAMING
        return not implied and place not in self._places_in_claim


def _may_be_named(token: Token) -> bool:
    """Return whether a title's word may replace another: a name, but not "the club"."""
    return token.role is not WordRole.WORD or not token.definite


def _described_by(tokens: Sequence[Token], place: int) -> str:
    """Return the key of a word directly before another, if it is no number or guard."""
    before = tokens[place - 1] if place else None
    described = before is not None and before.attached and before.role in _NAMED
    return before.key if before is not None and described else ""


def _numbers(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.role is WordRole.NUMBER]


def _of_another(token: Token, what: DifferenceKind) -> ClaimDifference:
    return contradiction(f"{token.written!r} refers to something else", what)


def _changed_places(
    one: Token, other: Token, what: DifferenceKind = DifferenceKind.EXCHANGED
) -> ClaimDifference:
    return contradiction(f"{one.written!r} and {other.written!r} are swapped", what)


def _stems(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    """Return the stems of the participles that a pattern matches."""
    verbs = (verb.lower() for verb in pattern.findall(text))
    return frozenset(
        stem(IRREGULAR.get(verb, verb))
        for verb in verbs
        if verb in IRREGULAR or verb in _UNCHANGED or verb.endswith(_PARTICIPLE)
    )
