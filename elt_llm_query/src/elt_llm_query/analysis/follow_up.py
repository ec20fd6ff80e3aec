"""References of a question to the previous turn.

English rules: a question whose words may refer to two things, or to one that the
previous question does not name, is unclear. No list contains vocabulary of a particular
field.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from elt_llm_query.analysis.lexicon import IRREGULAR, STOP_WORDS
from elt_llm_query.analysis.noun_phrases import (
    AUX,
    DETERMINER,
    NOUNS,
    PREP,
    STOPS,
    WORD,
    is_plural,
    telling_words,
)
from elt_llm_query.analysis.stems import words

_LEAD = re.compile(
    r"^\W*(?:(?:and|but|so|ok|okay|then|also)\b[\s,]*)?(?:(?:what|how)\s+about\b\s*)?",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^\W*(?:(?:and|but|so)\b[\s,]*)?(?:what|how)\s+about\b", re.IGNORECASE
)
# "And who leads the altos?", "And what happens if it fails?" have their verb.
_ASKS = (
    r"(?:who|what|which\s+\w+)\s+[a-z]+(?:s|ed)\s+(?:the|an?|this|my|our|(?-i:[A-Z]))"
    r"|what\s+happens\s+(?:if|when|after|to|with)\b"
    r"|what\s+if\s+(?:the|an?|this|my|our|i|we|you|some(?:one|body)|no(?:body|\s+one))\s"
)
_AND = re.compile(
    rf"^\W*(?:and|but|or|so)\b[\s,]+(?!{_ASKS})(?!.*\b(?:{AUX})\b)", re.IGNORECASE
)
_NOTHING_ASKED = re.compile(
    r"^\W*(?:(?:and|but|so|then)\s+)?(?:why(?:\s+not)?|when|where|who|which|what|how"
    r"(?:\s+(?:much|many|long|often|soon|far|old|come|so|exactly))?|since\s+when"
    r"|until\s+when|what\s+(?:else|then|next|now)|which\s+ones?|really|are\s+you\s+sure"
    r"|in\s+what\s+way|for\s+example|such\s+as|(?:please\s+)?(?:go\s+on|explain"
    r"|continue|elaborate|tell\s+me\s+more|more(?:\s+details?)?|details?)"
    r"|any\s*(?:thing|one|body)\s+else)(?:\s+(?:exactly|please|again|that|this))*\W*$",
    re.IGNORECASE,
)
# "And to resolve them?" replaces a part of the question before; which, is not certain.
_INFINITIVE = re.compile(
    rf"^\W*(?:(?:and|but|or|so)\b[\s,]*)?to\s+(?!(?:{AUX}|{DETERMINER})\b)"
    rf"(?-i:[a-z]+)\b(?!(?s:.*)(?:,|\b(?:{AUX}|who|what|which|when|where|how)\b))",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?P<they>they|them|their|theirs|themselves)\b"
    r"|\b(?P<he>he|him|his|himself|she|her|hers|herself)\b|\b(?P<it>it|its|itself)\b",
    re.IGNORECASE,
)
_POSSESSIVE = {"its", "their", "his", "her"}
# "How many of its shares did Acme buy?": the owner follows the verb.
_OWNER_FOLLOWS = re.compile(rf"[^,;?]*?\b(?:{AUX})\s+(?:the\s+)?[A-Z]\w")
_ASKED_NOUN = re.compile(
    rf"\W*(?:how\s+(?:many|much)|what|which)\b(?!.*\b(?:{AUX})\b)", re.IGNORECASE
)
# "Is it allowed to", "does it rain", "how long does it take": "it" has no referent.
_EXPLETIVE = re.compile(
    rf"\b(?:{AUX})\s+it\s+(?:\w+\s+){{1,3}}(?:to|that|if|for)\b"
    r"|\bit\s+(?:rains?|snows?|takes?|matters?|follows?)\b"
    rf"|\bit\s+(?:is|was)\s+(?:\w+\s+){{1,2}}(?:to|that|if|for)\b",
    re.IGNORECASE,
)
_INDEFINITE = re.compile(
    r"\b(?:an?|any|every|each|no|some|all|both|either|neither|whoever"
    r"|(?:any|every|some|no)(?:one|body|thing))\b"
    r"|\S,\s",  # "If the card is lost, is it replaced?"
    re.IGNORECASE,
)
_WHO = re.compile(r"\bwho\b", re.IGNORECASE)
_BARE_PLURAL = re.compile(rf"^\W*(?:\w+\s+)?(?:{AUX})\s+\w+[^su\W]s\b", re.IGNORECASE)
_DEMONSTRATIVE = re.compile(
    rf"(?:^\W*|\b(?:{AUX}|{PREP}|and|or)\s+)(?P<that>that|this|these|those)\b"
    r"|\b(?P<this>this|these|those)\b",
    re.IGNORECASE,
)
_NOT_BACK = re.compile(
    r"\s+(?:who|which|that|with|of|year|month|week|day|morning|time|season|document"
    r"|text|handbook|file|page|collection)\b",
    re.IGNORECASE,
)
_BEFORE_NOUN = re.compile(
    rf"(?:\b(?:{PREP})|^\W*(?:what|who)(?:['\u2019]s|\s+(?:is|are)))\s+$",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\bthe\s+(?:former|latter|same|others?|rest|above|first|second|third|last|next)"
    r"\s*(?:ones?)?\s*(?=\W*$|\b(?:one|ones)\b)|\b(?:which|that|this|another|the)\s+ones?\b"
    rf"|\bdo(?:es)?\s+so\b|\b(?:{AUX})\s+(?:both|such)\b|\bin\s+that\s+case\b"
    # "Is mine valid?": of the speaker, of whom no document speaks.
    rf"|\b(?:{AUX}|{PREP})\s+(?:mine|ours|yours)\b"
    rf"|^\W*(?:(?:and|but|or|so)\s+)?(?:{PREP})\s+those\s+(?:who|which|that)\b"
    r"|\b(?:otherwise|instead|else|too|likewise)\W*$|\bthere(?:of|in|by|after)\b"
    r"|(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )\bthere\W*$",
    re.IGNORECASE,
)
_BARE_NOUN = (
    re.compile(
        rf"^\W*(?:(?:and|but|so)\s+)?(?:what|who|when|where|how\s+\w+)"
        rf"(?:['\u2019]s|\s+(?:is|are|was|were))\s+(?P<whole>the\s+(?P<noun>{NOUNS}))\W*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^\W*(?:is|are|were)\s+there\s+(?P<whole>(?:any\s+|an?\s+)?(?P<noun>{NOUNS}))\W*$",
        re.IGNORECASE,
    ),
    re.compile(rf"^\W*(?P<whole>any\s+(?P<noun>{NOUNS}))\W*$", re.IGNORECASE),
    re.compile(rf"^\W*(?P<whole>the\s+(?P<noun>{NOUNS}))\W*$", re.IGNORECASE),
)

# "How long is the map kept?": what is asked of the noun follows it, and nothing is
# missing. After "what is the", a last word such as "payable" may still be of a noun.
_ASKED_OF = re.compile(r"^\W*(?:(?:and|but|so)\s+)?(?:how|when|where)\b", re.IGNORECASE)
_PARTICIPLE = re.compile(
    r"[a-z]{2,}(?<!e)(?<!e)ed|[a-z]{3,}(?:able|ible)|[a-z-]{3,}(?:ful|less|ous)"
)
_NOUNS_LIKE_PARTICIPLES = frozenset(
    words(
        "bed shed sled table cable variable vegetable timetable stable syllable "
        "constable crucible receivable mouthful handful spoonful armful"
    )
)
_ADJECTIVES = frozenset(
    words(
        "open closed shut due free full empty complete ready valid void active final "
        "legal binding effective available necessary live online offline absent"
    )
)
_PARTICIPLES = frozenset(IRREGULAR) - frozenset(
    words(
        "found saw left felt led lay bore lent meant wound ground lost fed rose came "
        "began did went gave took wrote drove ran sang sank drank fell flew froze grew"
    )
)


class Pointer(StrEnum):
    """How a question depends on earlier turns."""

    NONE = "none"
    PRONOUN = "pronoun"
    DEMONSTRATIVE = "demonstrative"
    BARE_NOUN = "bare_noun"
    FRAGMENT = "fragment"


@dataclass(frozen=True)
class Dependence:
    """The referring words of a question.

    Attributes:
        kind: The kind of reference.
        words: As they are written, such as "its"; the whole question for a fragment.
        start: Their start in the question.
        end: Their end.
        plural: Whether they refer to several things.
        possessive: Whether a noun that they own follows.
        personal: Whether they refer to one person: "he", "her".
        noun: The noun of a demonstrative or a bare noun.
        elliptic: Whether a bare noun is the whole question: "And the fee?"
        rival: Whether the question names a thing before them that may own the noun.
    """

    kind: Pointer
    words: str = ""
    start: int = 0
    end: int = 0
    plural: bool = False
    possessive: bool = False
    personal: bool = False
    noun: str = ""
    elliptic: bool = False
    rival: bool = False


INDEPENDENT = Dependence(Pointer.NONE)


def find_dependence(question: str) -> Dependence:
    """Find the referring words of a question.

    Args:
        question: The question as written.

    Returns:
        The first such words; `INDEPENDENT` if the question is complete.
    """
    if _NOTHING_ASKED.match(question) or _INFINITIVE.match(question):
        return _fragment(question)
    for find in (_find_pronoun, _find_demonstrative, _find_other, _find_bare_noun):
        dependence = find(question)
        if dependence.kind is not Pointer.NONE:
            return dependence
    if _ABOUT.match(question) or _AND.match(question):
        return _fragment(question)
    return INDEPENDENT


def put_referent(question: str, dependence: Dependence, referent: str) -> str:
    """Return the question with the referent in place of the referring words.

    Args:
        question: The question.
        dependence: Its referring words.
        referent: The referent, such as "the reading room".

    Returns:
        A complete question.
    """
    before, after = question[: dependence.start], question[dependence.end :]
    if dependence.kind is Pointer.BARE_NOUN:
        noun = dependence.words
        return _as_question(f"{before}{noun} of {referent}{after}")
    if dependence.possessive:
        owned = re.fullmatch(rf"\s+({NOUNS})\W*", after)
        if owned:
            return _as_question(f"{before}the {owned[1]} of {referent}?")
        return f"{before}{referent}'s{after}"
    return _as_question(f"{before}{referent}{after}")


def ends_in_predicate(question: str, noun_phrase: str) -> bool:
    """Return whether a noun phrase ends with what is asked of its noun.

    "How long is the map kept", "when is the fee due"; a participle is no noun, and one
    before a noun ("the lost card") is not the last word.

    Args:
        question: The question that it ends.
        noun_phrase: Its last words, without an article.
    """
    *noun, last = words(noun_phrase.lower())
    if not noun or not _ASKED_OF.match(question):
        return False
    if last in _ADJECTIVES or last in _PARTICIPLES:
        return True
    plain = last in _NOUNS_LIKE_PARTICIPLES or last.endswith("eed")
    return not plain and _PARTICIPLE.fullmatch(last) is not None


def _fragment(question: str) -> Dependence:
    text = question.strip()
    return Dependence(Pointer.FRAGMENT, text.rstrip("?!. "), 0, len(question))


def _find_pronoun(question: str) -> Dependence:
    for match in _PRONOUN.finditer(question):
        word = match[0].lower()
        expletive = (m.span() for m in _EXPLETIVE.finditer(question))
        if any(start <= match.start() < end for start, end in expletive):
            continue
        before, after = question[: match.start()], question[match.end() :]
        owns = word in _POSSESSIVE and re.match(r"\s+\w", after)
        if _has_antecedent(before, is_it=bool(match["it"])) or (
            owns and _ASKED_NOUN.match(before) and _OWNER_FOLLOWS.match(after)
        ):
            continue
        return Dependence(
            Pointer.PRONOUN,
            match[0],
            match.start(),
            match.end(),
            plural=bool(match["they"]),
            possessive=bool(owns),
            personal=bool(match["he"]),
            rival=len(telling_words(before)) > 1,
        )
    return INDEPENDENT


def _has_antecedent(before: str, *, is_it: bool) -> bool:
    """Return whether a question has the antecedent of its pronoun.

    "May a member bring her guests?", "Who may renew their card?"
    """
    if _INDEFINITE.search(before):
        return True
    return not is_it and bool(_WHO.search(before) or _BARE_PLURAL.match(before))


def _find_demonstrative(question: str) -> Dependence:
    for match in _DEMONSTRATIVE.finditer(question):
        name = "that" if match["that"] else "this"
        start, end = match.span(name)
        rest = question[end:]
        if _NOT_BACK.match(rest):
            continue
        noun = re.match(rf"\s+({STOPS}{WORD})(?=(.*))", rest)
        # "Is that allowed?", "What does this mean?": no noun, but an adjective or verb.
        alone = (
            noun and not words(noun[2]) and not _BEFORE_NOUN.search(question[:start])
        )
        if not noun or alone or noun[1].lower() in STOP_WORDS:
            return Dependence(Pointer.FRAGMENT, match[name], start, end)
        return Dependence(
            Pointer.DEMONSTRATIVE,
            question[start : end + noun.end(1)],
            start,
            end + noun.end(1),
            plural=match[name].lower() in {"these", "those"},
            noun=noun[1],
        )
    return INDEPENDENT


def _find_other(question: str) -> Dependence:
    match = _OTHER.search(question)
    if not match:
        return INDEPENDENT
    return Dependence(Pointer.FRAGMENT, match[0].strip(" ?!."), *match.span())


def _find_bare_noun(question: str) -> Dependence:
    begin = _LEAD.match(question)
    offset = begin.end() if begin else 0
    for text, shift in ((question, 0), (question[offset:], offset)):
        for pattern in _BARE_NOUN:
            match = pattern.match(text)
            if match and ends_in_predicate(text, match["noun"]):
                continue
            if match and match["noun"] == match["noun"].lower():
                start, end = match.span("whole")
                return Dependence(
                    Pointer.BARE_NOUN,
                    match["whole"],
                    start + shift,
                    end + shift,
                    plural=is_plural(match["noun"]),
                    noun=match["noun"],
                    elliptic=not text[:start].strip(),
                )
    return INDEPENDENT


def _as_question(text: str) -> str:
    """A question in full of "What about the X?", "any X?" and the like."""
    lead = _LEAD.match(text)
    rest = text[lead.end() :] if lead and lead.end() else text
    rest = re.sub(r"^any\s+", "the ", rest, flags=re.IGNORECASE)
    if re.match(r"the\s", rest, re.IGNORECASE):
        noun = re.match(r"the\s+(.+?)(?:\s+of\b|\W*$)", rest, re.IGNORECASE)
        verb = "are" if noun and is_plural(noun[1]) else "is"
        return f"What {verb} {rest.strip(' ?!.')}?"
    return rest[:1].upper() + rest[1:] if rest else text
