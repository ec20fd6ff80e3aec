"""Which questions a sentence about a relation of a model may answer.

A model says "Limit Breach leads to Boil Water Notice." That has the nouns of many
questions about duties and deadlines but answers none of them. Such a sentence answers
only a question about its relation: every content word of the question is in it, its
verb is in the question, and the end that is asked for is of the requested kind.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import Sentence, read
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import SYNONYM, match
from elt_llm_query.synthesizers.extractive.form_fit import form_fit

# What a question calls the elements of a model and their connections.
_GENERIC = frozenset(
    map(
        stem,
        [
            *("cardinality", "component", "concept", "connected", "connection"),
            *("domain", "element", "entity", "item", "kind", "link", "linked", "model"),
            *("node", "object", "related", "relation", "relationship", "sheet"),
            *("subtype", "thing", "type"),
        ],
    )
)
_REASONS = frozenset({"how", "why"})
# "Is X a kind of Y?" asks for "X is a specialization of Y."
_KIND = frozenset(map(stem, ["kind", "sort", "type"]))
_SPECIAL = frozenset(map(stem, ["specialization", "specialisation"]))
# How "is related to" and "has" are asked for.
_UNVERBAL = frozenset(
    map(stem, ["connected", "connection", "has", "have", "linked", "related"])
)
# Types whose elements can be meant by "who": ArchiMate's active business elements and
# what drawings and inventories call people and their groups.
_WHO = re.compile(
    r"(?:^|\s)(?:Actor|Role|Person|Stakeholder|Organi[sz]ation|Team|User|Department"
    r"|Collaboration)\b",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_COUNT = re.compile(
    r"\bEach (?P<one>.+?) has (?:exactly one|at most one|one or more|zero or more"
    r"|\d+ or more|at most \d+|exactly \d+|between \d+ and \d+) (?P<other>.+?)"
    r" \((?P<count>[^()]+)\)\."
)
_BESIDE = re.compile(r"\s\([^()]*\)\.?$")  # "X flows to Y (nightly)."
_FIRST = re.compile(r"[^\n]+?\.(?=\s|$)")


Ends = tuple[str, str]  # the names of the source and the target


class RelationParts(NamedTuple):
    """The sentence of a relation: "Crate", "protects", "Museum Object"."""

    first: str
    verb: str
    last: str


class Count(NamedTuple):
    """`text[start:end]` says how many of one end belong to the other."""

    start: int
    end: int


def states_relation(
    question: QuestionAnalysis,
    sentence: Sentence,
    name: str,
    kind: str,
    ends: Ends | None = None,
) -> bool:
    """Return whether a sentence about a relation may answer a question.

    Args:
        question: The question.
        sentence: The relation, such as "Crate protects Museum Object.".
        name: The name of the fact sheet that it is on; empty for a relation's own.
        kind: The type of that element; empty if unknown.
        ends: The names of both ends, if known.
    """
    if question.form in {Form.DEFINITION, Form.NUMBER, Form.TIME}:
        return False  # a relation is no meaning, no number and no date
    if question.read.lower_words & _REASONS:
        return False
    if question.form is Form.PERSON and not _names_who(question, name, kind):
        return False
    known = sentence.stems | _GENERIC | read(kind).stems
    covered = all(match(x, known) >= SYNONYM for x in question.weights)
    parts = _split(sentence.text, name, ends)
    verbs = _verbs(parts)
    asked = question.read.stems
    if asked & _KIND:
        asked |= _SPECIAL
    asks = all(match(verb, asked) >= SYNONYM for verb in verbs)
    if not covered or not asks or not (verbs or asked & _UNVERBAL):
        return False
    return question.form is not Form.YES_NO or _has_both_ends(question, parts)


def count_of_ends(question: QuestionAnalysis, text: str) -> Count | None:
    """Return the sentence that counts what a question counts, for both its ends.

    "How many meters can a supply point have?" is answered by "Each Supply Point has at
    most one Meter (0..1).", but "How many supply points are there?" is not.

    Args:
        question: The question.
        text: The text of a relation.
    """
    known = question.read.stems
    for count in _COUNT.finditer(text):
        one, other = read(count["one"]), read(count["other"])
        is_counted = any(match(x, other.stems) for x in question.counted)
        both = one.stems | other.stems
        extra = [x for x in question.weights if match(x, both | _GENERIC) < SYNONYM]
        named = all(match(x, known) >= SYNONYM for x in both)
        if named and is_counted and not extra:
            return Count(count.start(), count.end())
    return None


def may_describe(question: QuestionAnalysis, text: str, name: str, kind: str) -> bool:
    """Return whether a description on a fact sheet has the kind that is asked for.

    What is said of a process that the question does not name is no person; a text
    without a number is no number.

    Args:
        question: The question.
        text: The description.
        name: The name of the fact sheet.
        kind: The type of its element; empty if unknown.
    """
    if question.form in {Form.NUMBER, Form.TIME}:
        return form_fit(question, text) > 0
    if question.form is not Form.PERSON:
        return True
    return not kind or _is_who(kind) or _is_given(question, name)


def relation_of(text: str) -> Sentence:
    """Return the first sentence of the text of a relation.

    Args:
        text: The text, which goes on with counts, domains and roles.
    """
    first = _FIRST.match(text)
    return read(first[0] if first else text.partition("\n")[0])


def _names_who(question: QuestionAnalysis, name: str, kind: str) -> bool:
    """Return whether the sheet is of a person or role that the question does not name.

    On the sheet of an element that the question names, the other end is the answer, and
    its type is unknown.
    """
    return _is_who(kind) and not _is_given(question, name)


def _is_who(kind: str) -> bool:
    """Return whether "who" can mean elements of a type, such as BusinessRole."""
    return bool(_WHO.search(_CAMEL.sub(" ", kind)))


def _is_given(question: QuestionAnalysis, name: str) -> bool:
    return bool(name) and read(name).folded_line in question.read.folded_line


def _split(text: str, name: str, ends: Ends | None) -> RelationParts:
    """Return the parts of a relation's sentence, by the names of its ends if known."""
    bare = _BESIDE.sub("", text).strip().rstrip(".")
    for one, other in (ends, ends[::-1]) if ends else ():
        if bare.startswith(f"{one} ") and bare.endswith(f" {other}"):
            return RelationParts(one, bare[len(one) : -len(other)].strip(), other)
    if name and bare.startswith(f"{name} "):
        rest = bare[len(name) :].split()
        size = _verb_length(rest)
        return RelationParts(name, " ".join(rest[:size]), " ".join(rest[size:]))
    if name and bare.endswith(f" {name}"):
        rest = bare[: -len(name)].split()
        size = len(rest) - _verb_length(rest[::-1])
        return RelationParts(" ".join(rest[:size]), " ".join(rest[size:]), name)
    several = bare.split()
    small = [at for at, word in enumerate(several) if at and word.islower()] or [0]
    first, last = several[: small[0]], several[small[-1] + 1 :]
    verb = several[small[0] : small[-1] + 1] if small[0] else []
    return RelationParts(" ".join(first), " ".join(verb), " ".join(last))


