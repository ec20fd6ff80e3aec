"""The English vocabulary of questions about a model."""

import re
from collections.abc import Mapping
from typing import NamedTuple


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Words without influence on the question; every other word must be understood. They
# include no verb of permission, because permissions are in no model.
FUNCTION_WORDS = _words(
    """a all also altogether an and any anything architecture are as at be been
    being by did different do does each else enterprise every exactly for from give
    go goes has have how i in into is it its just me model of on one or other our
    out over overall please s say shall show so something tell that the their them
    there they this to together total upon us was we were what which who whom whose
    with within you your"""
)
# Polite openings of a question.
POLITE = re.compile(
    r"(?:(?:can|could|will|would) you|(?:i|we) (?:want|need|(?:would|'d) like)(?: to)?"
    r"|let me|do you know|please)\b",
    re.IGNORECASE,
)
RELATION_WORDS = _words(
    """associate connect connection edge join link neighbor neighbour relate
    relation relationship tie"""
)
WAY_WORDS = _words("between chain lead path reach route shortest through trace via way")
COUNT_WORDS = _words("amount count many number")
LIST_WORDS = _words("describe enumerate everything know list name see state")
IN_WORDS = _words(
    """belong contain exist fall find group hold include inside lie live locate part
    sit situate stand under where"""
)
CONTENT_WORDS = _words(
    """child children comprise consist contain element encompass hold include inside
    make part up within"""
)
DEPEND_WORDS = _words("depend dependency dependent need rely require")
IMPACT_WORDS = _words(
    """affect break change disappear down fail if impact remove retire stop suffer will
    would"""
)
AFFECT_WORDS = _words("affect impact")
FLOW_WORDS = _words("come exchange flow involve pass run through transfer")
DIRECT_WORDS = _words("direct directly")
INDIRECT_WORDS = _words("indirect indirectly")
PARTICIPATE_WORDS = _words("involve part participate take")
APPEAR_WORDS = _words("appear depict draw include occur show")
DIVIDE_WORDS = _words("divide organise organize split structure")
# After these a type is what is asked for; elsewhere, right before a name ("the
# application Portal"), it says which element of that name is meant.
QUANTIFIERS = _words("all any count every list many name show what which")
HOP_WORDS = _words("away can distance far hop least link most relation remove step")
COUNT_OF_ENDS = _words("cardinality multiplicity")
IN_TERMS = _words("hold term")
TYPE_WORDS = _words("category class classify kind sort type")
DOMAIN_WORDS = _words("area domain")
VIEW_WORDS = _words("diagram view")
ANY_ELEMENT = _words("component element entity fact item node sheet thing")
# The verbs of "where is it held?" that ask for what has it, not for its domain.
HOLDING = _words("hold keep store")
# Verbs of a whole: what they are about is inside it, whoever stands before them.
WHOLE_VERBS = _words("comprise consist contain encompass hold include")
# One of these makes a question of a sentence.
ASKING = _words(
    """are count do does enumerate every everything give has have how is list many name
    show tell what where which who whom"""
)
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}
# Bare "application" and "system": the components, not services, functions or events;
# inventories say "Application" for what ArchiMate calls an application component.
APPLICATION = frozenset({"Application", "ApplicationComponent"})
# Without one of these, "what are data objects" asks what the word means.
LISTING = _words("all every model the there which")
PLACING = _words("have has in inside of under within")


class Verb(NamedTuple):
    """A verb of a relation type, and the end that is its subject.

    `access` is what an access must be stated to be: to read or to write.
    """

    types: frozenset[str]
    subject_is_source: bool = True
    access: str = ""


def _verb(types: str, *, source: bool = True, access: str = "") -> Verb:
    return Verb(_words(types), source, access)


# ArchiMate 3.2, chapter 5, with the everyday words for the same relations.
VERBS: Mapping[str, Verb] = {
    "access": _verb("Access"),
    "aggregate": _verb("Aggregation"),
    "assign": _verb("Assignment"),
    "compose": _verb("Composition"),
    "flow": _verb("Flow"),
    "implement": _verb("Realization Realisation"),
    "influence": _verb("Influence"),
    "perform": _verb("Assignment"),
    "realise": _verb("Realization Realisation"),
    "realize": _verb("Realization Realisation"),
    "read": _verb("Access", access="read"),
    "receive": _verb("Flow", source=False),
    "send": _verb("Flow"),
    "serve": _verb("Serving UsedBy"),
    "specialise": _verb("Specialization Specialisation"),
    "specialize": _verb("Specialization Specialisation"),
    "start": _verb("Triggering"),
    "support": _verb("Serving UsedBy"),
    "trigger": _verb("Triggering"),
    "write": _verb("Access", access="write"),
}
# Types of ArchiMate that nobody means by "who", by their endings.
NOBODY = ("Artifact", "Contract", "Event", "Function", "Interaction", "Material",
          "Object", "Process", "Product", "Representation", "Service")  # fmt: skip
