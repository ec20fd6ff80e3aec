"""Check whether quotes say what a follow-up asks, beside being about its subject.

After "How long is the licence valid?" the sentence "The licence is valid for two years"
is about the subject of "Why?", "By whom?" and "Where is it kept?" too, and of all
sentences it has most of their words. It answers none of them.
"""

import re
from collections.abc import Collection

from elt_llm_core.document import BlockKind
from elt_llm_query.analysis.lexicon import (
    AUXILIARIES,
    DAYS,
    DETERMINERS,
    MONTHS,
    STOP_WORDS,
    TIME_UNITS,
)
from elt_llm_query.analysis.noun_phrases import (
    AUX,
    NOUNS,
    PREP,
    PREPOSITIONS,
    WORD,
    stems_of,
    telling_stems,
)
from elt_llm_query.analysis.question import Form, analyse
from elt_llm_query.analysis.question_phrase import asks_for_agent, asks_for_reason
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.stems import stem, words
from elt_llm_query.analysis.term_match import bounds, match
from elt_llm_query.synthesizers.extractive.form_fit import form_fit

# Phrases beside a reason or purpose, or "To comply with Rule 3, a member must", ", as
# the use may alter"; not "as set out in", "events causing the loss".
_REASON = re.compile(
    r"\b(?:because|due\s+to|so\s+(?:that|as\s+to|it|they)|in\s+order\s+(?:to|that)"
    r"|therefore|thus|hence|the\s+reasons?|driven\s+by"
    r"|(?:owing|thanks|attributable)\s+to|(?:for|with)\s+(?:the|a)\s+(?:purpose|view|aim)"
    r"\s+(?:of|to)|for\s+(?:[\w-]+\s+){0,4}?(?:purpose|reason)s?|purpose\s+of|given\s+that"
    r"|in\s+view\s+of|caused\s+by|(?:led|leads?)\s+to|result(?:s|ed|ing)?\s+(?:of|from|in)"
    r"|to\s+(?:ensure|avoid|prevent|allow|enable|protect|reduce|minimi[sz]e))\b"
    rf"|\bsince\s+(?!\d|then\b|(?:{'|'.join(sorted(MONTHS))})\b)"
    r"|,\s+(?:as\s+(?:it|they|he|she|we|this|these|such|the|there|its|their)\b"
    r"|for\s+(?!an?\b|the\b|example\b|instance\b|each\b|which\b|\d)\w)"
    r"|(?:^|[.;:|)]\s+)(?-i:To)\s+[a-z]+\b",
    re.IGNORECASE,
)
# "by the Board", "by two members"; not "by 3 May", "by 12 %", "by filing", "by way of".
_AGENT = re.compile(
    r"\bby\s+(?!(?:the\s+)?(?:end|date|time|way|means|virtue|reason|case|far|then|law)\b"
    r"|\d|\w+ing\b|(?:less|more|up|about|at|no)\b)\w",
    re.IGNORECASE,
)
# Before a verb with a subject stands none of these: "on renewal of", "was issued".
_NO_SUBJECT = (
    DETERMINERS
    | {*PREPOSITIONS.split()}
    | {*words("is are was were be been being and or this that these those its their")}
)
_NOTHING = re.compile(r"\b(?:nothing|free|none|no\s+charge)\b", re.IGNORECASE)
# None of these is between a number and the noun that it counts: "10 for greenhouses".
_ENDS_PHRASE = (
    {*PREPOSITIONS.split()} - {"of"} | AUXILIARIES | {"and", "or", "a", "an", "per"}
)
_BE = {"is", "are", "may", "must"}
_EACH = {"per", "for", "in", "at", "a", "each", "on"}
# Chunks from which numbers are computed.
COMPUTED = frozenset(
    kind.value
    for kind in (BlockKind.TABLE_ROW, BlockKind.FACT_SHEET, BlockKind.RELATIONSHIP)
)
_HOW_BEGINS = re.compile(
    r"\W*how\s+(often|long|far|soon|old|high|tall|deep|wide|heavy)\b", re.IGNORECASE
)
_MEANING = re.compile(r"\b(?:means?|stands?\s+for|refers?\s+to)\W*$", re.IGNORECASE)
# A sentence "A card is ..." may define it or say anything else of it; it is graded so.
VAGUE = 0.5
_SENTENCE = re.compile(r"[.;:|\n]")
_SENTENCE_END = re.compile(r"[.;|\n](?=\s|$)")
_GOES_ON = re.compile(r"\W*(?:it|its|they|their)\b", re.IGNORECASE)
_STRETCH = re.compile(r"[,;:](?=\s)")  # not that of "2,000" or "8:30"
_HOW = re.compile(r"\bhow\s+(\w+)", re.IGNORECASE)
# "How long" also asks for a time, "how big" for any dimension.
_DIMENSIONS = tuple(
    frozenset(ring.split())
    for ring in (
        "deep depth deeper",
        "high height tall higher lower taller",
        "wide width broad breadth wider",
        "thick thickness thicker",
        "heavy weight weigh weighs heavier",
    )
)
_HOW_LONG = re.compile(r"\bhow\s+long\b", re.IGNORECASE)
# A time, a date, a length or a word of time; "2 florins" does not say how long.
_LASTS = re.compile(
    rf"\b(?:{'|'.join(sorted(TIME_UNITS | DAYS | MONTHS))})\b|\bmay\b"
    r"|\b(?:until|till|once|terms?|semesters?|seasons?|decades?|centur(?:y|ies)|life"
    r"|lifetime|permanent(?:ly)?|indefinite(?:ly)?|unlimited|always|forever|long|longer"
    r"|length|metres?|meters?|kilometres?|miles?|feet|inch(?:es)?|yards?|pages?|words?"
    r"|characters?)\b"
    r"|\d\s*(?:[cmk]?m|min|s|h|hrs?|yrs?)\b|\d[:/.]\d|\b\d{4}\b|\d(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
_SHORT_STRETCH = re.compile(r"[,;:](?=\s)|\s(?:and|but|or)\s")
_FORMS = frozenset([Form.NUMBER, Form.TIME])
# "How many rowing boats are there?": all words up to the verb, or else the first one.
_HOW_MANY = re.compile(
    rf"\bhow\s+many\s+(?P<noun>{NOUNS}(?=\W*$|\s+(?:{AUX}|{PREP})\b)|{WORD})",
    re.IGNORECASE,
)
# Words between a number and its noun: "five very old locks".
BETWEEN = 2
# "£6 a night" is a price, no period of a night.
_RATE = re.compile(
    r"[$\u00a3\u20ac\u00a5]\s?\d[\d.,]*\s+(?:an?|per|each|every)\s+\w+|"
    r"\b\d[\d.,]*\s+(?:euros?|dollars?|pounds?|cents?|pence)\s+"
    r"(?:an?|per|each|every)\s+\w+",
    re.IGNORECASE,
)
_PRICE = re.compile(
    r"\b(?:how\s+much|how\s+many|cost|costs|price|fee|pay)\b", re.IGNORECASE
)


def tells_asked(question: str, quoted: str) -> bool:
    """Return whether a text has what the question phrase of a question asks for.

    Args:
        question: A complete question, such as "By whom is the card issued?".
        quoted: The quotes of its answer.

    Returns:
        False for "why" without a reason, "by whom" without an agent or a new subject,
        a meaning without a definition, and a number, period or time that is asked for
        and missing. True for all other questions.
    """
    if asks_for_reason(question):
        return bool(_REASON.search(quoted))
    if asks_for_agent(question):
        return bool(_AGENT.search(quoted)) or _names_actor(question, quoted)
    quoted = _without_rates(question, quoted)
    no_length = _HOW_LONG.search(question) and not _LASTS.search(quoted)
    if no_length or not tells_dimension(question, quoted):
        return False
    analysis = analyse(question)
    if _MEANING.search(question.rstrip("?!. ")):
        is_defined = analysis.form is Form.DEFINITION
        return is_defined and form_fit(analysis, quoted) > VAGUE
    return analysis.form not in _FORMS or form_fit(analysis, quoted) > 0


def _names_actor(question: str, quoted: str) -> bool:
    """Return whether a text says in the active voice who does what is asked for.

    "By whom is the card issued?" is answered by "The Board issues the card.": its verb
    precedes the thing, after a subject that the question lacks.
    """
    order = [stem(w) for w in words(question.lower()) if w not in STOP_WORDS]
    for sentence in _SENTENCE.split(quoted):
        several = words(sentence.lower())
        stems = [stem(word) for word in several]
        for at in range(1, len(several) - 1):
            before, verb, after = several[at - 1 : at + 2]
            if stems[at] not in order or before in _NO_SUBJECT:
                continue
            things = {*order[: order.index(stems[at])]} & {*stems[at + 1 :]}
            is_verb = after in DETERMINERS or verb.endswith("s")
            is_new = bool(stems_of(" ".join(several[:at])) - {*order})
            if things and is_verb and is_new:
                return True
    return False


def tells_any(question: str, own: Collection[str], quoted: str) -> bool:
    """Return whether a text has one of the words that only a message brings.

    "Where is the card kept?" is not answered by who issues the card. A number, time or
    person is an answer in other words, so that only open questions need one.

    Args:
        question: A complete question.
        own: Stems of the words that the question before lacks.
        quoted: The quotes of its answer.
    """
    is_open = analyse(question).form is Form.OPEN
    return not own or not is_open or any(has_words([one], quoted) for one in own)


def tells_asked_of(question: str, subject: str, quoted: str) -> bool:
    """Return whether a stretch of a text between commas names a subject with its value.

    "The mill stood from 1870 to 1939, later with a forge" does not say how long the
    forge stood; "60 % is oak, followed by larch with 13 %" says how much is larch.

    Args:
        question: A complete question; only of a number or time is a value expected.
        subject: The thing that it is about.
        quoted: A sentence that answered another question.
    """
    analysis = analyse(question)
    if analysis.form not in _FORMS:
        return True
    stems = stems_of(subject)
    quoted = _without_rates(question, quoted)
    return any(
        stems <= stems_of(stretch)
        and (form_fit(analysis, stretch) > 0 or _tells_nothing(question, stretch))
        for stretch in _STRETCH.split(quoted)
    )


def tells_value_of(question: str, old: str, new: str, quoted: str) -> bool:
    """Return whether stretches of a text give a value of two things each.

    Args:
        question: The question about the first; it must ask for a number or time.
        old: The thing that it is about.
        new: Another thing.
        quoted: The quote that answered it.
    """
    analysis = analyse(question)
    if analysis.form not in _FORMS:
        return False
    values = [
        {one for one in (old, new) if stems_of(one) <= stems_of(stretch)}
        for stretch in _SHORT_STRETCH.split(_without_rates(question, quoted))
        if form_fit(analysis, stretch) > 0 or _tells_nothing(question, stretch)
    ]
    return {old} in values and {new} in values and have_one_role(old, new, quoted)


def have_one_role(old: str, new: str, quoted: str) -> bool:
    """Return whether two things follow the same preposition, or none, in a text.

    "The treasurer pays up to £250, up to £900 with leave of the chair" says nothing of
    what the chair pays. Days may follow different ones: "on weekdays", "at weekends".
    """
    if {*words(f"{old} {new}".lower())} <= DAYS:
        return True
    roles = [_roles(one, quoted) for one in (old, new)]
    return not all(roles) or bool(roles[0] & roles[1])


def _roles(thing: str, quoted: str) -> set[str]:
    """Return the prepositions before a thing in a text; "" where there is none."""
    several = words(quoted.lower())
    names = [stem(word) for word in words(thing.lower()) if word not in STOP_WORDS]
    roles = set()
    for at in range(len(several)):
        here = [stem(word) for word in several[at : at + len(names)]]
        if not names or here != names:
            continue
        before = [w for w in several[max(0, at - 2) : at] if w not in DETERMINERS]
        is_role = bool(before) and before[-1] in {*PREPOSITIONS.split()}
        roles.add(before[-1] if is_role else "")
    return roles


def tells_dimension(question: str, quoted: str) -> bool:
    """Return whether a text does not give another dimension than "how deep" asks for.

    "60 centimetres deep" does not say how high a pond is.
    """
    asked = _HOW.search(question)
    ring = next((r for r in _DIMENSIONS if asked and asked[1].lower() in r), None)
    # "How high is the deposit for a wide locker?" does not ask about the width.
    several = {*words(quoted.lower())} - {*words(question.lower())}
    if ring is None or several & ring:
        return True
    return not several & frozenset().union(*_DIMENSIONS)


def tells_dimension_of(question: str, subject: str, quoted: str) -> bool:
    """Return whether no other sentence alone has the dimension that is newly asked.

    "A shed may have a height of 2.30 m. Greenhouses may have up to 10 square metres"
    does not say how high a greenhouse may be.

    Args:
        question: A complete question; only "how high" and the like are looked at.
        subject: The thing that replaced another one.
        quoted: The quotes of its answer.
    """
    asked = _HOW.search(question)
    ring = next((r for r in _DIMENSIONS if asked and asked[1].lower() in r), None)
    stems = stems_of(subject)
    if ring is None or not stems:
        return True
    sentences = _split_subjects(quoted)
    own = [one for one in sentences if stems <= stems_of(one)]
    has_it = [one for one in sentences if ring & {*words(one.lower())}]
    return not own or not has_it or any(one in has_it for one in own)


def tells_count_of(question: str, subject: str, quoted: str) -> bool:
    """Return whether a text counts the thing that a question newly asks the number of.

    "One shed per plot. Greenhouses may have up to 10 square metres" says how many sheds
    there may be, and not how many greenhouses.

    Args:
        question: A complete question; only "how many" of the subject is looked at.
        subject: The thing that replaced another one.
        quoted: The quotes of its answer.
    """
    asked = _HOW_MANY.search(question)
    stems = stems_of(subject)
    if asked is None or not stems or not stems <= stems_of(asked["noun"]):
        return True
    if {*words(subject.lower())} & TIME_UNITS:  # "three weeks" are "ten days" too
        return True
    return any(
        _is_limited(stems, sentence)
        or any(_is_counted(stems, part) for part in _STRETCH.split(sentence))
        for sentence in _split_subjects(quoted)
    )


def _split_subjects(quoted: str) -> list[str]:
    """Return the sentences of a text; "It is 2 metres deep." goes with the one before.

    Its subject is named there.
    """
    sentences: list[str] = []
    for one in _SENTENCE_END.split(quoted):
        if sentences and _GOES_ON.match(one):
            sentences[-1] += f", {one.strip()}"
        else:
            sentences.append(one)
    return sentences


def _is_counted(stems: Collection[str], stretch: str) -> bool:
    """Return whether a number stands before a noun: "five old locks"."""
    several = words(stretch.lower())
    for place in (i for i, word in enumerate(several) if stem(word) in stems):
        start = max(0, place - len(stems) - BETWEEN)
        near = [at for at in range(start, place) if _is_number(several[at])]
        if near and not _ENDS_PHRASE & {*several[near[-1] + 1 : place]}:
            return True
    return False


def _is_limited(stems: Collection[str], sentence: str) -> bool:
    """Return whether a number follows: "hens are permitted: up to six per plot"."""
    several = words(sentence.lower())
    for place in (i for i, word in enumerate(several) if stem(word) in stems):
        after = several[place + 1 :]
        number = next((i for i, word in enumerate(after) if _is_number(word)), 0)
        if number and after[0] in _BE and (after[number + 1 :] or ["per"])[0] in _EACH:
            return True
    return False


def _is_number(word: str) -> bool:
    return bool(read(word).numbers) or word == "no"


def _tells_nothing(question: str, stretch: str) -> bool:
    """Return whether a stretch says that a thing costs nothing."""
    return bool(_PRICE.search(question) and _NOTHING.search(stretch))


def _without_rates(question: str, quoted: str) -> str:
    """Return a text without prices for a time, where no price is asked for."""
    return quoted if _PRICE.search(question) else _RATE.sub(" ", quoted)


def has_words(own: Collection[str], quoted: str) -> bool:
    """Return whether a text has words, or others of the same meaning or root.

    Args:
        own: Their stems.
        quoted: The text.
    """
    stems = read(quoted).stems
    return all(match(one, stems) for one in own)


def own_words(question: str, last: str) -> frozenset[str]:
    """Return the stems of a question that the question before lacks.

    "Twice a year" has not the "often" of "How often is it tuned?", which another check
    is for; alone, as in "How heavy is it?", it is what is asked.

    Args:
        question: The question.
        last: The question before.
    """
    own = telling_stems(question) - telling_stems(last)
    # "How much may it be at most?" after "What is the fee?"
    own |= {*bounds(question)} - {*bounds(last)}
    asked = _HOW_BEGINS.match(question)
    return (own - {stem(asked[1].lower())} if asked else own) or own
