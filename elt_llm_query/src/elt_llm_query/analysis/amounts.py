"""What kind of amount a question asks for, and whether a text gives one.

"How much is the fee?" asks for money and "how long" for a period: a text with a number
of another kind does not answer. Nor does a number that only says whom a rule is for
("riders who are over 65").
"""

import re
from enum import StrEnum

from elt_llm_query.analysis.lexicon import (
    CURRENCIES,
    NUMBER_WORDS,
    STOP_WORDS,
    TIME_UNITS,
)


class Amount(StrEnum):
    """A kind of amount that has units or words of its own."""

    MONEY = "money"
    PERIOD = "period"
    TELEPHONE = "telephone"


_SPELT = "|".join(NUMBER_WORDS)
_NUMBER = rf"(?:\d[\d.,]{{0,20}}|\b(?:{_SPELT})\b)"
_UNITS = "|".join(sorted(TIME_UNITS))
_PAY = (
    r"costs?|pa(?:y|ys|id)|charged?|earn(?:s|ed)?|fees?|fares?|fines?|fined|rates?"
    r"|prices?|wages?|salary|salaries|deposits?|rents?|subscriptions?|premiums?|tolls?"
    r"|tariffs?|allowances?|bonus(?:es)?|stipends?|bursary|grants?"
)
_CURRENCIES = rf"(?:{'|'.join(sorted(CURRENCIES))})s?|per\s?cent|percent|percentage"
_MONEY_ASKED = re.compile(
    rf"\bhow\s+(?:much|high)\b(?!\s+(?:\w+\s+)?time\b).*\b(?:{_PAY})\b"
    r"|(?:^|[.,;:?]|\band\b)\W*what\b[^.;?]*\b(?:costs?|pay|paid|charged?)\W*$"
    rf"|\bwhat(?:\s+(?:is|are|was|were)|['\u2019]s)\s+the\s+(?:[\w-]+\s+){{0,2}}?"
    r"(?:fees?|fares?|prices?|costs?|salary|wages?|rent)\s+(?:of|for|to|per|from)\b"
    r"|^\W*(?:price|cost|fee|fare|salary|rent)\b",
    re.IGNORECASE,
)
_PERIOD_ASKED = re.compile(r"\bhow\s+(?:long|much\s+(?:\w+\s+)?time)\b", re.IGNORECASE)
_TELEPHONE_ASKED = re.compile(r"\bwhat\b.*\b(?:tele)?phone\s+numbers?\b", re.IGNORECASE)
# Answers without a number
_NO_MONEY = re.compile(
    r"(?<![\w-])free\b(?!\s+(?:to|from|time|days?|of\s+(?!charge))\b)|\bwithout\s+charge\b"
    r"|\bno\s+(?:\w+\s+)?(?:charge|fee|fine|cost|deposit|payment)s?\b|\bwaived\b"
    r"|\b(?:pays?|paid|costs?|is|are|charged?)\s+nothing\b(?!\s+(?:but|else|more))"
    r"|\bhalf\b|\bdoubled?\b|\btwice\b|\btriple\b|\bin\s+full\b|\bfull\s+pay\b",
    re.IGNORECASE,
)
_NO_END = re.compile(
    rf"\b(?:an?|each|every|half\s+an?)\s+(?:[\w-]+\s+)?(?:{_UNITS}|season|term|night)\b"
    r"|\b(?:until|till|indefinite(?:ly)?|permanent(?:ly)?|lifelong|overnight|unlimited)\b"
    r"|\bfor\s+(?:life|ever)\b|\bno\s+(?:time\s+)?limit\b|\bas\s+long\s+as\b",
    re.IGNORECASE,
)
_MONEY = re.compile(
    rf"[$\u20ac\u00a3\u00a5%\u2030]\s?\d|{_NUMBER}\s?[$\u20ac\u00a3\u00a5%\u2030]"
    rf"|\b(?-i:[A-Z]{{3}})\s?\d|{_NUMBER}\s+(?-i:[A-Z]{{3}})\b"
    rf"|{_NUMBER}\s+(?:\S+\s+)?(?:{_CURRENCIES})\b"
    # "two hours' pay", "a month's rent"
    rf"|\b(?:{_UNITS})['\u2019]s?\s+(?:{_PAY})\b",
    re.IGNORECASE,
)
# "a fee of 520", "38 until 30 September", "9.40 a week": no noun follows.
_BARE = re.compile(
    rf"(?<![\w.,/:-])(?:\d[\d.,]{{0,20}}\d|\d|(?:{_SPELT})\b)(?![\w:/-])"
    r"(?P<after>\W*)(?P<next>[^\W\d_]*)",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    rf"{_NUMBER}[\s-]+(?:[\w-]+\s+){{0,3}}?(?:{_UNITS}|decades?|nights?|seasons?"
    r"|(?:tri|se)mesters?|terms?|lessons?|rounds?|sessions?|pages?|words?|lines?"
    r"|characters?|bytes?|bits?|shifts?|matches|games|(?:centi|milli|kilo)?met(?:re|er)s?"
    r"|miles?|yards?|cm|mm|km|m|h|min|s|feet|foot|inch(?:es)?|ft|time)\b"
    rf"|\bfor\s+(?:the\s+)?(?:full\s+)?{_NUMBER}(?=\s*[,.;])"
    r"|\b\d{4}\b|\d[:.]\d\d\b",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d{3}|(?:\d\W?){4}")
_PAYS = re.compile(_PAY)
# Numbers that say whom a rule is for: "If fewer than three enter", "who are over 65",
# "with a break of more than 90 minutes".
_COMPARED = (
    r"(?:(?:more|fewer|less)\s+than|over|under|above|below|at\s+least|exceeding)"
)
_CONDITION = re.compile(
    r"\b(?:if|unless|whoever|who|which|that|whose|with|when(?:ever)?|where(?:ver)?)\b"
    # no verb of the rule itself: "a match that may last over ten minutes"
    r"(?:\s+(?!(?:is|are|may|must|shall|can|cannot|not|no|never|only|lasts?)\b)[^\s,;:.]+"
    rf"|\s+(?:is|are)(?=\s+{_COMPARED})){{0,8}}?\s+{_COMPARED}\s+{_NUMBER}",
    re.IGNORECASE,
)
_CONDITION_ASKED = re.compile(
    r"\b(?:must|need(?:s|ed)?|requires?|required|minimum|least|old|aged?|enough|count"
    r"|qualify|before|to\s+(?:be|get|become))\b",
    re.IGNORECASE,
)


def asked_amount(question: str) -> Amount | None:
    """Return the kind of amount that a question asks for; None if for another one.

    Args:
        question: The question.
    """
    if _TELEPHONE_ASKED.search(question):
        return Amount.TELEPHONE
    if _MONEY_ASKED.search(question):
        return Amount.MONEY
    return Amount.PERIOD if _PERIOD_ASKED.search(question) else None


def gives_amount(kind: Amount, text: str) -> bool:
    """Return whether a text has an amount of a kind.

    Args:
        kind: The kind.
        text: The text, without the numbers of its rules.
    """
    if kind is Amount.TELEPHONE:
        return bool(_DIGITS.search(text))
    if needs_no_number(kind, text):
        return True
    if kind is Amount.PERIOD:
        return bool(_PERIOD.search(text))
    return bool(_MONEY.search(text)) or any(map(_counts_nothing, _BARE.finditer(text)))


def needs_no_number(kind: Amount, text: str) -> bool:
    """Return whether a text gives an amount in words: "free", "until it is returned".

    Args:
        kind: The kind.
        text: The text.
    """
    if kind is Amount.TELEPHONE:
        return False
    return bool((_NO_MONEY if kind is Amount.MONEY else _NO_END).search(text))


def _counts_nothing(number: re.Match[str]) -> bool:
    """Return whether no counted noun follows a number."""
    after = number["next"].lower()
    if number["after"].strip() or not after or _PAYS.fullmatch(after):
        return True
    return after in STOP_WORDS and after not in TIME_UNITS


def drop_conditions(question: str, text: str) -> str:
    """Return a text without the numbers that only say whom or what a rule is for.

    Args:
        question: The question; one that asks for a condition ("how old must") keeps
            them.
        text: The text.
    """
    return text if _CONDITION_ASKED.search(question) else _CONDITION.sub(" ", text)
