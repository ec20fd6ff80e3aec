"""Analyse a question: its subject, the required form of its answer, its names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property, lru_cache

from elt_llm_query.analysis.amounts import Amount, asked_amount
from elt_llm_query.analysis.lexicon import (
    ATTRIBUTES,
    COMMON,
    CURRENCIES,
    DAYS,
    EXCEPTIONS,
    LARGE_NUMBERS,
    MONTHS,
    QUESTION_WORDS,
    STOP_WORDS,
    TIME_UNITS,
)
from elt_llm_query.analysis.marks import marks
from elt_llm_query.analysis.quantities import guards
from elt_llm_query.analysis.read_sentence import Sentence, read
from elt_llm_query.analysis.rule_reference import (
    Number,
    RuleRequest,
    rule_numbers,
    rule_request,
    section_name,
)
from elt_llm_query.analysis.stems import question_stems, stem, words
from elt_llm_query.analysis.table_question import TableQuestion, parse_table_question

_QUESTIONS = 256  # questions whose analysis is kept, with their rewrites and subjects
# A common word ("rule", "must") weighs about half a distinctive one, so that two of
# them do not outweigh it.
COMMON_WEIGHT = 0.45


class Form(StrEnum):
    """The form that an answer must have."""

    OPEN = "open"
    NUMBER = "number"
    TIME = "time"
    PERSON = "person"
    DEFINITION = "definition"
    YES_NO = "yes_no"


_NUMBER = re.compile(
    r"\bhow\s+(?:many|much|often|old|far|large|big|high|tall|heavy|deep|wide|fast)\b"
    r"|\bhow\s+long\b|\bwhat\s+(?:number|percentage|percent|proportion|share|age|amount)\b"
    r"|\bwithin\s+(?:how|what)\b|\b(?:maxim|minim)(?:um|al)\b"
    # "What is the most I can borrow?"; "the most common cause" is no amount.
    r"|^\W*what(?:\s+(?:is|was)|['\u2019]s)\s+the\s+(?:most|least)\s+(?:that\s+)?"
    r"(?:[\w-]+\s+){1,3}?(?:can|could|may|must|should|will)\b"
    # "What does the fee come to?"
    r"|\bwhat\b.*\b(?:do|does|did|will|would|may|can)\b.*\b(?:(?:come|amount|add\s+up)"
    # not "What may increase the cost?"
    r"\s+to|(?:(?<!\ban)(?<!\ba)(?<!\b(?:the|its|our))(?<!\btheir)(?<!\bto)\s)"
    r"(?:cost|weigh))\W*$",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"^\W*when\b|\b(?:what|which|by\s+what)\s+(?:date|day|year|month|time)\b"
    r"|\b(?:by|from|since|until|till)\s+when\b|\bdeadline\b|\bhow\s+(?:soon|quickly)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)
_TERM = r"(?:(?:an?|the)\s+(?:(?:term|word)\s+)?)?(?P<term>[^?]+?)"
_IS = r"(?:\s+(?:is|are|was|were)|['\u2019]s)\s+"
# "What are competencies, according to the handbook?" Where the answer stands is no part
# of what is asked. "The travel policy" may be one of several, so that it stays.
_SOURCE = (
    r"(?:according\s+to|as\s+per)\s+(?:the|this|these|our|your|my)\s+(?:handbook|manual|"
    r"policy|policies|rules|regulations|guidelines|guide|standard|documents?|text)"
)
_FRAME = re.compile(rf"^\W*{_SOURCE}\s*,\s*|\s*,?\s+{_SOURCE}(?=\W*$)", re.IGNORECASE)
_TERM_OF = re.compile(rf"\b(?:definition|meaning)\s+of\s+{_TERM}\W*$", re.IGNORECASE)
_TERM_MEANS = re.compile(
    rf"^\W*what\s+(?:do|does|did)\s+{_TERM}\s+(?:mean|stand\s+for|refer\s+to)\W*$",
    re.IGNORECASE,
)
_DEFINE = re.compile(rf"^\W*define\s+{_TERM}\W*$", re.IGNORECASE)
_WHAT_IS = re.compile(
    rf"^\W*(?:what|who){_IS}(?:meant\s+by\s+)?{_TERM}\W*$", re.IGNORECASE
)
_YES_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|may|must|shall|should|will|would"
    r"|has|have|had|am)\b",
    re.IGNORECASE,
)
# A sentence that says how heavy a thing is has a weight: it "weighs" or has "kg".
_HOW_HEAVY = re.compile(r"\bhow\s+heavy\b", re.IGNORECASE)
_HOW = re.compile(
    r"\bhow\s+(?:many|much|often|old|far|large|big|high|tall|heavy|deep|wide|fast|long"
    r"|soon|quickly)\b|\bwhat\s+(?:percentage|percent|proportion|share)\s+of\b",
    re.IGNORECASE,
)
_RELATION = re.compile(r"\b(?:of|for|in|at|on|by|with|from|under|to|between|when|if)\b")
_LONGEST_TERM = 6
_QUOTES = " \"'\u201c\u201d\u2018\u2019"
_OFTEN = re.compile(r"\bhow\s+(?:often|frequently|many\s+times)\b", re.IGNORECASE)
_COUNTED = re.compile(
    r"\b(?:how\s+many|what\s+number\s+of)\s+(?P<noun>[^\W\d_]+)"
    r"|(?P<time>\bhow\s+(?:soon|quickly|old)\b|\bhow\s+much\s+(?:\w+\s+)?time\b)",
    re.IGNORECASE,
)
_MUCH_TIME = re.compile(r"(\bhow\s+much\s+(?:\w+\s+)?)time\b", re.IGNORECASE)
# "List the rooms", "Which records must ...", "What are the criteria ...": the noun is
# in the plural, by its ending or as one of the irregular plurals of general language.
_PLURAL = r"(?:[a-z-]{2,}(?<!s)(?<!u)(?<!i)s|criteria|people|persons|men|women|data)"
_SEVERAL = re.compile(
    rf"^\W*(?:list|name|enumerate)\b|\ball\s+(?:the\s+)?{_PLURAL}\b"
    rf"|\b(?:what|which)\s+(?:[a-z-]+\s+){{0,2}}?{_PLURAL}\s+[a-z]"
    r"|\bwhat\s+(?:are|were)\b"
    r"|\b(?:what|which|who)\b.*\b(?:include|comprise|consist)\b",
    re.IGNORECASE,
)
_SHOUTED = 0.6
_LONGEST_BEFORE = 40  # characters before an amount that may announce it
_NEGATING = EXCEPTIONS | {"non"}  # negations, not part of the subject
_NAME = re.compile(
    r"\b(?:[A-Z][\w.&'-]*[A-Z0-9][\w.&-]*|[A-Z]*\d[\w.:/-]*|[A-Z][\w'-]+)"
)
_UNITS = {unit for units in ATTRIBUTES.values() for unit in units if unit.isalpha()}
_UNITS |= {"m2", "m3", "sqm", *CURRENCIES}
_UNIT = "|".join(sorted(map(re.escape, _UNITS | TIME_UNITS | LARGE_NUMBERS)))
# "700 million", "13 seconds", "3,000", "worth 50 crowns"; not "bus 42", "version 6.2".
_AMOUNT_AFTER = re.compile(
    rf"\s*(?:%|percent\b|per\s?cent\b|(?:{_UNIT})s?\b)", re.IGNORECASE
)
_AMOUNT_BEFORE = re.compile(
    r"\b(?:worth|of|than|least|most|over|above|below|exactly|about|around|top)\s$",
    re.IGNORECASE,
)
# "I'm 53", "my son is 15," and not "What is 802.11" or "Is 3.2 met?"
_AGE_BEFORE = re.compile(
    r"(?:\b(?:I|he|she|who)(?:['\u2019](?:m|s)|\s+(?:am|is|was))"
    r"|\b(?:my|our|her|his|a|the)\s+(?:\S+\s+){1,2}?(?:is|was)|\b(?:aged?|turn(?:s|ed)?)|\bat)\s$",
    re.IGNORECASE,
)
_AGE = re.compile(r"[1-9]\d?(?=\W*$|\W*[,.;:?!]|\s+(?:and|but|or|years?|now)\b)")
_YEARS_OLD = re.compile(r"\d+-(?:year|month|week|day|hour|minute)s?(?:-olds?)?")
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_DATE_BESIDE = "|".join(MONTHS)
_MONTH_AFTER = re.compile(rf"(?:st|nd|rd|th)?\s+(?:{_DATE_BESIDE})\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?:^|[.!?:;\u2013\u2014])[\W_]*$")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_PLAIN_NUMBER = re.compile(r"\d[\d.,]*")
_YEAR = re.compile(r"(?:19|20)\d\d[.,]?")
_CONTRACTED = re.compile(r"(?P<word>\w+)['\u2019](?:m|re|ve|ll|d|s|t)")


@dataclass(frozen=True)
class QuestionAnalysis:
    """The analysis of a question, computed once for all stages.

    Rarely needed parts are computed at first use.

    Attributes:
        text: The question.
        form: The form its answer must have.
        weights: Weight of each content stem: 1, or less for a common word.
        names: Stems of its names, recognised by capitals or digits.
        term: The term to define; empty for other questions.
        counted: Stems of which one is near the requested number.
        often: Whether it asks for a frequency.
        wordings: Further forms that a definition may have.
    """

    text: str
    form: Form
    weights: dict[str, float]
    names: frozenset[str]
    term: str = ""
    counted: frozenset[str] = frozenset()
    often: bool = False
    wordings: tuple[str, ...] = ()

    @cached_property
    def read(self) -> Sentence:
        """Its words, stems, numbers and negations, as of any other sentence."""
        return read(self.text)

    @cached_property
    def in_capitals(self) -> bool:
        """True where most words have capitals, which then name nothing."""
        return _is_in_capitals(self.text)

    @cached_property
    def amount(self) -> Amount | None:
        """The kind of amount that it asks for, such as money; None for others."""
        return asked_amount(self.text)

    @cached_property
    def several(self) -> bool:
        """Whether it asks for several things: "Which records must be kept?"."""
        return bool(_SEVERAL.search(self.text))

    @cached_property
    def rule_numbers(self) -> tuple[Number, ...]:
        """Spans of rule numbers, each with its canonical forms."""
        return tuple(rule_numbers(self.text))

    @cached_property
    def rule(self) -> RuleRequest:
        """The one rule that it asks for, if it does."""
        return rule_request(self.text, self.rule_numbers)

    @cached_property
    def section(self) -> str:
        """The section that it asks for and nothing else; empty for other questions."""
        return section_name(self.text)

    @cached_property
    def table(self) -> TableQuestion | None:
        """What it asks of a table, or None where it has no such form."""
        return parse_table_question(self.text)

    @cached_property
    def essentials(self) -> tuple[tuple[str, ...], tuple[tuple[str, int], ...]]:
        """Identifiers, then numbers with units, bounds and negations, in order.

        Questions that differ in one of these have different answers, however similar
        they are.
        """
        return tuple(marks(self.text)), tuple(guards(self.text).items())


@lru_cache(maxsize=_QUESTIONS)
def analyse(text: str, wordings: tuple[str, ...] = ()) -> QuestionAnalysis:
    """Analyse a question.

    Args:
        text: The question.
        wordings: Sentences with `{term}` and `{definition}`: further forms that a
            definition may have.

    Returns:
        The analysis, the same object for the same arguments.
    """
    text = _FRAME.sub("", text)
    # "How much time" asks for a duration, whose sentence need not say "time".
    asked = _HOW_HEAVY.sub("weight", _MUCH_TIME.sub(r"\1", text))
    asked = _HOW.sub(" ", asked)
    matter = [s for s in question_stems(asked) if s not in _stems_of(_NEGATING)]
    common = _stems_of(COMMON)
    weights = {s: COMMON_WEIGHT if s in common else 1.0 for s in matter}
    names = {s for name in _names(text) for s in map(stem, words(name)) if s in weights}
    term = defined_term(text)
    return QuestionAnalysis(
        text=text,
        form=_form(text, term),
        weights=weights,
        names=frozenset(names),
        term=term,
        counted=_counted_stems(text),
        often=bool(_OFTEN.search(text)),
        wordings=wordings,
    )


def defined_term(text: str) -> str:
    """Return the term whose definition a question asks for, or an empty string."""
    patterns = (_TERM_OF, _TERM_MEANS, _DEFINE, _WHAT_IS)
    asked = next((m for m in (p.search(text) for p in patterns) if m), None)
    if asked is None:
        return ""
    term = re.sub(r"\s*\([^)]*\)?$", "", asked["term"]).strip(_QUOTES)
    if asked.re is _WHAT_IS and _RELATION.search(term):
        return ""
    return term if 0 < len(words(term)) <= _LONGEST_TERM else ""


def _counted_stems(text: str) -> frozenset[str]:
    asked = _COUNTED.search(text)
    if not asked:
        return frozenset()
    return _stems_of(TIME_UNITS) if asked["time"] else frozenset([stem(asked["noun"])])


@cache
def _stems_of(list_of_words: frozenset[str]) -> frozenset[str]:
    return frozenset(map(stem, list_of_words))


def _form(text: str, term: str) -> Form:
    patterns: Iterable[tuple[re.Pattern[str], Form]] = (
        (_NUMBER, Form.NUMBER),
        (_TIME, Form.TIME),
    )
    for pattern, form in patterns:
        if pattern.search(text):
            return form
    if term:
        return Form.DEFINITION
    if _PERSON.search(text):
        return Form.PERSON
    return Form.YES_NO if _YES_NO.search(text) else Form.OPEN


def _names(text: str) -> list[str]:
    """Return capitalised words except the first, and words with digits.

    Words with inner capitals count anywhere. If most words have capitals, only digits
    count. Days, months and amounts ("13 seconds") are no names: a text may answer
    about them without them.
    """
    shouted = _is_in_capitals(text)
    names = []
    for match in _NAME.finditer(text):
        name = match[0]
        if _is_contracted(name) or _is_amount(text, *match.span()):
            continue  # "worth 700 million" asks for the rule that covers it
        plain = name.istitle() and name.isalpha()
        if plain and (
            _SENTENCE_END.search(text[: match.start()]) or _is_form_word(name)
        ):
            continue
        if not shouted or any(c.isdigit() for c in name):
            names.append(name)
    return names


def _is_in_capitals(text: str) -> bool:
    """True where most words have capitals, which then name nothing."""
    written = [w for w in words(text) if w.isalpha()]
    return sum(1 for w in written if w[0].isupper()) > _SHOUTED * len(written)


def _is_amount(text: str, start: int, end: int) -> bool:
    """Return whether a number of a text is an amount and no year, item or version."""
    number = text[start:end]
    if _YEARS_OLD.fullmatch(number) or _CLOCK.fullmatch(number.rstrip(".,")):
        return True
    before = text[max(start - _LONGEST_BEFORE, 0) : start]
    if _AGE.match(text, start) and _AGE_BEFORE.search(before):
        return True
    if not _PLAIN_NUMBER.fullmatch(number) or _YEAR.fullmatch(number):
        return False
    return bool(
        _THOUSANDS.fullmatch(number)
        or _AMOUNT_AFTER.match(text, end)
        or _MONTH_AFTER.match(text, end)
        or _AMOUNT_BEFORE.search(before)
    )


def is_measure(code: str) -> bool:
    """Return whether letters and digits are an age or a unit: "16-year-old", "m2".

    Args:
        code: A word with letters and digits.
    """
    return bool(_YEARS_OLD.fullmatch(code)) or code.lower() in _UNITS


def _is_contracted(name: str) -> bool:
    """Return whether a capitalised word is "I'm", "There's" or the like."""
    contracted = _CONTRACTED.fullmatch(name)
    return contracted is not None and contracted["word"].lower() in STOP_WORDS


def _is_form_word(name: str) -> bool:
    """Return whether a capitalised word names nothing: "Which", "Sunday"."""
    return name.lower() in STOP_WORDS | QUESTION_WORDS | DAYS | MONTHS
