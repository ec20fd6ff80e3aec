"""True and altered claims about passages of public rule books and handbooks.

Every case is made by a rule from a sentence of a passage, the same for the same data:
an altered one says what its passage does not say, a true one says the same in other
signs or words. The verifier has none of the word lists that alter a claim here.
"""

# ruff: noqa: ARG001, S311, SIM905 - every alteration takes the same arguments; seeded

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from elt_llm_query.analysis.lexicon import NUMBER_WORDS
from elt_llm_query.analysis.stems import pieces

PASSAGE = range(300, 1400)  # characters of a passage
SENTENCE = range(8, 45)  # words of a sentence that a claim is made of
NEIGHBOURS = 4  # other passages of the same document that are offered beside it

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


@dataclass(frozen=True)
class Passage:
    """A stretch of a document, and the others that are offered beside it."""

    document: str
    text: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClaimCase:
    """A claim about passage `S1`: what was done to the sentence, and how it is said."""

    kind: str
    form: str
    claim: str
    passage: Passage
    sentence: str
    true: bool = False


def read_passages(data: Path) -> list[Passage]:
    """Return the passages of the three sources, in order, each with its neighbours."""
    documents: dict[str, list[str]] = {}
    for line in (data / "obliqa/corpus.jsonl").read_text().splitlines():
        row = json.loads(line)
        name = f"rulebook {row['metadata']['DocumentID']}"
        documents.setdefault(name, []).append(row["text"])
    for path in sorted((data / "drug_monographs/data").glob("*.json")):
        documents[path.stem] = [row["text"] for row in json.loads(path.read_text())]
    for path in sorted((data / "nist_sp800_63_4").rglob("sec*.md")):
        name = str(path.relative_to(data))
        documents[name] = re.split(r"\n\s*\n", path.read_text())
    passages = []
    for name, parts in documents.items():
        texts = list(_join(parts))
        for i, text in enumerate(texts):
            near = texts[max(i - 2, 0) : i] + texts[i + 1 : i + 1 + NEIGHBOURS]
            passages.append(Passage(name, text, tuple(near[:NEIGHBOURS])))
    return passages


def make_altered(passages: Sequence[Passage], count: int, seed: int) -> list[ClaimCase]:
    """Return `count` cases of each kind and form that say what is not so."""
    return [
        ClaimCase(kind, form, say(changed, passage, rng), passage, sentence)
        for kind, alter in ALTERATIONS.items()
        for form, say in FORMS.items()
        for rng in [random.Random(f"{seed} {kind} {form}")]
        for sentence, changed, passage in _take(passages, alter, count, rng)
    ]


def make_true(passages: Sequence[Passage], count: int, seed: int) -> list[ClaimCase]:
    """Return `count` cases of each kind that say what the passage says."""
    cases = []
    for kind, alter in (NOISE | PARAPHRASES).items():
        rng = random.Random(f"{seed} {kind}")
        for i, (sentence, changed, passage) in enumerate(
            _take(passages, alter, count, rng)
        ):
            form = (
                ("unquoted", "quoted", "beside")[i % 3] if kind in NOISE else "unquoted"
            )
            claim = FORMS[form](changed, passage, rng)
            cases.append(ClaimCase(kind, form, claim, passage, sentence, true=True))
    return cases


Alter = Callable[[str, Passage, random.Random], str | None]


def _take(
    passages: Sequence[Passage], alter: Alter, count: int, rng: random.Random
) -> Iterator[tuple[str, str, Passage]]:
    """Up to `count` sentences that can be altered, no passage more than twice."""
    taken = 0
    order = list(passages)
    for _ in range(2):
        rng.shuffle(order)
        for passage in order:
            if taken == count:
                return
            choices = split_passage(passage.text)
            rng.shuffle(choices)
            for sentence in choices:
                changed = alter(sentence, passage, rng)
                if changed and changed not in " ".join(passage.text.split()):
                    taken += 1
                    yield sentence, changed, passage
                    break


def _join(parts: Sequence[str]) -> Iterator[str]:
    text = ""
    for part in parts:
        if len(text) + len(part) > PASSAGE.stop and len(text) in PASSAGE:
            yield text
            text = ""
        text = f"{text}\n\n{part.strip()}".strip()
        if len(text) >= PASSAGE.stop:
            text = ""  # a single part that is too long
    if len(text) in PASSAGE:
        yield text


def split_passage(text: str) -> list[str]:
    """Return the plain sentences of a passage, each on one line."""
    flat = [" ".join(text[a:b].split()) for a, b in pieces(text)]
    return [
        s
        for s in flat
        if len(s.split()) in SENTENCE
        and re.match(r"[A-Z]", s)
        and s.endswith(".")
        and '"' not in s
        and not re.search(r"[\[\]|*#<>\u201c\u201d]", s)
    ]


def _swap(sentence: str, span: tuple[int, int], by: str) -> str:
    return sentence[: span[0]] + by + sentence[span[1] :]


