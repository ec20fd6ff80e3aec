"""The names and noun phrases of a message, each with its form.

The form of a phrase is its unit if it is a number, its pattern if it is a code, its
article, its preposition, and whether it is a name.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from elt_llm_query.analysis.lexicon import (
    AUXILIARIES,
    MONTHS,
    QUESTION_WORDS,
    STOP_WORDS,
)
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
CODE = r"(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]+"
MORE = r"(?:above|below|over|under|higher|lower|more|less|fewer|older|younger|up)"
_NUMBER = re.compile(
    r"(?P<limit>(?:(?:less|more|fewer|greater)\s+than|at\s+(?:least|most)|up\s+to"
    r"|over|under|above|below)\s+)?"
    rf"\b\d+(?:[.,]\d+)*(?!\w)(?:\s+(?:or|and)\s+{MORE}\b)?(?:\s+(?P<unit>[^\W\d_]+))?"
    rf"(?:\s+of\s+[^\W\d_]+)?(?:\s+(?:or|and)\s+{MORE}\b)?",
    re.IGNORECASE,
)
_CODES = re.compile(
    rf"(?:\b(?P<class>[A-Za-z]{{3,}})\s+)?\b(?P<code>{CODE})"
    rf"(?:\s*(?:to|and|or|&|-|\u2013)\s*(?:(?P=class)\s+)?(?:{CODE}|{MORE})\b)?"
)
DETERMINER = re.compile(
    r"\A(?:an?|the|my|your|our|any|every|each|some|its|their|his|her)\s+",
    re.IGNORECASE,
)
_MONTHS = "|".join(sorted(MONTHS))
_DAY = re.compile(
    rf"\b(?:{_MONTHS})\s+\d{{1,2}}(?:,?\s+\d{{4}})?\b"
    rf"|\b(?:\d{{1,2}}\s+)?(?:{_MONTHS})\s+\d{{4}}\b",
    re.IGNORECASE,
)
# "Class 1", "Tranche 2": a name with a number.
NUMBERED = re.compile(r"\b(?P<noun>[A-Z][A-Za-z]+)\s+\d+\b")
PLURAL = re.compile(r"(?:[^su\W]s|[^\W]ies|people|children|men|women)$", re.IGNORECASE)
_GRAMMAR = STOP_WORDS | AUXILIARIES | PREPOSITIONS
_VERB_AFTER = {"be", "been", "being", "to"}
_MODAL = "can|could|may|might|must|shall|should|will|would|do|does|did"
# After these a verb follows: "May I", "Who may", "Who".
_VERB_FOLLOWS = re.compile(
    rf"\b(?:{_MODAL})\s+(?:i|we|you|they|one|he|she|it)\s+$"
    rf"|\bwho\s+(?:(?:{_MODAL})\s+)?$",
    re.IGNORECASE,
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
        unit: For a number: the stem of the counted noun; "" if it counts nothing.
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
        is_plural = bool(PLURAL.search(self.text))
        return is_plural, self.article == "the" and not self.text[:1].isupper()


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
    article = DETERMINER.match(rest)
    text = rest[article.end() :] if article else rest
    owned, of, owner = text.partition(" of ")
    owned = owned if of and not _NUMBER.fullmatch(text) else ""
    if owned:
        article = DETERMINER.match(owner)
        text, preposition = owner[article.end() :] if article else owner, "of"
    phrase = replace(
        make_phrase(text, 0, len(text), "", preposition),
        article=article[0].strip().lower() if article else "",
        owned=owned,
    )
    return phrase if _is_one_thing(phrase) else None


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
    phrases = [_phrase_at(question, start, end) for start, end in fixed]
    for run in _word_runs(question, fixed):
        # "may I keep hens", "who hires boats": a verb first
        has_verb = run and _VERB_FOLLOWS.search(question[: run[0].start()])
        phrases += _cut_run(question, run[1:] if has_verb else run, evidence)
    return sorted(phrases, key=lambda phrase: phrase.start)


def _fixed_spans(question: str) -> Iterator[tuple[int, int]]:
    """Return codes and numbers, which a run of words must not split; none overlap."""
    taken = 0
    spans = [m.span() for m in _CODES.finditer(question) if _is_code(question, m)]
    spans += [m.span() for m in _DAY.finditer(question)]
    spans += [
        m.span()
        for m in NUMBERED.finditer(question)
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


def _word_runs(
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
        piece = _phrase_at(question, run[at].start(), run[at + size - 1].end())
        if _is_verb(question, piece, is_first=at == 0):
            # "staff wear sandals": a plural after the verb is a noun.
            if has_verb and PLURAL.search(piece.text):
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


def _phrase_at(question: str, start: int, end: int) -> Phrase:
    """Return a phrase of a question with the words before it."""
    before = question[:start].lower().split()
    article = before.pop() if before and DETERMINER.match(f"{before[-1]} ") else ""
    preposition = before[-1] if before and before[-1] in PREPOSITIONS else ""
    return make_phrase(question, start, end, article, preposition)


def make_phrase(
    text: str, start: int, end: int, article: str, preposition: str
) -> Phrase:
    """Return a phrase with its unit or the pattern of its code."""
    phrase = text[start:end]
    unit, code = None, ""
    codes = _CODES.fullmatch(phrase)
    number = _NUMBER.fullmatch(phrase)
    if _DAY.fullmatch(phrase):
        code = "day"
    elif NUMBERED.fullmatch(phrase):
        code = phrase.split()[0].lower()
    elif codes:
        code = re.sub(r"\d+", "9", re.sub(r"[A-Za-z]", "A", codes["code"]))
    elif number:
        unit = stem(number["unit"].lower()) if number["unit"] else ""
    return Phrase(phrase, start, end, article, preposition, unit, code)