# How the two ArchiMate formats name the kind of an access.
ACCESS_NAMES = ("access", "accessType")
# What is meant by the verb too if nothing has its own relation: a capability supports
# a goal by realising it.
ALSO: Mapping[str, Verb] = {"support": _verb("Realization Realisation Influence")}
# Who uses something is served by it, or accesses it.
USES = frozenset({"use", "utilise", "utilize", "consume"})
SERVES = frozenset({"Serving", "UsedBy"})
ACCESSES = frozenset({"Access"})

# Every word that an intent knows, in its base form.
INTENT_WORDS = frozenset().union(
    RELATION_WORDS, WAY_WORDS, COUNT_WORDS, LIST_WORDS, IN_WORDS, CONTENT_WORDS,
    DEPEND_WORDS, IMPACT_WORDS, AFFECT_WORDS, FLOW_WORDS, DIRECT_WORDS, INDIRECT_WORDS,
    PARTICIPATE_WORDS, APPEAR_WORDS, DIVIDE_WORDS, HOP_WORDS, COUNT_OF_ENDS, IN_TERMS,
    TYPE_WORDS, DOMAIN_WORDS, VIEW_WORDS, ANY_ELEMENT, HOLDING, USES, VERBS, NUMBERS,
)  # fmt: skip


def base_form(word: str) -> str:
    """Return a word without the ending of a plural, a participle or a third person.

    Args:
        word: In lower case.

    Returns:
        Such as "serve" for serves, served and serving: all forms of a word have the
        same base, which need not be a word itself.
    """
    if word in IRREGULAR:
        return IRREGULAR[word]
    for ending, put in ENDINGS:
        stem = word[: -len(ending)]
        if ending == "ed" and word.endswith(BASES_IN_ED):
            break
        if word.endswith(ending) and len(stem) >= SHORTEST and VOWEL.search(stem):
            return _with_e(stem + put)
    return _with_e(word)


VOWEL = re.compile("[aeiouy]")  # "thing" and "string" are not participles
SHORTEST = 2  # minimum remaining letters: "is" and "as" are not plurals
ENDINGS = (
    ("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"),
    ("ing", ""), ("ied", "y"), ("ss", "ss"), ("us", "us"), ("is", "is"), ("s", ""),
    ("ed", ""),
)  # fmt: skip
# Verbs whose base ends in -ed; "agreed" is the participle of another one.
BASES_IN_ED = ("feed", "seed", "ceed", "speed", "breed", "bleed", "embed")
IRREGULAR = {
    "children": "child", "does": "do", "has": "have", "goes": "go",
    "made": "make", "held": "hold", "sent": "send", "kept": "keep", "sold": "sell",
    "bought": "buy", "brought": "bring", "built": "build", "chosen": "choose",
    "driven": "drive", "fed": "feed", "frozen": "freeze", "given": "give",
    "grown": "grow", "hidden": "hide", "known": "know", "laid": "lay", "led": "lead",
    "lent": "lend", "lost": "lose", "met": "meet", "overseen": "oversee",
    "paid": "pay", "seen": "see", "shown": "show", "sought": "seek", "spent": "spend",
    "taken": "take", "taught": "teach", "thrown": "throw", "undertaken": "undertake",
    "withdrawn": "withdraw", "written": "write",
    "drawn": "draw", "lies": "lie", "stopped": "stop", "linking": "link",
    "everything": "everything", "something": "something", "nothing": "nothing",
    "through": "through", "need": "need", "found": "find", "ran": "run",
    "process": "process", "series": "series", "data": "data", "business": "business",
}  # fmt: skip
# Verbs that drop an e before -ed and -ing.
WITH_E = _words(
    """aggregate associate change compose comprise consume divide exchange include
    influence involve live locate make move name organise organize participate
    realise realize relate remove require retire serve situate specialise specialize
    store structure trouble use utilise utilize"""
)


def _with_e(stem: str) -> str:
    return stem + "e" if stem + "e" in WITH_E else stem
