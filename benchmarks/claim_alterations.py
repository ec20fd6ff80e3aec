"""Alterations of a sentence that make it say what its passage does not say."""

# ruff: noqa: ARG001, SIM905 - every alteration takes the same arguments

import random
import re
from itertools import combinations

from claim_passages import Alter, Passage, choose_match, replace_span, split_passage

_ANTONYMS = """
    increase/decrease increases/decreases increased/decreased higher/lower high/low
    before/after above/below minimum/maximum more/less internal/external
    direct/indirect public/private permanent/temporary valid/invalid
    successful/unsuccessful sufficient/insufficient appropriate/inappropriate
    possible/impossible accept/reject accepted/rejected approve/refuse
    approved/refused include/exclude includes/excludes including/excluding
    present/absent active/inactive early/late earlier/later begin/end start/stop
    buy/sell buyer/seller lender/borrower employer/employee assets/liabilities
    asset/liability debit/credit gain/loss profit/loss advantage/disadvantage
    strong/weak stronger/weaker rapid/slow mild/severe common/rare acute/chronic
    safe/dangerous effective/ineffective primary/secondary first/last open/closed
    physical/logical local/remote online/offline symmetric/asymmetric
    encrypt/decrypt encrypted/decrypted secure/insecure trusted/untrusted
    known/unknown voluntary/mandatory optional/mandatory income/expense
    input/output upper/lower short/long shorter/longer large/small larger/smaller
    positive/negative raise/reduce raised/reduced grant/deny granted/denied
    appoint/dismiss appointed/dismissed protect/harm benefit/harm
    oral/intravenous hypotension/hypertension hypoglycemia/hyperglycemia
"""
_PAIRS = [pair.split("/") for pair in _ANTONYMS.split()]
ANTONYM = {b: a for a, b in _PAIRS} | dict(map(tuple, _PAIRS))
UNITS = (
    ("mg", "g", "mcg"),
    ("mL", "L"),
    ("minutes", "hours", "days"),
    ("hours", "days"),
    ("days", "weeks", "months", "years"),
    ("months", "days", "years"),
    ("years", "months", "weeks"),
    ("%", " mg", " basis points"),
    ("bits", "bytes"),
    ("kg", "g"),
    ("weeks", "months"),
)
MODALS = {
    "must": ("may", "need not"),
    "shall": ("may", "need not"),
    "should": ("must", "may"),
    "may": ("must", "shall"),
    "can": ("must",),
    "will": ("may",),
}
QUANTIFIERS = {
    "all": ("some", "a few"),
    "any": ("every", "no"),
    "each": ("any one", "one"),
    "every": ("some",),
    "some": ("all",),
    "at least": ("at most", "up to"),
    "at most": ("at least",),
    "most": ("all", "few"),
    "only": ("not only", "also"),
    "both": ("neither", "one of the"),
    "either": ("both",),
    "many": ("few", "all"),
    "always": ("sometimes", "usually"),
    "usually": ("always",),
    "more than": ("less than",),
    "less than": ("more than",),
    "one or more": ("exactly one",),
}
MONTHS = (
    "January February March April May June July August September October November "
    "December"
).split()
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b")
_DATE = re.compile(rf"{_MONTH.pattern}(?:\s+\d{{1,2}})?,?\s+\d{{4}}|\b(?:19|20)\d\d\b")
_NUMBER = re.compile(r"(?<![\w.,/-])\d+(?:\.\d+)?(?![\w./-])")
_NAME = re.compile(
    r"(?<=[a-z,] )(?:[A-Z][\w-]+(?: (?:of )?[A-Z][\w-]+){0,3}|[A-Z]{2,})"
)
_AUX = re.compile(
    r"\b(?:is|are|was|were|must|shall|should|may|can|will|has been|have been)\b"
)
_NO = re.compile(r" not\b| (?:never)\b")