def _verb_length(rest: Sequence[str]) -> int:
    """Return how many words beside one end are the verb; the others are the other end.

    It ends at a capital. Where names are written small, or verbs with a capital, it is
    one content word with the function words beside it: "is linked to".
    """
    capital = next((at for at, word in enumerate(rest) if not word.islower()), 0)
    if capital:
        return capital
    is_content = [word.lower() not in STOP_WORDS for word in rest]
    at = is_content.index(True) + 1 if True in is_content else len(rest)
    while at < len(rest) and not is_content[at]:
        at += 1
    return min(at, len(rest) - 1)


def _verbs(parts: RelationParts) -> list[str]:
    """Return the stems of the content words of the verb of a relation."""
    return [
        stem(word)
        for word in read(parts.verb).words
        if word.lower() not in STOP_WORDS and stem(word) not in _GENERIC
    ]


def _has_both_ends(question: QuestionAnalysis, parts: RelationParts) -> bool:
    """Return whether a question names both ends, and in the order of the sentence.

    The passive turns the order round: "Is the crate carried by the trip?".
    """
    is_passive = " by " in question.read.folded_line
    turned = is_passive != (" by " in f" {parts.verb.casefold()} ")
    before, after = parts.first, parts.last
    if turned:
        before, after = after, before
    first, last = _places(question, before), _places(question, after)
    return bool(first and last) and first[0] < last[-1]


def _places(question: QuestionAnalysis, end: str) -> list[int]:
    """Return where a question has a name, as a whole."""
    stems, name = question.read.stem_list, read(end).stem_list
    starts = range(len(stems) - len(name) + 1) if name else ()
    return [at for at in starts if stems[at : at + len(name)] == name]
