"""Follow-ups that name one thing only: "And for Grade N4?", "What about cats?".

The thing replaces the phrase of the same kind in the previous question. The same kind
is determined in three steps, from the most to the least certain:

1. by form: the same last noun ("marriage leave", "compassionate leave"), a number of
   the same unit, a code with the same pattern ("N3", "N4"), another day;
2. by the documents: both are headings of one section or items of one list;
3. by position: the only phrase after the same preposition, or the only one of the same
   number and article. "And the fee?" may ask for an attribute instead, so the documents
   must say of the fee what the question asks.

If a step finds several positions, the reading is uncertain.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from elt_llm_query.analysis.lexicon import (
    AUXILIARIES,
    DAYS,
    MONTHS,
    QUESTION_WORDS,
    STOP_WORDS,
)
from elt_llm_query.analysis.noun_phrases import stems_of, telling_stems
from elt_llm_query.analysis.stems import stem

PREPOSITIONS = frozenset(
    """
    of for in at on by with from under to between when if about after before during
    without against over into than while as because per within until unless since
    """.split()  # noqa: SIM905 - reads better
)
LONGEST = 8  # words of a phrase; longer text is a clause, which is itself a question

_LEAD = re.compile(
    r"^\W*(?:(?:and|but|so|or|ok|okay|then)\b[\s,]*)?(?:(?:what|how)\s+about\b[\s,]*)?",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W_][\w'\u2019/.-]*[\w'\u2019]|[^\W_]|\S")
_CODE = r"(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]+"
_MORE = r"(?:above|below|over|under|higher|lower|more|less|fewer|older|younger|up)"
_NUMBER = re.compile(
    r"(?P<limit>(?:(?:less|more|fewer|greater)\s+than|at\s+(?:least|most)|up\s+to"
    r"|over|under|above|below)\s+)?"
    rf"\b\d+(?:[.,]\d+)*(?!\w)(?:\s+(?:or|and)\s+{_MORE}\b)?(?:\s+(?P<unit>[^\W\d_]+))?"
    rf"(?:\s+of\s+[^\W\d_]+)?(?:\s+(?:or|and)\s+{_MORE}\b)?",
    re.IGNORECASE,
)
_CODES = re.compile(
    rf"(?:\b(?P<class>[A-Za-z]{{3,}})\s+)?\b(?P<code>{_CODE})"
    rf"(?:\s*(?:to|and|or|&|-|\u2013)\s*(?:(?P=class)\s+)?(?:{_CODE}|{_MORE})\b)?"
)
_DETERMINER = re.compile(
    r"\A(?:an?|the|my|your|our|any|every|each|some|its|their|his|her)\s+",
    re.IGNORECASE,
)
# "Class 1", "Tranche 2": a name with a number; and a day.
_MONTHS = "|".join(sorted(MONTHS))
_DAY = re.compile(
    rf"\b(?:{_MONTHS})\s+\d{{1,2}}(?:,?\s+\d{{4}})?\b"
    rf"|\b(?:\d{{1,2}}\s+)?(?:{_MONTHS})\s+\d{{4}}\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\b(?P<noun>[A-Z][A-Za-z]+)\s+\d+\b")
_PLURAL = re.compile(r"(?:[^su\W]s|[^\W]ies|people|children|men|women)$", re.IGNORECASE)
_AUX = "|".join(sorted(AUXILIARIES))
# "How many days of leave", "Which notation": what a question asks for.
_ASKED = re.compile(
    rf"\W*(?:\w+\s+)?(?:how\s+(?:many|much)|which|what|whose)\s+(?!(?:{_AUX})\b)"
    rf"(?:(?!(?:{_AUX})\b)\S+\s+)+",
    re.IGNORECASE,
)
_MEASURES = re.compile(rf"\bhow\s+(?!(?:to|{_AUX})\b)\w", re.IGNORECASE)
_GRAMMAR = STOP_WORDS | AUXILIARIES | PREPOSITIONS
_ANY_ROLE = {"", "for", "of", "about"}
_VERB_AFTER = {"be", "been", "being", "to"}


_MODAL = "can|could|may|might|must|shall|should|will|would|do|does|did"
_BE = "is|are|was|were"
# After these a verb follows: "May I", "Who may", "Who".
_VERB_FOLLOWS = re.compile(
    rf"\b(?:{_MODAL})\s+(?:i|we|you|they|one|he|she|it)\s+$"
    rf"|\bwho\s+(?:(?:{_MODAL})\s+)?$",
    re.IGNORECASE,
)
# The auxiliary before a subject, singular and plural; "have" may be the verb: "May I
# have guests?".
_NUMBERS = {"is": "are", "was": "were", "does": "do"}
_AUX_BEFORE = re.compile(
    rf"\b(?P<aux>{'|'.join([*_NUMBERS, *_NUMBERS.values()])})\s+$", re.IGNORECASE
)


class PhraseEvidence(Protocol):
    """Evidence for phrases from documents."""

    def has(self, phrase: str) -> bool:
        """Return whether the documents contain a phrase exactly."""

    def knows(self, phrase: str) -> bool:
        """Return whether any document of the collections contains a phrase."""

    def are_alike(self, one: str, other: str) -> bool:
        """Return whether the documents list both side by side."""

    def tells(
        self, phrase: str, stems: frozenset[str], *, number: bool, first: bool
    ) -> bool:
        """Return whether a sentence says something of a phrase."""


@dataclass(frozen=True)
class Phrase:
    """A name or noun phrase and its form: `text[start:end]` of its question.

    Attributes:
        text: Without its article.
        start: Its start, after its article.
        end: Its end.
        article: The article before it, in lower case.
        preposition: The preposition before it.
        unit: For a number: the stem of the counted noun.
        code: For a code: its pattern, such as "A9" for N3.
        owned: What it owns: "licence" of "the licence of Bridle Checker".
    """

    text: str
    start: int
    end: int
    article: str = ""
    preposition: str = ""
    unit: str | None = None
    code: str = ""
    owned: str = ""

    @property
    def head(self) -> str:
        """Return the stem of its last word."""
        return stem(self.text.split()[-1].lower())

    @property
    def kind(self) -> tuple[bool, bool]:
        """Return whether it has a number or code, and whether it is a name."""
        return self.unit is not None or bool(self.code), self.text[:1].isupper()

    @property
    def is_value(self) -> bool:
        """Return whether it is a number or code without a noun."""
        return self.kind[0]

    @property
    def agreement(self) -> tuple[bool, bool]:
        """Return whether it is plural, and whether it has a definite article."""
        is_plural = bool(_PLURAL.search(self.text))
        return is_plural, self.article == "the" and not self.text[:1].isupper()


@dataclass(frozen=True)
class FollowUpReading:
    """One reading of a follow-up: the whole question, and its subject.

    `replaced` is the phrase of the question before that the subject replaces.
    """

    question: str
    subject: str
    replaced: str = ""


def find_named(message: str) -> Phrase | None:
    """Find the one thing that a follow-up names.

    Args:
        message: Such as "And for Grade N4 and above?", or "Grade N4?".

    Returns:
        The thing; None if the message contains more or less than one.
    """
    lead = _LEAD.match(message)
    rest = message[lead.end() if lead else 0 :].strip(" ?!.,;")
    first, _, after = rest.partition(" ")
    is_limit = re.match(r"(?:over|under|above|below)\s+\d", rest, re.IGNORECASE)
    preposition = (
        first.lower() if first.lower() in PREPOSITIONS and not is_limit else ""
    )
    rest = after.strip() if preposition else rest
    article = _DETERMINER.match(rest)
    text = rest[article.end() :] if article else rest
    owned, of, owner = text.partition(" of ")
    owned = owned if of and not _NUMBER.fullmatch(text) else ""
    if owned:
        article = _DETERMINER.match(owner)
        text, preposition = owner[article.end() :] if article else owner, "of"
    phrase = replace(
        _make_phrase(text, 0, len(text), "", preposition),
        article=article[0].strip().lower() if article else "",
        owned=owned,
    )
    return phrase if _is_one_thing(phrase) else None


def read_follow_up(
    named: Phrase,
    question: str,
    evidence: PhraseEvidence,
    *,
    weak: bool = True,
    parallel: Callable[[str, str], bool] | None = None,
) -> tuple[FollowUpReading, ...]:
    """Insert the thing that a follow-up names into the previous question.

    Args:
        named: What the follow-up names.
        question: The previous question, which is complete.
        evidence: Evidence from the documents that answered it.
        weak: Whether the position alone may determine the kind.
        parallel: Whether the answer said the same of two phrases, given both.

    Returns:
        All readings: one if it is certain, none if nothing fits.
    """
    if named.owned and f"{named.owned} of ".lower() not in question.lower():
        return ()
    slots = find_phrases(question, evidence)
    named = _without_repeated(named, question, slots)
    # "And on Sunday?" replaces what follows "on", if anything does.
    after = [s for s in slots if s.preposition == named.preposition != ""]
    slots = after or slots
    if parallel and (fitting := _by_answer(named, question, slots, parallel)):
        readings = [_fill(question, slot, text, named) for slot, text in fitting]
        return tuple(dict.fromkeys(one for one in readings if one))
    # "And with the chair?" is no other "treasurer"; "for" and "of" say no role.
    if named.preposition not in _ANY_ROLE and not after and not named.is_value:
        return ()
    fits = [_by_form(named, slots, evidence), _by_documents(named, slots, evidence)]
    if weak:
        fits.append(_by_place(named, question, slots, evidence))
    for fitting in fits:
        readings = [_fill(question, slot, text, named) for slot, text in fitting]
        if readings:
            return tuple(dict.fromkeys(one for one in readings if one))
    return ()


def find_phrases(question: str, evidence: PhraseEvidence) -> list[Phrase]:
    """Find the noun phrases and names of a question.

    Args:
        question: A complete question.
        evidence: Distinguishes a noun from the verb after it: "paternity leave" is a
            phrase of the documents, "Pyraminx scrambled" is not.

    Returns:
        The phrases in order.
    """
    fixed = list(_fixed_spans(question))
    phrases = [_at(question, start, end) for start, end in fixed]
    for run in _runs(question, fixed):
        # "may I keep hens", "who hires boats": a verb first
        has_verb = run and _VERB_FOLLOWS.search(question[: run[0].start()])
        phrases += _cut_run(question, run[1:] if has_verb else run, evidence)
    return sorted(phrases, key=lambda phrase: phrase.start)


Fit = tuple[Phrase, str]  # a phrase of the question, and its replacement


def _by_form(
    named: Phrase, slots: Sequence[Phrase], evidence: PhraseEvidence
) -> list[Fit]:
    """Return the phrases with the same form as the named one."""
    if named.unit is not None:
        units = {named.unit, ""}
        numbers = [s for s in slots if s.unit is not None]
        same = [s for s in numbers if s.unit == named.unit]
        loose = [s for s in numbers if named.unit == "" or s.unit in units]
        return [_in_number(named, s) for s in same or loose]
    if named.code:
        return [(s, _with_class(named, s)) for s in slots if s.code == named.code]
    plain = [s for s in slots if not s.kind[0]]
    if " " in named.text:
        fitting = [(s, named.text) for s in plain if s.head == named.head]
        if fitting:
            return fitting
    completed = []
    for slot in plain:
        head = slot.text.split()[-1]
        whole = f"{named.text} {head}"
        if " " in slot.text and named.head != slot.head and evidence.knows(whole):
            completed.append((slot, whole))
    return completed


def _by_documents(
    named: Phrase, slots: Sequence[Phrase], evidence: PhraseEvidence
) -> list[Fit]:
    """Return the phrases that the documents list side by side with the named one."""
    return [(s, named.text) for s in slots if evidence.are_alike(s.text, named.text)]


def _by_answer(
    named: Phrase,
    question: str,
    slots: Sequence[Phrase],
    parallel: Callable[[str, str], bool],
) -> list[Fit]:
    """Return the phrases of which the answer says the same as of the named one.

    "£8 for the drill, £6 for the saw". A day may follow another preposition, "on
    weekdays", "at weekends", which it then brings along.
    """
    asked = _ASKED.match(question)
    fitting = []
    for slot in slots:
        is_asked = asked is not None and slot.start < asked.end()
        same = slot.preposition == named.preposition
        days = {named.text.lower(), slot.text.lower()} <= DAYS
        if is_asked or slot.kind != named.kind or not (same or days):
            continue
        if not parallel(slot.text, named.text):
            continue
        if same:
            fitting.append((slot, named.text))
            continue
        before = question[: slot.start].rstrip()
        start = slot.start - len(slot.preposition) - 1
        if named.preposition and before.lower().endswith(f" {slot.preposition}"):
            text = f"{named.preposition} {named.text}"
            fitting.append((replace(slot, start=start), text))
    return fitting


def _by_place(
    named: Phrase, question: str, slots: Sequence[Phrase], evidence: PhraseEvidence
) -> list[Fit]:
    """Return the phrases after the same preposition, or of the same number and article.

    What the question asks for ("How many days ...") keeps its place. "And the colour?"
    may ask for an attribute of a phrase instead of something like it, so a sentence of
    the documents must say of it what the question asks.
    """
    asked = _ASKED.match(question)
    free = [s for s in slots if asked is None or s.start >= asked.end()]
    alike = [(s, named.text) for s in free if s.kind == named.kind]
    if named.preposition:
        return [fit for fit in alike if fit[0].preposition == named.preposition]
    agreeing = [fit for fit in alike if fit[0].agreement == named.agreement]
    if not agreeing and len(free) == 1:
        agreeing = alike  # "look-up secrets", "the binding code"
    if named.article == "the" and not named.kind[1]:
        agreeing = [fit for fit in agreeing if _is_told(fit, question, evidence)]
    # "And children?" after "adults have colds per year" is no other year.
    bare = [fit for fit in agreeing if not fit[0].preposition]
    return (bare or agreeing) if evidence.knows(named.text) else []


def _is_told(fit: Fit, question: str, evidence: PhraseEvidence) -> bool:
    """Return whether a sentence says of a phrase what the question asks."""
    slot, text = fit
    others = telling_stems(question) - stems_of(slot.text)
    return evidence.tells(
        text,
        others,
        number=bool(_MEASURES.search(question)),
        first=bool(others) and _is_subject(question, slot),
    )


def _is_subject(question: str, slot: Phrase) -> bool:
    """Return whether a phrase is the subject: it follows the auxiliary verb."""
    before = question[: slot.start].lower().split()
    if slot.article:
        before.pop()
    return bool(before) and before[-1] in AUXILIARIES


def _fill(
    question: str, slot: Phrase, text: str, named: Phrase
) -> FollowUpReading | None:
    """Return the question with one of its phrases replaced by a text.

    The article and the verb before it agree with the text. None where it does not fit:
    "how many" needs a plural, and a part of a longer name is no phrase.
    """
    many = bool(_PLURAL.search(text) or named.unit is not None)
    start, end = slot.start, _end_of_compound(question, slot)
    before = question[:start]
    if re.search(r"\bhow\s+many\s+$", before, re.IGNORECASE) and not many:
        return None
    if slot.article:
        start -= len(slot.article) + 1
        before = question[:start]
    subject = (
        named.text
        if named.text in text and text.startswith(f"{named.preposition} ")
        else _DETERMINER.sub("", text, count=1)
    )
    whole = f"{before}{_with_article(slot, text, named, many=many)}{question[end:]}"
    if slot.code or slot.unit is not None or slot.text[:1].isupper():
        was_many = many  # "N3" has no number
    else:
        was_many = bool(_PLURAL.search(slot.text))
    auxiliary = _AUX_BEFORE.search(before)
    if auxiliary and was_many != many:
        pairs = _NUMBERS if many else {v: k for k, v in _NUMBERS.items()}
        verb = pairs.get(auxiliary["aux"].lower(), auxiliary["aux"])
        at = auxiliary.start()
        whole = f"{whole[:at]}{verb}{whole[at + len(auxiliary['aux']) :]}"
    return FollowUpReading(f"{whole[:1].upper()}{whole[1:]}", subject, slot.text)


def _end_of_compound(question: str, slot: Phrase) -> int:
    """Return the end of a name of which the documents have only a part.

    "Is a rowing boat", "to join the garden club": no verb follows there.
    """
    before = question[: slot.start].lower()
    after = re.match(r"\s+(?-i:[a-z]{3,})(?=\W*$)", question[slot.end :])
    is_noun = re.search(rf"\b(?:{_BE})\s+an?\s+$|\bto\s+\w+\s+(?:an?|the)\s+$", before)
    if after is None or not is_noun or re.search(r"(?:ed|en|t)$", after[0]):
        return slot.end
    return slot.end + after.end()


def _with_article(slot: Phrase, text: str, named: Phrase, *, many: bool) -> str:
    """Return a text with the article that it needs in the place of a phrase."""
    is_indefinite = slot.article in {"a", "an"}
    is_plain = named.article in {"a", "an", "the"} and not text[:1].isupper()
    if named.article and (slot.article or is_plain):
        article = named.article
    elif slot.article in {"a", "an", "the"} and many and named.unit is None:
        article = ""  # "the readings": "And photos?"
    elif is_indefinite and (many or text[:1].isupper()):
        article = ""
    else:
        article = slot.article
    if article in {"a", "an"}:
        article = "an" if text[:1].lower() in "aeiou" else "a"
    return f"{article} {text}" if article else text


def _in_number(named: Phrase, slot: Phrase) -> Fit:
    """Return a number with the limit and unit of the number that it replaces."""
    number = re.search(r"\d+(?:[.,]\d+)*", slot.text)
    if number is None:
        return slot, named.text
    has_limit = re.search(rf"^\D|\b(?:or|and)\s+{_MORE}$", named.text, re.IGNORECASE)
    start = slot.start + (0 if has_limit else number.start())
    after = "" if named.unit or not slot.unit else slot.text[number.end() :]
    of = re.search(r"\s+of\s+\w+$", slot.text)
    if of and not after and " of " not in named.text:
        after = of[0]
    return replace(slot, start=start), f"{named.text}{after}"


def _with_class(named: Phrase, slot: Phrase) -> str:
    """Return a code with the noun of the code it replaces: "Grade N4" for "N4"."""
    noun = slot.text.split()[0]
    has_noun = not re.match(_CODE, named.text)
    return named.text if has_noun or re.match(_CODE, noun) else f"{noun} {named.text}"


def _without_repeated(named: Phrase, question: str, slots: Sequence[Phrase]) -> Phrase:
    """Return "Class 3" of "Class 3 Boat" if the question repeats the rest."""
    match = _NUMBERED.match(named.text)
    rest = named.text[match.end() :] if match else ""
    if match is None or not rest:
        return named
    follows = any(question[s.end :].startswith(rest) for s in slots if s.code)
    text = match[0] if follows else named.text
    short = _make_phrase(text, 0, len(text), "", named.preposition)
    return replace(short, article=named.article)


def _fixed_spans(question: str) -> Iterator[tuple[int, int]]:
    """Return codes and numbers, which a run of words must not split; none overlap."""
    taken = 0
    spans = [m.span() for m in _CODES.finditer(question) if _is_code(question, m)]
    spans += [m.span() for m in _DAY.finditer(question)]
    spans += [
        m.span()
        for m in _NUMBERED.finditer(question)
        if not _is_grammar(m["noun"].lower())
        and not any(m.start() < end and start < m.end() for start, end in spans)
    ]
    numbers = [m.span() for m in _NUMBER.finditer(question)]
    free = [n for n in numbers if not any(n[0] < e and s < n[1] for s, e in spans)]
    for start, end in sorted([*spans, *free]):
        if start >= taken:
            taken = end
            yield start, end


def _is_code(question: str, match: re.Match[str]) -> bool:
    """Return whether a code is a name by itself, unlike "3x3x3" of "3x3x3 Cube"."""
    noun = (match["class"] or "").lower()
    after = question[match.end() :]
    return noun not in STOP_WORDS | AUXILIARIES and not re.match(r"\s+[A-Z]", after)


def _runs(
    question: str, fixed: Sequence[tuple[int, int]]
) -> Iterator[list[re.Match[str]]]:
    """Return runs of words without function words and fixed spans."""
    run: list[re.Match[str]] = []
    for token in _TOKEN.finditer(question):
        inside = any(start <= token.start() < end for start, end in fixed)
        after_how = question[: token.start()].lower().rstrip().endswith("how")
        if inside or after_how or _is_grammar(token[0]):
            yield run
            run = []
        else:
            run.append(token)
    yield run


def _is_grammar(word: str) -> bool:
    """Return whether a word is a function word, or of the form of questions."""
    lowered = word.lower()
    is_form = word == lowered and lowered in QUESTION_WORDS
    return is_form or not lowered[0].isalnum() or lowered in _GRAMMAR


def _cut_run(
    question: str, run: Sequence[re.Match[str]], evidence: PhraseEvidence
) -> Iterator[Phrase]:
    """Return the longest pieces of a run that the documents have, without verbs."""
    at = 0
    has_verb = False
    while at < len(run):
        size = len(run) - at
        while size > 1 and not evidence.has(
            question[run[at].start() : run[at + size - 1].end()]
        ):
            size -= 1
        piece = _at(question, run[at].start(), run[at + size - 1].end())
        if _is_verb(question, piece, is_first=at == 0):
            # "staff wear sandals": a plural after the verb is a noun.
            if has_verb and _PLURAL.search(piece.text):
                yield piece
            has_verb = True
        else:
            yield piece
        at += size


def _is_verb(question: str, piece: Phrase, *, is_first: bool) -> bool:
    """Return whether one word is a verb or adjective, not a noun."""
    if " " in piece.text or piece.text[:1].isupper():
        return False
    before = question[: piece.start].lower().split()
    after_be = not piece.article and bool(before) and before[-1] in _VERB_AFTER
    return not is_first or after_be


def _at(question: str, start: int, end: int) -> Phrase:
    """Return a phrase of a question with the words before it."""
    before = question[:start].lower().split()
    article = before.pop() if before and _DETERMINER.match(f"{before[-1]} ") else ""
    preposition = before[-1] if before and before[-1] in PREPOSITIONS else ""
    return _make_phrase(question, start, end, article, preposition)


def _make_phrase(
    text: str, start: int, end: int, article: str, preposition: str
) -> Phrase:
    """Return a phrase with its unit or the pattern of its code."""
    phrase = text[start:end]
    unit, code = None, ""
    codes = _CODES.fullmatch(phrase)
    number = _NUMBER.fullmatch(phrase)
    if _DAY.fullmatch(phrase):
        code = "day"
    elif _NUMBERED.fullmatch(phrase):
        code = phrase.split()[0].lower()
    elif codes:
        code = re.sub(r"\d+", "9", re.sub(r"[A-Za-z]", "A", codes["code"]))
    elif number:
        unit = stem(number["unit"].lower()) if number["unit"] else ""
    return Phrase(phrase, start, end, article, preposition, unit, code)


def _is_one_thing(phrase: Phrase) -> bool:
    """Return whether a phrase is one name: a few words, mostly no function words."""
    if not phrase.text or len(phrase.text.split()) > LONGEST:
        return False
    # "And annually?", "And the rest?" name no thing.
    if phrase.text.endswith("ly") or phrase.text.lower() in {"rest", "remainder"}:
        return False
    # "What is the fee of N3?" names N3 and is a complete question.
    if any(_is_grammar(token[0]) for token in _TOKEN.finditer(phrase.owned)):
        return False
    if phrase.kind[0]:
        return True
    return not any(_is_grammar(token[0]) for token in _TOKEN.finditer(phrase.text))