def alter_number(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """Another number; every second time one that the passage has elsewhere."""
    number = choose_match(_NUMBER, sentence, rng)
    if not number:
        return None
    others = sorted(set(_NUMBER.findall(passage.text)) - {number[0]})
    if others and rng.random() < 0.5:
        return replace_span(sentence, number.span(), rng.choice(others))
    value = number[0]
    new = (
        f"{float(value) * rng.choice((2, 10)):g}"
        if "." in value
        else str(int(value) + rng.choice((1, 2, 10, 100)))
    )
    return replace_span(sentence, number.span(), new)


def alter_unit(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """The same number with another unit."""
    for unit, *others in rng.sample(UNITS, len(UNITS)):
        match = re.search(rf"(?<=\d)\s*{re.escape(unit)}(?!\w)", sentence)
        if match:
            new = rng.choice(others)
            gap = match[0][: len(match[0]) - len(match[0].lstrip())]
            return replace_span(sentence, match.span(), gap + new)
    return None


def alter_entity(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """Another name; every second time one that the passage has elsewhere."""
    name = choose_match(_NAME, sentence, rng)
    if not name:
        return None
    near = sorted({n for n in _NAME.findall(passage.text) if n not in sentence})
    pool = near if near and rng.random() < 0.5 else _NAMES
    new = rng.choice(pool)
    if new in name[0] or name[0] in new or new in sentence:
        return None
    return replace_span(sentence, name.span(), new)


_NAMES = """
    Metformin Warfarin Ibuprofen Atorvastatin Verifier Subscriber Regulator Registrar
    Tribunal Trustee Auditor Custodian Germany Singapore Microsoft Treasury Parliament
    Minister Lipitor Insulin Aspirin Kerberos Fund Bank Issuer Borrower Court Council
""".split()


def alter_antonym(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """The opposite of one word."""
    found = [m for m in re.finditer(r"\b[a-z]+\b", sentence) if m[0] in ANTONYM]
    if not found:
        return None
    word = rng.choice(found)
    return replace_span(sentence, word.span(), ANTONYM[word[0]])


def alter_negation(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """A "not" more, or one fewer."""
    no = choose_match(_NO, sentence, rng)
    if no:
        return replace_span(sentence, no.span(), "")
    verb = choose_match(_AUX, sentence, rng)
    if not verb:
        return None
    return replace_span(
        sentence, verb.span(), f"{verb[0]} not".replace("been not", "not been")
    )


def _alter_phrase(
    table: dict[str, tuple[str, ...]], sentence: str, rng: random.Random
) -> str | None:
    for phrase in rng.sample(sorted(table), len(table)):
        match = re.search(rf"\b{phrase}\b(?! not\b)", sentence)
        if match:
            return replace_span(sentence, match.span(), rng.choice(table[phrase]))
    return None


def alter_modality(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """A duty for a permission, or the reverse."""
    return _alter_phrase(MODALS, sentence, rng)


def alter_quantifier(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """All for some, at least for at most ..."""
    return _alter_phrase(QUANTIFIERS, sentence, rng)


def alter_date(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """Another year, month or day."""
    date = choose_match(_DATE, sentence, rng)
    if not date:
        return None
    text = date[0]
    month = _MONTH.search(text)
    if month and rng.random() < 0.5:
        new = text.replace(month[0], rng.choice([m for m in MONTHS if m != month[0]]))
    else:
        new = re.sub(
            r"\d+$", lambda m: str(int(m[0]) + rng.choice((-3, -1, 1, 2, 10))), text
        )
    return replace_span(sentence, date.span(), new)


def take_other_chunk(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """A sentence of a passage that is offered under another label."""
    choices = [s for other in passage.others for s in split_passage(other)]
    return rng.choice(choices) if choices else None


_ACTIVE = re.compile(
    r"\b((?:[Tt]he|[Aa]n?|[Ee]ach|[Aa]ny)) (\w+) (must|shall|may|should|will|can) "
    r"(\w+) "
    r"(the|an?|any|each) (\w+)\b"
)


def swap_roles(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """Who acts and on whom, the other way round."""
    verb = choose_match(_ACTIVE, sentence, rng)
    if not verb or verb[4] in ("not", "be", "also", "only") or verb[2] == verb[6]:
        return None
    turned = f"{verb[1]} {verb[6]} {verb[3]} {verb[4]} {verb[5]} {verb[2]}"
    return replace_span(sentence, verb.span(), turned)


def exchange_numbers(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """Two numbers of the sentence in each other's place; no two of one list."""
    numbers = list(_NUMBER.finditer(sentence))
    pairs = [
        (one, other)
        for one, other in combinations(numbers, 2)
        if one[0] != other[0]
        and re.search(r"[a-z]{4}", sentence[one.end() : other.start()])
    ]
    if not pairs:
        return None
    one, other = rng.choice(pairs)
    turned = replace_span(sentence, other.span(), one[0])
    return replace_span(turned, one.span(), other[0])


_END = r"(?:the |[A-Z0-9])(?:[\w.%-]+ ){0,2}[\w.%-]+"
_RANGE = re.compile(rf"\bfrom ({_END}) to ({_END})(?=[.,;:]| and | or )")


def turn_range(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """From the end to the beginning."""
    span = choose_match(_RANGE, sentence, rng)
    if not span or span[1] == span[2]:
        return None
    return replace_span(sentence, span.span(), f"from {span[2]} to {span[1]}")


ALTERATIONS: dict[str, Alter] = {
    "roles": swap_roles,
    "number": alter_number,
    "unit": alter_unit,
    "entity": alter_entity,
    "antonym": alter_antonym,
    "negation": alter_negation,
    "modality": alter_modality,
    "quantifier": alter_quantifier,
    "date": alter_date,
    "other chunk": take_other_chunk,
    "exchange": exchange_numbers,
    "range": turn_range,
}