def _one(
    pattern: re.Pattern[str], text: str, rng: random.Random
) -> re.Match[str] | None:
    matches = list(pattern.finditer(text))
    return rng.choice(matches) if matches else None


def alter_number(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """Another number; every second time one that the passage has elsewhere."""
    number = _one(_NUMBER, sentence, rng)
    if not number:
        return None
    others = sorted(set(_NUMBER.findall(passage.text)) - {number[0]})
    if others and rng.random() < 0.5:
        return _swap(sentence, number.span(), rng.choice(others))
    value = number[0]
    new = (
        f"{float(value) * rng.choice((2, 10)):g}"
        if "." in value
        else str(int(value) + rng.choice((1, 2, 10, 100)))
    )
    return _swap(sentence, number.span(), new)


def alter_unit(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """The same number with another unit."""
    for unit, *others in rng.sample(UNITS, len(UNITS)):
        match = re.search(rf"(?<=\d)\s*{re.escape(unit)}(?!\w)", sentence)
        if match:
            new = rng.choice(others)
            gap = match[0][: len(match[0]) - len(match[0].lstrip())]
            return _swap(sentence, match.span(), gap + new)
    return None


def alter_entity(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """Another name; every second time one that the passage has elsewhere."""
    name = _one(_NAME, sentence, rng)
    if not name:
        return None
    near = sorted({n for n in _NAME.findall(passage.text) if n not in sentence})
    pool = near if near and rng.random() < 0.5 else _NAMES
    new = rng.choice(pool)
    if new in name[0] or name[0] in new or new in sentence:
        return None
    return _swap(sentence, name.span(), new)


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
    return _swap(sentence, word.span(), ANTONYM[word[0]])


def alter_negation(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """A "not" more, or one fewer."""
    no = _one(_NO, sentence, rng)
    if no:
        return _swap(sentence, no.span(), "")
    verb = _one(_AUX, sentence, rng)
    if not verb:
        return None
    return _swap(
        sentence, verb.span(), f"{verb[0]} not".replace("been not", "not been")
    )


def _alter_phrase(
    table: dict[str, tuple[str, ...]], sentence: str, rng: random.Random
) -> str | None:
    for phrase in rng.sample(sorted(table), len(table)):
        match = re.search(rf"\b{phrase}\b(?! not\b)", sentence)
        if match:
            return _swap(sentence, match.span(), rng.choice(table[phrase]))
    return None


def alter_modality(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """A duty for a permission, or the reverse."""
    return _alter_phrase(MODALS, sentence, rng)


def alter_quantifier(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """All for some, at least for at most ..."""
    return _alter_phrase(QUANTIFIERS, sentence, rng)


def alter_date(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """Another year, month or day."""
    date = _one(_DATE, sentence, rng)
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
    return _swap(sentence, date.span(), new)


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
    verb = _one(_ACTIVE, sentence, rng)
    if not verb or verb[4] in ("not", "be", "also", "only") or verb[2] == verb[6]:
        return None
    turned = f"{verb[1]} {verb[6]} {verb[3]} {verb[4]} {verb[5]} {verb[2]}"
    return _swap(sentence, verb.span(), turned)


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
}


def break_lines(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """Line breaks for spaces."""
    spaces = [m.start() for m in re.finditer(" ", sentence)]
    for at in rng.sample(spaces, min(3, len(spaces))):
        sentence = _swap(sentence, (at, at + 1), "\n")
    return sentence


def hyphenate(sentence: str, passage: Passage, rng: random.Random) -> str | None:
    """A word of eight letters or more hyphenated over a line break."""
    word = _one(re.compile(r"\b[a-z]{8,}\b"), sentence, rng)
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
                return _swap(sentence, match.span(), new)
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
            return _swap(sentence, match.span(), by_value[match[0]])
    for word in re.finditer(r"\b[a-z]+\b", sentence):
        value = NUMBER_WORDS.get(word[0], "")
        if value.isdigit() and 1 < int(value) <= 20:
            return _swap(sentence, word.span(), value)
    return None


PARAPHRASES: dict[str, Alter] = {
    "order": reorder,
    "voice": change_voice,
    "synonyms": use_synonym,
    "number words": spell_number,
}


def say_plainly(changed: str, passage: Passage, rng: random.Random) -> str:
    """The claim with its label."""
    return f"{changed[:-1]} [S1]."


def say_in_quotes(changed: str, passage: Passage, rng: random.Random) -> str:
    """The claim as a quotation."""
    return f'The document says: "{changed}" [S1]'


def say_beside(changed: str, passage: Passage, rng: random.Random) -> str:
    """The claim beside a quotation that is true."""
    true = min(split_passage(passage.text), key=len, default=passage.text).rstrip(".")
    return f'{changed[:-1]}, since it says "{true}" [S1].'


FORMS: dict[str, Callable[[str, Passage, random.Random], str]] = {
    "quoted": say_in_quotes,
    "unquoted": say_plainly,
    "beside": say_beside,
}
