"""Things that a question names, and which of them a later question refers to.

English rules that prefer no referent to a wrong one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from elt_llm_query.analysis.follow_up import (
    Dependence,
    Pointer,
    ends_in_predicate,
)
from elt_llm_query.analysis.lexicon import COMMON, QUESTION_WORDS, STOP_WORDS
from elt_llm_query.analysis.message_form import without_lead
from elt_llm_query.analysis.noun_phrases import (
    AUX,
    DETERMINER,
    NOUNS,
    PREP,
    STOPS,
    TIME,
    WORD,
    is_plural,
    stems_of,
)
from elt_llm_query.analysis.stems import stem, words

_NAME = re.compile(
    r"\b[A-Z][\w'\u2019-]*(?:\s+(?:of\s+(?:the\s+)?)?[A-Z][\w'\u2019-]*)*"
)
_IDENTIFIER = re.compile(r"\b(?=\w*\d)(?=[\w-]*[A-Za-z])[\w-]{3,}\b")
_OF = re.compile(
    rf"\bthe\s+(?P<noun>{NOUNS})\s+(?:of|for)\s+(?P<of>(?:{DETERMINER}\s+)?{NOUNS})"
    rf"(?=\W*$|\s+(?:{PREP}|{AUX}|{TIME})\b)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    rf"^\W*(?:(?:what|how|when|why|where|how\s+\w+|what\s+\w+|which\s+\w+)\s+)?"
    rf"(?:{AUX})\s+(?P<noun>(?:{DETERMINER}\s+)?{NOUNS})\s+(?:be\s+)?{STOPS}{WORD}"
    rf"(?:\s+(?:{PREP})(?:\s+{STOPS}{WORD}){{0,3}})?\W*$",
    re.IGNORECASE,
)
# "submit a notice", "bring the map": the object follows the verb.
_OBJECT = re.compile(
    rf"\b{STOPS}(?!(?:how|what|which|who|whom|whose|when|where|why)\b)[a-z]+\s+"
    rf"(?P<noun>(?:an?|the)\s+{NOUNS})(?=\W*$|\s+(?:{PREP}|{AUX})\b)",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(
    rf"^\W*(?:what|who)(?:['\u2019]s|\s+(?:is|are|was|were))\s+"
    rf"(?P<noun>(?:{DETERMINER}\s+)?{NOUNS})\W*$",
    re.IGNORECASE,
)
# "How long is the apprenticeship?": no verb follows the noun.
_HOW_IS = re.compile(
    rf"^\W*(?:how\s+\w+|when|where)(?:['\u2019]s|\s+(?:is|are|was|were))\s+"
    rf"(?P<whole>(?:{DETERMINER}\s+)?(?P<noun>{NOUNS}))\W*$",
    re.IGNORECASE,
)
# "How many days of shore leave do keepers get?": what is asked for is of a thing too.
_AMOUNT_OF = re.compile(
    rf"^\W*how\s+(?:many|much)\s+(?:{WORD}\s+)?of\s+"
    rf"(?P<of>(?:{DETERMINER}\s+)?{NOUNS})(?=\W*$|\s+(?:{AUX})\b)"
    rf"(?:\s+(?:{AUX})\s+(?P<noun>(?:{DETERMINER}\s+)?(?:{STOPS}{WORD}\s+){{1,4}})"
    rf"{STOPS}{WORD}\b)?",
    re.IGNORECASE,
)
# "Who issues the permit?", "Who is responsible for the permit?"; a determiner tells the
# object from an adverb.
_WHO_DOES = re.compile(
    rf"^\W*who\s+(?:(?:{AUX})\s+(?:not\s+)?)?{STOPS}{WORD}\s+"
    rf"(?:(?:for|on|about|to|at|in|with)\s+)?"
    rf"(?P<noun>{DETERMINER}\s+{NOUNS})(?=\W*$|\s+(?:{PREP}|{TIME})\b)",
    re.IGNORECASE,
)
# "The Bachelor's thesis" is of no Bachelor, "Acme's report" is of Acme.
_KIND = re.compile(
    rf"\b(?:an?|the)\s+(?P<noun>(?P<name>[A-Z]\w*)['\u2019]s\s+{STOPS}{WORD})"
)
# The answer to these is an unnamed thing, to which the next question may refer.
_NAMES_NOTHING = re.compile(r"^\W*(?:who|whom|whose|which)\b", re.IGNORECASE)
_ARTICLE = re.compile(rf"^(?:{DETERMINER})\s+", re.IGNORECASE)


@dataclass(frozen=True)
class NamedThing:
    """A thing that a question names and a later one may refer to.

    `owner` is the noun that belongs to a thing: "weight" of "the weight of the metal".
    `is_no_person` is true of what somebody does something with: "Who issues the card?".
    """

    text: str
    plural: bool
    owner: str = ""
    is_no_person: bool = False

    @property
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return stems_of(self.text)


class _Owned(NamedTuple):
    """A noun, the thing that it belongs to, and the phrase of both."""

    noun: str
    thing: str
    whole: str


def names_a_thing(question: str, titles: Sequence[str]) -> bool:
    """Return whether a question contains a name, or words of one of the titles."""
    return bool(_names(question) or _title_runs(question, titles))


def find_candidates(question: str, titles: Sequence[str]) -> tuple[NamedThing, ...]:
    """Find the things that a question names.

    Args:
        question: A complete question.
        titles: Titles of the documents that answered it; words shared with a title are
            a named thing.

    Returns:
        Each thing once; none if the question names none, or asks which one it is.
    """
    question = without_lead(question)
    owned = _find_owned(question)
    if _NAMES_NOTHING.match(question):
        return () if owned else _done_with(question)
    phrases = [*_names(question), *_title_runs(question, titles)]
    phrases += [owned.thing] if owned else _asked_of(question)
    candidates = [NamedThing(_bare(p), is_plural(p)) for p in phrases]
    whole = _without_parts([c for c in candidates if c.stems])
    if owned:
        plural = is_plural(owned.noun)
        whole.append(NamedThing(owned.whole, plural, owned.noun))
    return tuple(whole)


def _find_owned(question: str) -> _Owned | None:
    """Return "the fee for a locker" of a question, if it has such a phrase.

    "Where is the fee for a locker paid?": the last word is asked of it.
    """
    match = _OF.search(question)
    if match is None:
        return None
    thing, whole = match["of"], match[0]
    if match.end() >= len(question.rstrip(" ?!.")) and ends_in_predicate(
        question, _ARTICLE.sub("", thing)
    ):
        last = len(thing.split()[-1])
        thing, whole = thing[:-last].rstrip(), whole[:-last].rstrip()
    return _Owned(match["noun"], thing, f"the {whole[4:].lstrip()}")


def _asked_of(question: str) -> list[str]:
    """Return the noun phrases of which a question asks something."""
    if amount := _AMOUNT_OF.match(question):
        return [p.strip() for p in amount.group("of", "noun") if p]
    whole = _HOW_IS.match(question)
    if whole and not ends_in_predicate(question, whole["noun"]):
        return [whole["whole"]]
    match = _WHAT_IS.match(question) or _SUBJECT.match(question)
    return [match["noun"]] if match else []


def _done_with(question: str) -> tuple[NamedThing, ...]:
    """Return what somebody is asked for does something with, if it is one thing.

    "They" may be those who are asked for.
    """
    match = _WHO_DOES.match(question)
    if match is None or is_plural(match["noun"]):
        return ()
    thing = NamedThing(_bare(match["noun"]), plural=False, is_no_person=True)
    return (thing,) if thing.stems else ()


def choose_referent(
    dependence: Dependence, candidates: Sequence[NamedThing]
) -> NamedThing | None:
    """Choose the referent, if it is certain.

    Args:
        dependence: The words.
        candidates: The things that the previous question names.

    Returns:
        The only candidate of the right number; None if there is none, or several.
    """
    candidates = [c for c in candidates if not (dependence.personal and c.is_no_person)]
    fitting = [c for c in candidates if c.plural == dependence.plural]
    if dependence.kind is Pointer.BARE_NOUN or dependence.possessive:
        # "What is the dose of X? And its colour?": a dose has none of its own.
        fitting = [c for c in fitting if not c.owner]
    if dependence.kind is Pointer.BARE_NOUN:
        fitting = [c for c in candidates if not c.owner]
    if dependence.possessive and dependence.rival:
        return None
    # "What is the dose of X? How often is it given?": an answer about "the dose of X"
    # is about either.
    whole = [c for c in fitting if c.owner]
    if len(whole) == 1 and all(c.stems <= whole[0].stems for c in fitting):
        return whole[0]
    return fitting[0] if len(fitting) == 1 else None


def has_rival(dependence: Dependence, question: str, referent: NamedThing) -> bool:
    """Return whether a pronoun may as well stand for the object of a question.

    "May a member bring a guest?": "it" and "they" of the next message may be either.

    Args:
        dependence: The words.
        question: The question before.
        referent: The thing that they would stand for.
    """
    if dependence.kind is not Pointer.PRONOUN or dependence.personal:
        return False
    objects = (match["noun"] for match in _OBJECT.finditer(without_lead(question)))
    return any(
        is_plural(noun) == dependence.plural and not stems_of(noun) <= referent.stems
        for noun in objects
    )


def _names(question: str) -> list[str]:
    """Capitalised words but the first, and words with digits and letters."""
    capitals = [w for w in words(question) if w[:1].isupper()]
    shouted = len(capitals) > 0.6 * len(words(question))
    kinds = [] if shouted else [*_KIND.finditer(question)]
    names = [] if shouted else [m[0] for m in _NAME.finditer(question)]
    names = [n for n in names if n[:-2] not in {kind["name"] for kind in kinds}]
    names = [re.sub(r"['\u2019]s$", "", n) for n in names]
    plain = [n for n in names if not _is_form(n) and not question.startswith(n)]
    plain += [f"the {kind['noun']}" for kind in kinds]
    return [*plain, *(m[0] for m in _IDENTIFIER.finditer(question))]


def _title_runs(question: str, titles: Sequence[str]) -> list[str]:
    """The longest runs of words of a question that a title has too."""
    known = {
        stem(w) for title in titles for w in words(title.lower().replace("_", " "))
    }
    runs: list[list[str]] = [[]]
    for match in re.finditer(WORD, question):
        word = match[0].lower()
        telling = word not in STOP_WORDS and word not in QUESTION_WORDS
        if telling and word not in COMMON and stem(word) in known:
            runs[-1].append(match[0])
        elif runs[-1]:
            runs.append([])
    named = [" ".join(run) for run in runs if run]
    return [_with_the(run, question) for run in named]


def _with_the(run: str, question: str) -> str:
    """Return words of a question with "the" where an article precedes them."""
    before = rf"\b(?:the|an?)\s+{re.escape(run)}\b"
    return f"the {run}" if re.search(before, question, re.IGNORECASE) else run


def _is_form(name: str) -> bool:
    return all(w.lower() in STOP_WORDS | QUESTION_WORDS for w in name.split())


def _bare(phrase: str) -> str:
    """A noun phrase as it is named again: "a card" is "the card"."""
    article = _ARTICLE.match(phrase)
    rest = phrase[article.end() :] if article else phrase
    return f"the {rest}" if article else rest


def _without_parts(candidates: Sequence[NamedThing]) -> list[NamedThing]:
    """Those that are not a part of another one, each once."""
    whole: list[NamedThing] = []
    for one in sorted(candidates, key=lambda c: (-len(c.stems), -len(c.text))):
        if not any(one.stems <= other.stems for other in whole):
            whole.append(one)
    return whole
