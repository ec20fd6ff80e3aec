"""References of a question to the previous turn, and their possible referents.

English rules that prefer no referent to a wrong one: a question whose words may refer
to two things, or to one that the previous question does not name, is unclear. No list
contains vocabulary of a particular field.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from elt_llm_core.language.languages import ENGLISH, LANGUAGES
from elt_llm_core.language.stop_words import stop_words
from elt_llm_query.analysis.lexicon import (
    AUXILIARIES,
    COMMON,
    DAYS,
    DETERMINERS,
    INTERROGATIVES,
    MONTHS,
    QUESTION_WORDS,
    STOP_WORDS,
    TELLING,
    TIME_UNITS,
)
from elt_llm_query.analysis.stems import stem, words

PREPOSITIONS = (
    "of for in at on by with from under to between when if about after before during "
    "without against over into than while as because per within until unless since"
)
_AUX = "|".join(sorted(AUXILIARIES))
# "Compare the fees of boats and rafts": these ask without a question word.
_IMPERATIVES = TELLING | frozenset(
    ["give", "compare", "summarise", "summarize", "describe", "explain", "list", "show"]
)
_ASKING = (
    AUXILIARIES | INTERROGATIVES | QUESTION_WORDS | _IMPERATIVES | frozenset(["won't"])
)
_NOT_ENGLISH = re.compile(r"[^\W\d_a-zA-Z]")  # a letter with an accent, another script
_PREP = PREPOSITIONS.replace(" ", "|")
_WORD = r"[^\W_][\w'\u2019-]*"
_DETERMINER = rf"(?:{'|'.join(sorted(DETERMINERS))})"
# "The income of Acme last year", "of Acme today"
_TIME = (
    rf"(?:last|next)\s+(?:{'|'.join(sorted(TIME_UNITS | DAYS | MONTHS))})"
    r"|today|yesterday|tomorrow|now|currently"
)
# A run of one to four words none of which ends a noun phrase.
_STOPS = (
    rf"(?!(?:{_PREP}|{_AUX}|and|or|that|which|who|{_DETERMINER}|it|its|they"
    rf"|{_TIME})\b)"
)
_NOUNS = rf"(?:{_STOPS}{_WORD}\s+){{0,3}}?{_STOPS}{_WORD}"
_LEAD = re.compile(
    r"^\W*(?:(?:and|but|so|ok|okay|then|also)\b[\s,]*)?(?:(?:what|how)\s+about\b\s*)?",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^\W*(?:(?:and|but|so)\b[\s,]*)?(?:what|how)\s+about\b", re.IGNORECASE
)
_AND = re.compile(rf"^\W*(?:and|but|or|so)\b[\s,]+(?!.*\b(?:{_AUX})\b)", re.IGNORECASE)
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
    rf"^\W*(?:(?:and|but|or|so)\b[\s,]*)?to\s+(?!(?:{_AUX}|{_DETERMINER})\b)"
    rf"(?-i:[a-z]+)\b(?!(?s:.*)(?:,|\b(?:{_AUX}|who|what|which|when|where|how)\b))",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?P<they>they|them|their|theirs|themselves)\b"
    r"|\b(?P<he>he|him|his|himself|she|her|hers|herself)\b|\b(?P<it>it|its|itself)\b",
    re.IGNORECASE,
)
_POSSESSIVE = {"its", "their", "his", "her"}
# "How many of its shares did Acme buy?": the owner follows the verb.
_OWNER_FOLLOWS = re.compile(rf"[^,;?]*?\b(?:{_AUX})\s+(?:the\s+)?[A-Z]\w")
_ASKED_NOUN = re.compile(
    rf"\W*(?:how\s+(?:many|much)|what|which)\b(?!.*\b(?:{_AUX})\b)", re.IGNORECASE
)
# "Is it allowed to", "does it rain", "how long does it take": "it" has no referent.
_EXPLETIVE = re.compile(
    rf"\b(?:{_AUX})\s+it\s+(?:\w+\s+){{1,3}}(?:to|that|if|for)\b"
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
_BARE_PLURAL = re.compile(rf"^\W*(?:\w+\s+)?(?:{_AUX})\s+\w+[^su\W]s\b", re.IGNORECASE)
_DEMONSTRATIVE = re.compile(
    rf"(?:^\W*|\b(?:{_AUX}|{_PREP}|and|or)\s+)(?P<that>that|this|these|those)\b"
    r"|\b(?P<this>this|these|those)\b",
    re.IGNORECASE,
)
_NOT_BACK = re.compile(
    r"\s+(?:who|which|that|with|of|year|month|week|day|morning|time|season|document"
    r"|text|handbook|file|page|collection)\b",
    re.IGNORECASE,
)
_BEFORE_NOUN = re.compile(
    rf"(?:\b(?:{_PREP})|^\W*(?:what|who)(?:['\u2019]s|\s+(?:is|are)))\s+$",
    re.IGNORECASE,
)
# "Who decides?", "When do I pay?": a verb without an object. "Who is eligible?" and
# "Who is Ada?" lack nothing, nor does what one may do: "When can I vote?".
_ONLY_VERB = re.compile(
    rf"^\W*(?:(?:and|but|so|or|then)\b[\s,]*)*(?:"
    r"who(?!\s+(?:is|are|was|were)\s+\w+(?<!ed)(?<!ing)\W*$)"
    rf"(?:\s+(?:{_AUX}))?(?:\s+to)?|(?:how|when|where|why)\s+(?!(?:can|could|may)\b)"
    rf"(?:{_AUX})\s+(?:i|we|you|one))\s+(?!(?:is|are|was|were)\b)(?-i:[a-z]+)\W*$",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\bthe\s+(?:former|latter|same|others?|rest|above|first|second|third|last|next)"
    r"\s*(?:ones?)?\s*(?=\W*$|\b(?:one|ones)\b)|\b(?:which|that|this|another|the)\s+ones?\b"
    rf"|\bdo(?:es)?\s+so\b|\b(?:{_AUX})\s+(?:both|such)\b|\bin\s+that\s+case\b"
    # "Is mine valid?": of the speaker, of whom no document speaks.
    rf"|\b(?:{_AUX}|{_PREP})\s+(?:mine|ours|yours)\b"
    rf"|^\W*(?:(?:and|but|or|so)\s+)?(?:{_PREP})\s+those\s+(?:who|which|that)\b"
    r"|\b(?:otherwise|instead|else|too|likewise)\W*$|\bthere(?:of|in|by|after)\b"
    r"|(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )\bthere\W*$",
    re.IGNORECASE,
)
_BARE_NOUN = (
    re.compile(
        rf"^\W*(?:(?:and|but|so)\s+)?(?:what|who|when|where|how\s+\w+)"
        rf"(?:['\u2019]s|\s+(?:is|are|was|were))\s+(?P<whole>the\s+(?P<noun>{_NOUNS}))\W*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^\W*(?:is|are|were)\s+there\s+(?P<whole>(?:any\s+|an?\s+)?(?P<noun>{_NOUNS}))\W*$",
        re.IGNORECASE,
    ),
    re.compile(rf"^\W*(?P<whole>any\s+(?P<noun>{_NOUNS}))\W*$", re.IGNORECASE),
    re.compile(rf"^\W*(?P<whole>the\s+(?P<noun>{_NOUNS}))\W*$", re.IGNORECASE),
)
_NAME = re.compile(
    r"\b[A-Z][\w'\u2019-]*(?:\s+(?:of\s+(?:the\s+)?)?[A-Z][\w'\u2019-]*)*"
)
_IDENTIFIER = re.compile(r"\b(?=\w*\d)(?=[\w-]*[A-Za-z])[\w-]{3,}\b")
_OF = re.compile(
    rf"\bthe\s+(?P<noun>{_NOUNS})\s+(?:of|for)\s+(?P<of>(?:{_DETERMINER}\s+)?{_NOUNS})"
    rf"(?=\W*$|\s+(?:{_PREP}|{_AUX}|{_TIME})\b)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    rf"^\W*(?:(?:what|how|when|why|where|how\s+\w+|what\s+\w+|which\s+\w+)\s+)?"
    rf"(?:{_AUX})\s+(?P<noun>(?:{_DETERMINER}\s+)?{_NOUNS})\s+(?:be\s+)?{_STOPS}{_WORD}"
    rf"(?:\s+(?:{_PREP})(?:\s+{_STOPS}{_WORD}){{0,3}})?\W*$",
    re.IGNORECASE,
)
# "submit a notice", "bring the map": the object follows the verb.
_OBJECT = re.compile(
    rf"\b{_STOPS}(?!(?:how|what|which|who|whom|whose|when|where|why)\b)[a-z]+\s+"
    rf"(?P<noun>(?:an?|the)\s+{_NOUNS})(?=\W*$|\s+(?:{_PREP}|{_AUX})\b)",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(
    rf"^\W*(?:what|who)(?:['\u2019]s|\s+(?:is|are|was|were))\s+"
    rf"(?P<noun>(?:{_DETERMINER}\s+)?{_NOUNS})\W*$",
    re.IGNORECASE,
)
# The answer to these is an unnamed thing, to which the next question may refer.
_NAMES_NOTHING = re.compile(r"^\W*(?:who|whom|whose|which)\b", re.IGNORECASE)
_PLURAL = re.compile(r"(?:[^su\W]s|[^\W]ies|people|children|men|women)$", re.IGNORECASE)
_NEXT_PART = re.compile(
    rf"(?:[\s,;]+and|\?|;)\s+(?:also\s+)?(?=(?:(?:{_PREP})\s+)?"
    r"(?:what|how|when|where|who|whom|which|why)\b)",
    re.IGNORECASE,
)
# "Is oak heavy, and does it split?": after a question for yes or no, a verb before its
# subject begins another one.
_NEXT_POLAR = re.compile(
    rf"[\s,;]+and\s+(?:also\s+)?(?=(?:{_AUX})\s+(?!not\b)\w+\s+\w)", re.IGNORECASE
)
_POLAR = re.compile(rf"^\W*(?:{_AUX})\b", re.IGNORECASE)
_AND_WORD = re.compile(r"^[\s,;?]*(?:and\s+)?(?:also\s+)?", re.IGNORECASE)
_JOINING = re.compile(
    r"^\W*(?:(?:and|but|so|also|then|ok|okay)\b[\s,]*)+", re.IGNORECASE
)
_ARTICLE = re.compile(rf"^(?:{_DETERMINER})\s+", re.IGNORECASE)


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


@dataclass(frozen=True)
class NamedThing:
    """A thing that a question names and a later one may refer to.

    `owner` is what a noun belongs to: "metal" of "the weight of the metal".
    """

    text: str
    plural: bool
    owner: str = ""

    @property
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return stems_of(self.text)


INDEPENDENT = Dependence(Pointer.NONE)


def stems_of(text: str) -> frozenset[str]:
    """The stems of the content words of a text."""
    return frozenset(stem(w) for w in words(text.lower()) if w not in STOP_WORDS)


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


def asks(message: str) -> bool:
    """Return whether a message has an English verb or other word of questions."""
    written = words(message.lower().replace("\u2019", "'"))
    # "what's", "can't", "don't"
    parts = [p for w in written for p in (*w.split("'"), w.removesuffix("n't"))]
    return bool(_ASKING & {*written, *parts})


def names_nothing(message: str) -> bool:
    """Return whether a question names no thing: "How many are there?", "Who decides?".

    Alone it is complete; after another question it is about what was spoken of.

    Args:
        message: The question.
    """
    telling = _telling(message)
    verbal = _ONLY_VERB.match(message)
    return asks(message) and (not telling or (len(telling) == 1 and verbal is not None))


def may_be_foreign(message: str) -> bool:
    """Return whether a message has words or letters of another language than English.

    Whether it has a verb is then unknown.
    """
    if _NOT_ENGLISH.search(message):
        return True
    return bool(_foreign_stop_words() & {*words(message.lower())})


@cache
def _foreign_stop_words() -> frozenset[str]:
    lists = (stop_words(code) for code in LANGUAGES if code != ENGLISH)
    foreign = frozenset().union(*lists) - STOP_WORDS
    return frozenset(word for word in foreign if len(word) > 1)  # "class C"


def without_lead(question: str) -> str:
    """Return a question without a leading "And" or "But"."""
    lead = _JOINING.match(question)
    rest = question[lead.end() :] if lead else question
    return f"{rest[:1].upper()}{rest[1:]}" if lead and rest else question


def telling_stems(question: str) -> frozenset[str]:
    """Return the stems of the content words of a question."""
    return frozenset(map(stem, _telling(question)))


def names_a_thing(question: str, titles: Sequence[str]) -> bool:
    """Return whether a question contains a name, or words of one of the titles."""
    return bool(_names(question) or _title_runs(question, titles))


def split_parts(question: str) -> tuple[str, ...]:
    """Split a question with two parts, each with its own question word or verb.

    Args:
        question: The question.

    Returns:
        Its parts, each as a question; the question itself if it has one part.
    """
    joints = list(_NEXT_PART.finditer(question))
    if _POLAR.match(question):
        joints += _NEXT_POLAR.finditer(question)
    cuts = sorted({match.start() for match in joints})
    cuts = [cut for cut in cuts if _telling(question[:cut])][:2]
    if not cuts:
        return (question,)
    edges = zip([0, *cuts], [*cuts, len(question)], strict=True)
    parts = [
        _AND_WORD.sub("", question[start:end]).strip(" ,;?") for start, end in edges
    ]
    return tuple(f"{part[:1].upper()}{part[1:]}?" for part in parts)


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
    if _NAMES_NOTHING.match(question):
        return ()
    owned = _OF.search(question)
    phrases = [*_names(question), *_title_runs(question, titles)]
    phrases += [owned["of"]] if owned else []
    for pattern in (_WHAT_IS, _SUBJECT):
        match = pattern.match(question)
        if match and not owned:
            phrases.append(match["noun"])
            break
    candidates = [NamedThing(_bare(p), _is_plural(p)) for p in phrases]
    whole = _without_parts([c for c in candidates if c.stems])
    if owned:
        noun = owned["noun"]
        whole.append(NamedThing(f"{noun} of {owned['of']}", _is_plural(noun), noun))
    return tuple(whole)


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
        _is_plural(noun) == dependence.plural and not stems_of(noun) <= referent.stems
        for noun in objects
    )


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
    fitting = [c for c in candidates if c.plural == dependence.plural]
    if dependence.kind is Pointer.BARE_NOUN or dependence.possessive:
        # "What is the dose of X? And its colour?": a dose has none of its own.
        fitting = [c for c in fitting if not c.owner]
    if dependence.kind is Pointer.BARE_NOUN:
        fitting = [c for c in candidates if not c.owner]
    if dependence.possessive and dependence.rival:
        return None
    return fitting[0] if len(fitting) == 1 else None


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
        owned = re.fullmatch(rf"\s+({_NOUNS})\W*", after)
        if owned:
            return _as_question(f"{before}the {owned[1]} of {referent}?")
        return f"{before}{referent}'s{after}"
    return _as_question(f"{before}{referent}{after}")


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
            rival=len(_telling(before)) > 1,
        )
    return INDEPENDENT


def _telling(text: str) -> list[str]:
    """The words of a text that are neither stop words nor those of questions."""
    known = STOP_WORDS | QUESTION_WORDS
    return [w for w in words(text.lower()) if w not in known]


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
        noun = re.match(rf"\s+({_STOPS}{_WORD})(?=(.*))", rest)
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
            if match and match["noun"] == match["noun"].lower():
                start, end = match.span("whole")
                return Dependence(
                    Pointer.BARE_NOUN,
                    match["whole"],
                    start + shift,
                    end + shift,
                    plural=_is_plural(match["noun"]),
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
        verb = "are" if noun and _is_plural(noun[1]) else "is"
        return f"What {verb} {rest.strip(' ?!.')}?"
    return rest[:1].upper() + rest[1:] if rest else text


def _names(question: str) -> list[str]:
    """Capitalised words but the first, and words with digits and letters."""
    capitals = [w for w in words(question) if w[:1].isupper()]
    shouted = len(capitals) > 0.6 * len(words(question))
    names = [] if shouted else [m[0] for m in _NAME.finditer(question)]
    names = [re.sub(r"['\u2019]s$", "", n) for n in names]
    plain = [n for n in names if not _is_form(n) and not question.startswith(n)]
    return [*plain, *(m[0] for m in _IDENTIFIER.finditer(question))]


def _title_runs(question: str, titles: Sequence[str]) -> list[str]:
    """The longest runs of words of a question that a title has too."""
    known = {
        stem(w) for title in titles for w in words(title.lower().replace("_", " "))
    }
    runs: list[list[str]] = [[]]
    for match in re.finditer(_WORD, question):
        word = match[0].lower()
        telling = word not in STOP_WORDS and word not in QUESTION_WORDS
        if telling and word not in COMMON and stem(word) in known:
            runs[-1].append(match[0])
        elif runs[-1]:
            runs.append([])
    return [" ".join(run) for run in runs if run]


def _is_form(name: str) -> bool:
    return all(w.lower() in STOP_WORDS | QUESTION_WORDS for w in name.split())


def _bare(phrase: str) -> str:
    """A noun phrase as it is named again: "a card" is "the card"."""
    article = _ARTICLE.match(phrase)
    rest = phrase[article.end() :] if article else phrase
    return f"the {rest}" if article else rest


def _is_plural(phrase: str) -> bool:
    return bool(_PLURAL.search(phrase.strip()))


def _without_parts(candidates: Sequence[NamedThing]) -> list[NamedThing]:
    """Those that are not a part of another one, each once."""
    whole: list[NamedThing] = []
    for one in sorted(candidates, key=lambda c: (-len(c.stems), -len(c.text))):
        if not any(one.stems <= other.stems for other in whole):
            whole.append(one)
    return whole
