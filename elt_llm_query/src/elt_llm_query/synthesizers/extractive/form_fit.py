"""How well a text has the form of the answer that a question asks for.

A price is no count, a period is no frequency, and "at least" is no upper bound.
"""

import re
from functools import partial
from itertools import takewhile

from elt_llm_query.analysis.amounts import (
    drop_conditions,
    gives_amount,
    needs_no_number,
)
from elt_llm_query.analysis.definition import grade
from elt_llm_query.analysis.lexicon import (
    AUXILIARIES,
    DAYS,
    FREQUENCY,
    LOWER,
    LOWER_PHRASES,
    MONTHS,
    NUMBER_WORDS,
    PARTS,
    STOP_WORDS,
    TIME_UNITS,
    UPPER,
    UPPER_PHRASES,
)
from elt_llm_query.analysis.noun_phrases import AUX, PREPOSITIONS
from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import Sentence, read
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import Vocabulary, match, phrases, stems_match

NEAR = 5  # words between a number and its noun
# Fit of a number that is not near the counted noun: more than an open form (.5),
# because there is a number, and less than a number near the noun.
UNCOUNTED = 0.6

_TIME_WORDS = MONTHS | TIME_UNITS
_TEMPORAL = frozenset(
    ["before", "after", "until", "within", "once", "when", "during", "upon", "while"]
)
_UPPER = re.compile(
    rf"\b(?:{'|'.join(UPPER)}|{phrases(UPPER_PHRASES)})\b", re.IGNORECASE
)
_LOWER = re.compile(
    rf"\b(?:{'|'.join(LOWER)}|{phrases(LOWER_PHRASES)})\b", re.IGNORECASE
)
# "Drivers under 23 pay more" and "Buildings over 12 metres need a lift" say whom a rule
# is for; "Parcels over 20 kg are not accepted" gives a bound.
_NO_VERB = rf"(?!(?:{AUX}|stays?|remains?|keeps?|store|lies?|runs?|always)\b)"
_SUBJECT_BOUND = re.compile(
    r"^\W*(?:(?:an?|any|each|every|all|the|if)\s+)?"
    rf"(?:{_NO_VERB}[^\W\d]+\s+){{0,3}}?"
    rf"{_NO_VERB}(?:[^\W\d]+s|people|children|(?:an?|any|each|every)\s+[^\W\d]+)\s+"
    r"(?:under|over|below|above|(?:\w+er|more|less|worse)\s+than)\s+\D{0,3}\d",
    re.IGNORECASE,
)
_BINDS = re.compile(
    r"\b(?:not|no|never|only|may|can|cannot|neither|(?:dis)?allowed|permitted|admitted|"
    r"accepted|excluded|refused|reject(?:s|ed)?|denied|turned\s+away|fails?|bounces?|(?:in)?eligible|prohibited|forbidden|banned|"
    r"barred|limit(?:s|ed)?)\b",
    re.IGNORECASE,
)
_OF_RULES = re.compile(
    r"^\W*(?:[A-Za-z]{0,2}\d[\w.]*\+*\)|\d[\w.]*\.?)(?=\s)"
    rf"|\b(?:{'|'.join(PARTS)})s?\.?\s+\d[\w.]*",
    re.IGNORECASE,
)
_SPELT = "|".join(NUMBER_WORDS)
_STOPS = "|".join(sorted(STOP_WORDS))
_UNITS = "|".join(sorted(TIME_UNITS))
_DAYS = "|".join(sorted(DAYS))
# "two-factor", "no one", "one of the": number words that are not counts.
_NO_COUNT = re.compile(
    rf"\b(?:{_SPELT})-(?!(?:{_SPELT}|{_UNITS})\b)[a-z]+"
    r"|\b(?:no|any|the|this|that|each|every)\s+one\b|\bone\s+(?:another|of)\b",
    re.IGNORECASE,
)
# "every two years", "three times a day": a period alone does not say how often.
_EVERY = re.compile(
    rf"\b(?:every|each|per)\s+(?:[\w-]+\s+){{0,3}}?(?:{_UNITS}|{_DAYS})\b"
    rf"|\b(?:{'|'.join(sorted(one for one in DAYS if one.endswith('days')))})\b"
    # "a day", "a calendar year"; "a minimum of two years" is a period
    rf"|\ban?\s+(?:[\w-]+\s+)?(?:{_UNITS})\b"
    rf"|\bintervals?\s+of\s+(?:[\w-]+\s+){{0,5}}?(?:{_UNITS})\b"
    r"|\btimes\s+(?:in|during|within)\b|%\s+of\s+the\s+time\b",
    re.IGNORECASE,
)
# Money, shares and codes ("£25", "12 %", "room A12") count no things; a share of the
# counted things may ("a quorum is 20 % of the members").
_UNITS_OF_NO_COUNT = r"euros?|dollars?|pounds?|cents?|pence|per\s?cent|degrees?"
_UNCOUNTABLE = re.compile(
    rf"[$\u20ac\u00a3\u00a5]\s?\d[\d.,]*|\b[A-Za-z]+-?\d[\w-]*"
    rf"|\b\d[\d.,]*\s?(?:[$\u20ac\u00a3\u00a5%\u00b0]|(?:{_UNITS_OF_NO_COUNT})\b)",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(
    r"\bhow\s+much\b|\bwhat(?:\s+is|['\u2019]s)\s+the\s+(?:most|least)\b", re.IGNORECASE
)
_COUNTED_ONE = re.compile(
    r"\b(?:only\s+)?one\s+(?P<noun>[^\W\d_]+(?:\s+[^\W\d_]+)?)", re.IGNORECASE
)
_SHARE_OF = re.compile(r"\s+of\s+(?:(?:all|the|its|our|their)\s+){0,2}(?P<noun>\w+)")
_HOW_MANY = re.compile(rf"\bhow\s+many\s+(?!(?:{_UNITS_OF_NO_COUNT})\b)", re.IGNORECASE)
# "How many rowing boats are there in the yard?"
_ARE_THERE = re.compile(
    r"\bhow\s+many\s+(?:[\w-]+\s+){0,2}?(?P<noun>[\w-]+)\s+(?:are|were)\s+there\b",
    re.IGNORECASE,
)
_BEFORE_NOUN = 4  # words from a number to its noun: "five large wooden boats"
# "four people may use boats", "seven of the boats": the number is not that of boats.
_ENDS_NOUNS = AUXILIARIES | frozenset(PREPOSITIONS.split())
# Labels of rows and of lists, such as "Berths: 4"
_LABEL = re.compile(
    rf"(?P<noun>[^\W\d_]+)\s*:\s*(?P<number>\d[\d.,]*|(?:{_SPELT})\b)", re.IGNORECASE
)
# "The number of boats is four", "Membership stands at 120"
_STATES_NUMBER = re.compile(r"\bnumbers?\b|\bstands?\s+at\b", re.IGNORECASE)
_DATE = re.compile(r"\b\d{4}\b|\d+[:/.]\d+")
# "8 a.m.", "20.30 h", "eight o'clock".
_CLOCK = re.compile(
    rf"\b(?:\d{{1,2}}(?:[:.]\d\d)?|{_SPELT})\s*"
    r"(?:[ap]\.?\s?m\b|o\s?['\u2019]?\s?clock\b|h(?:rs?|ours?)?\b)"
    r"|\b(?:half|quarter)\s+(?:past|to)\b",
    re.IGNORECASE,
)
# "at 8": an hour, not a count, if no noun follows.
_HOUR = re.compile(
    rf"\b(?:at|from|until|till|by|before|after)\s+(?:[01]?\d|2[0-4]|{_SPELT})\b"
    r"(?![^\W_]|[-.,:/]\d|\s*[^\w\s.,;:!?)])\W*(?P<next>\w*)",
    re.IGNORECASE,
)

_UNITS_OF_TIME = frozenset(map(stem, TIME_UNITS))
# With their capital: "no more than 30 may attend" has no date.
_MONTHS = rf"(?-i:{'|'.join(sorted(month.capitalize() for month in MONTHS))})"
# "At seven", "1 June 2025", "since 2019": times, which count no things.
_TIMES = re.compile(
    rf"\bat\s+(?:[01]?\d|2[0-4]|{_SPELT})\b(?=\W*(?:$|(?:{_STOPS})\b))"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTHS}\b(?:,?\s+\d{{4}}\b)?"
    rf"|\b{_MONTHS}\s+\d{{1,2}}\b(?:,?\s+\d{{4}}\b)?"
    # "a capacity of 2000" and "in 2000 houses" may be counts
    r"|\b(?:in|since|until|before|after|from|year\s+of)"
    r"\s+(?:19|20)\d\d\b(?:\s+(?P<noun>\w+))?",
    re.IGNORECASE,
)


