"""Changes of a sentence after which it still says what its passage says."""

# ruff: noqa: ARG001, SIM905 - every change takes the same arguments

import random
import re

from claim_passages import Alter, Passage, choose_match, replace_span
from elt_llm_query.analysis.lexicon import NUMBER_WORDS


def break_lines(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """Line breaks for spaces."""
    spaces = [m.start() for m in re.finditer(" ", sentence)]
    for at in rng.sample(spaces, min(3, len(spaces))):
        sentence = replace_span(sentence, (at, at + 1), "\n")
    return sentence


def hyphenate(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """A word of eight letters or more hyphenated over a line break."""
    word = choose_match(re.compile(r"\b[a-z]{8,}\b"), sentence, rng)
    if not word:
        return None
    at = word.start() + rng.randrange(3, len(word[0]) - 2)
    return f"{sentence[:at]}-\n{sentence[at:]}"


def ligate(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """Ligatures and typographic signs."""
    new = (
        sentence.replace("fi", "\ufb01").replace("fl", "\ufb02").replace("'", "\u2019")
    )
    return new if new != sentence else None


NOISE: dict[str, Alter] = {
    "line breaks": break_lines,
    "hyphenation": hyphenate,
    "ligatures": ligate,
}
_BASES = """
    accept accompany address adjust adopt affect allocate amend apply appoint approve
    assess assign assist attach avoid calculate cancel clear collect communicate
    complete conduct confirm consider contact control convene convert cover deliver
    describe determine direct disclose display document establish evaluate examine
    exclude execute exercise extend follow fulfil grant identify impose implement
    inform initiate inspect investigate issue limit maintain manage measure monitor
    notify obtain operate outsource perform permit postpone prepare present prohibit
    protect provide publish receive record reflect refuse register reject release remove
    replace report request require restore restrict retain review revoke satisfy sign
    specify submit supervise supply support suspend terminate transfer treat update use
    validate vary verify
"""
_FORMS = {
    "make": "made",
    "give": "given",
    "take": "taken",
    "hold": "held",
    "keep": "kept",
    "set": "set",
    "withdraw": "withdrawn",
    "undertake": "undertaken",
    "pay": "paid",
    "fulfil": "fulfilled",
    "permit": "permitted",
    "submit": "submitted",
    "transfer": "transferred",
}


def _participle(base: str) -> str:
    ending = re.sub(r"(?<=[^aeiou])y$", "i", base).removesuffix("e")
    return f"{ending}ed"


_PARTICIPLES = {base: _participle(base) for base in _BASES.split()} | _FORMS
_VERBS = {participle: base for base, participle in _PARTICIPLES.items()}
_THING = r"(?:the|an?|any|each|its|all|such|this|these|those) (?:[\w'-]+ ){0,3}?[\w'-]+"
_MODAL = "must|shall|should|may|will|can"
_BEHIND = (
    "to|in|for|within|with|on|at|from|under|as|before|after|when|if|unless|where|upon"
    "|until|during|through|without|against|between|and that|or that"
)
_PASSIVE = re.compile(
    rf"^(?P<done>{_THING}(?: of {_THING})?) (?P<aux>(?:{_MODAL}) be|is|are) "
    rf"(?P<verb>\w+) by (?P<agent>{_THING})(?P<rest>(?: (?:{_BEHIND}) [^;]+)?)\.$",
    re.IGNORECASE,
)
_WORKING = re.compile(
    rf"^(?P<agent>{_THING}(?: of {_THING})?) (?P<aux>{_MODAL}) (?P<verb>\w+) "
    rf"(?P<done>{_THING}(?: of {_THING})?)(?P<rest>(?:,? (?:{_BEHIND}) [^;]+)?)\.$",
    re.IGNORECASE,
)


def reorder(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """The condition first instead of last, or last instead of first."""
    last = re.fullmatch(
        r"([A-Z][^,;:]+?),? ((?:if|when|unless|where) [^,;:]+)\.", sentence
    )
    if last:
        head = (
            last[1][0].lower() + last[1][1:]
            if last[1].split()[0] in ("The", "A", "An", "Each", "Any", "All", "This")
            else last[1]
        )
        return f"{last[2][0].upper()}{last[2][1:]}, {head}."
    first = re.fullmatch(r"((?:If|When|Unless|Where|In) [^,;:]+), ([^;:]+)\.", sentence)
    if first:
        return (
            f"{first[2][0].upper()}{first[2][1:]} {first[1][0].lower()}{first[1][1:]}."
        )
    return None


def change_voice(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """The passive in the active, or the active in the passive."""
    match = _PASSIVE.match(sentence)
    if match and match["verb"] in _VERBS and match["aux"] not in ("is", "are"):
        modal = match["aux"].removesuffix(" be")
        middle = f"{modal} {_VERBS[match['verb']]}"
        return _turn(match["agent"], middle, match["done"], match["rest"])
    match = _WORKING.match(sentence)
    if match and match["verb"] in _PARTICIPLES:
        middle = f"{match['aux']} be {_PARTICIPLES[match['verb']]} by"
        return _turn(match["done"], middle, match["agent"], match["rest"])
    return None


def _turn(first: str, middle: str, last: str, rest: str) -> str:
    first = first[0].upper() + first[1:]
    return f"{first} {middle} {last[0].lower()}{last[1:]}{rest}."


def use_synonym(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """A synonym of the lists in the same form."""
    for ring in rng.sample(SAFE_RINGS, len(SAFE_RINGS)):
        for word in rng.sample(ring, len(ring)):
            match = re.search(rf"\b{word}\b", sentence)
            if match:
                new = rng.choice([w for w in ring if w != word])
                return replace_span(sentence, match.span(), new)
    return None


SAFE_RINGS = [
    tuple(ring.split("/"))
    for ring in """
    begin/start/commence finish/end buy/purchase/acquire select/choose/appoint
    amend/modify/alter/change delete/remove/erase inform/notify submit/send/deliver
    obtain/receive/get approve/approval fee/charge/cost prohibited/forbidden
    permitted/allowed retain/keep/retained people/persons individuals/persons
    staff/employees display/show maximum/highest/largest
    """.split()
]


def spell_number(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """A number up to twenty in words, or as digits."""
    by_value = {v: k for k, v in NUMBER_WORDS.items() if v.isdigit() and int(v) <= 20}
    for match in re.finditer(r"(?<= )\d+(?= [a-z])", sentence):
        if match[0] in by_value:
            return replace_span(sentence, match.span(), by_value[match[0]])
    for word in re.finditer(r"\b[a-z]+\b", sentence):
        value = NUMBER_WORDS.get(word[0], "")
        if value.isdigit() and 1 < int(value) <= 20:
            return replace_span(sentence, word.span(), value)
    return None


PARAPHRASES: dict[str, Alter] = {
    "order": reorder,
    "voice": change_voice,
    "synonyms": use_synonym,
    "number words": spell_number,
}