def form_fit(question: QuestionAnalysis, text: str) -> float:
    """Return how well a text has the requested form.

    A number that the question itself names is no answer, nor is the number of a rule; a
    lower bound does not answer a question about an upper one.

    Returns:
        1 if the text has the form, 0 if it lacks it, .5 if no form is requested; for a
        definition, how explicit it is.
    """
    if question.form is Form.DEFINITION:
        return grade(question.term, text, question.wordings)
    text = _OF_RULES.sub(" ", text)
    if _wrong_bound(question, text) or _bounds_its_subject(question, text):
        return 0.0
    if question.form is Form.TIME:
        return float(_tells_when(question, text))
    if question.form is not Form.NUMBER:
        return 0.5
    number_fit = _tells_how_often if question.often else partial(_number_fit, question)
    return float(number_fit(text))


def sentence_fit(question: QuestionAnalysis, text: str) -> float:
    """Return how well a sentence has the requested form and kind of amount.

    The rows of a table have their units in the header, and are not judged by it.

    Args:
        question: The question.
        text: The sentence.

    Returns:
        As `form_fit` does, 0 for an amount of another kind.
    """
    kind = question.amount
    if kind is None:
        number = question.form is Form.NUMBER
        return form_fit(
            question, drop_conditions(question.text, text) if number else text
        )
    bare = _OF_RULES.sub(" ", text)
    if not gives_amount(kind, bare):
        return 0.0
    fit = form_fit(question, drop_conditions(question.text, text))
    if fit or _wrong_bound(question, bare):
        return fit
    return UNCOUNTED * needs_no_number(kind, bare)


def _number_fit(question: QuestionAnalysis, text: str) -> float:
    """Return how well a number answers how many or how long."""
    asked, sentence = question.read.numbers, read(_drop_other_numbers(question, text))
    if not sentence.numbers - asked:
        return 0.0
    if not question.counted:
        return 1.0
    if there := _ARE_THERE.search(question.text):
        return float(_is_counted(stem(there["noun"]), asked, sentence))
    for place, word in enumerate(sentence.words):
        if read(word).numbers - asked:
            around = read(
                " ".join(sentence.words[max(place - NEAR, 0) : place + NEAR + 1])
            )
            if any(match(c, around.stems) for c in question.counted):
                return 1.0
    return UNCOUNTED


def _drop_other_numbers(question: QuestionAnalysis, text: str) -> str:
    """Return a text without the numbers that count nothing that is asked for."""
    text = _NO_COUNT.sub(" ", text)
    if question.counted and not question.counted & _UNITS_OF_TIME:
        text = _TIMES.sub(partial(_drop_time, question), _CLOCK.sub(" ", text))
    if _HOW_MANY.search(question.text):
        text = _UNCOUNTABLE.sub(partial(_drop_amount, question), text)
    if _HOW_MUCH.search(question.text):
        text = _COUNTED_ONE.sub(partial(_drop_one, question), text)
    return text


def _drop_one(question: QuestionAnalysis, counted: re.Match[str]) -> str:
    """Return nothing of "one study loan", which is no amount that may be borrowed."""
    named = {stem(word) for word in counted["noun"].lower().split()}
    return " " if named & question.weights.keys() else counted[0]


def _drop_time(question: QuestionAnalysis, time: re.Match[str]) -> str:
    """Return nothing of a time; a year's number stays if the counted noun follows."""
    noun = time["noun"] or ""
    return time[0] if _is_asked(question, noun) else f" {noun} "


def _drop_amount(question: QuestionAnalysis, amount: re.Match[str]) -> str:
    """Return nothing of an amount, except for a share of the counted things."""
    of = _SHARE_OF.match(amount.string, amount.end())
    is_share = amount[0].lower().endswith(("%", "cent"))
    return amount[0] if is_share and of and _is_asked(question, of["noun"]) else " "


def _is_asked(question: QuestionAnalysis, noun: str) -> bool:
    """Return whether a noun of a text is the one that a question counts."""
    vocabulary = frozenset([stem(noun)])
    return bool(noun) and any(match(one, vocabulary) for one in question.counted)


def _is_counted(noun: str, asked: Vocabulary, sentence: Sentence) -> bool:
    """Return whether a number precedes a noun, or is said to be its number.

    "Rowing boats take four people" does not tell how many boats there are.
    """
    if _STATES_NUMBER.search(sentence.text) and match(noun, sentence.stems):
        return True
    if any(
        stems_match(noun, stem(label["noun"])) and read(label["number"]).numbers - asked
        for label in _LABEL.finditer(sentence.text)
    ):
        return True
    return any(
        read(word).numbers - asked and match(noun, _stems_after(place, sentence))
        for place, word in enumerate(sentence.words)
    )


def _stems_after(place: int, sentence: Sentence) -> Vocabulary:
    """Return the stems of the noun phrase that a number may count."""
    after = sentence.words[place + 1 : place + 1 + _BEFORE_NOUN]
    return frozenset(
        map(stem, takewhile(lambda word: word.lower() not in _ENDS_NOUNS, after))
    )


def _tells_how_often(text: str) -> bool:
    """Return True for "twice", "every year"; a period alone is no frequency."""
    named = not read(text).lower_words.isdisjoint(FREQUENCY)
    return named or bool(_EVERY.search(text))


def _tells_when(question: QuestionAnalysis, text: str) -> bool:
    """Return True for a date, period, time, or a day not named by the question."""
    days = DAYS - question.read.lower_words
    if not read(text).lower_words.isdisjoint(_TIME_WORDS | _TEMPORAL | days):
        return True
    hours = (hour["next"].lower() for hour in _HOUR.finditer(text))
    return bool(_DATE.search(text) or _CLOCK.search(text)) or any(
        not after or after in STOP_WORDS or after in DAYS for after in hours
    )


def _wrong_bound(question: QuestionAnalysis, text: str) -> bool:
    """Return True if the text gives the opposite bound of the requested one."""
    for asked, wrong in ((_UPPER, _LOWER), (_LOWER, _UPPER)):
        if asked.search(question.text) and not wrong.search(question.text):
            return bool(wrong.search(text)) and not asked.search(text)
    return False


def _bounds_its_subject(question: QuestionAnalysis, text: str) -> bool:
    """Return True if a bound is asked for and a text only says whom its rule is for."""
    bound = next((b for b in (_UPPER, _LOWER) if b.search(question.text)), None)
    if bound is None or bound.search(text) or _BINDS.search(text):
        return False
    return bool(_SUBJECT_BOUND.match(text))
