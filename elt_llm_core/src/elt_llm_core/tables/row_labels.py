"""The column that names the rows of a table, which need not be its first."""

import re
from collections.abc import Sequence

from elt_llm_core.tables.column_types import Amount, Kind, Typed

# What is written above identifiers in English, German, Spanish and French; in a header
# such as "Inv. no." or "Asset ID" it is the last word.
_IDENTIFIER = re.compile(
    r"(?:(?:^|[\W_])(?:ids?|identifiers?|no|nos|nr|num|n[\u00ba\u00b0]|numbers?|codes?"
    r"|keys?|refs?|references?|tags?|serials?|kennung|kennzeichen|nummer|k\u00fcrzel"
    r"|schl\u00fcssel|c\u00f3digo|clave|n\u00famero|num\u00e9ro|#)"
    r"|(?<=\w)(?:nummer|kennung|schl\u00fcssel))\W*$",
    re.IGNORECASE,
)
# "AssetID", "FahrzeugNr"; the case tells them from "Grid", "Paid" and "Casino".
_JOINED_IDENTIFIER = re.compile(r"(?<=[a-z\u00df-\u00ff])(?:ID|Id|Nr|No)\W*$")
_SERIAL = re.compile(
    r"|steps?|rank|pos|positions?|place|lines?|rows?|items?|seq|sequence|s\.?\s*no"
    r"|schritt|rang|zeile|paso|fila|\u00e9tape|ligne",
    re.IGNORECASE,
)
# "Kundenname" is a name in German; "Subtitle" is no title.
_NAME = re.compile(
    r"(?:\b(?:name|tit(?:le|el)|bezeichnung|nombre|nom|t[i\u00ed]tul[oa]?|titre)"
    r"|(?<=\w)(?:name|bezeichnung))$",
    re.IGNORECASE,
)
# A first name alone names no one.
_NAME_ALONE = re.compile(
    r"(?:(?:full|display|official|legal)\s+)?(?:name|tit(?:le|el)|bezeichnung|nombre|nom"
    r"|t[i\u00ed]tulo|titre)(?:\s+comple\w+)?",
    re.IGNORECASE,
)
# Before "no." or "ID" these do not say what the rows are; an abbreviation neither.
_ANYTHING = re.compile(
    r"items?|assets?|serial|inventory|inv|internal|intern\w*|references?|refs?|records?"
    r"|entry|lines?|rows?|running|lfd|laufende|unique|steps?|rank|pos|positions?|place"
    r"|\w+\.",
    re.IGNORECASE,
)
# Persons and firms that have to do with a thing, in the last word of a header.
_PERSON = re.compile(
    r"(?:owner|responsible|accountable|tenant|supplier|vendor|maker|keeper|holder"
    r"|manager|contact|person|people|customer|client|author|assignee|lead|leader|employer"
    r"|operator|occupant|occupier|resident|landlord|lessee|borrower|lender|driver|user"
    r"|steward|custodian|inspector|contractor|manufacturer|provider|buyer|seller"
    r"|teacher|approver|reviewer|editor|chair|clerk|sponsor"
    r"|verantwortliche?|zust\u00e4ndige?|besitzer|eigent\u00fcmer|mieter|lieferant"
    r"|hersteller|kunde|fahrer|\w*(?:partner|leiter|halter|inhaber)"
    r"|responsab\w+|propietario|inquilino|proveedor|propri\u00e9taire|locataire"
    r"|fournisseur)(?:s|r|e|es|n|en|in)?",
    re.IGNORECASE,
)
# What is said of a thing; it names none.
_REMARK = re.compile(
    r"(?:remark|note|comment|bemerkung|anmerkung|notiz|hinweis|kommentar"
    r"|observaci(?:\u00f3n|ones)|nota|comentario|remarque|commentaire)(?:s|en|e|n)?",
    re.IGNORECASE,
)
# Rows may have these as names only where the title or the first header says so.
_ATTRIBUTE = re.compile(
    r"(?:reason|cause|status|state|result|purpose|usage|use|location"
    r"|add?ress|e-?mail|phone|telephone|link|url|type|kind|categor(?:y|ie)|class"
    r"|group|colou?r|size|delay|period|frequency|from|to|date|time|value|motivo|motif"
    r"|\w*(?:zweck|grund|standort|status))(?:s|es|e|n|en)?",
    re.IGNORECASE,
)
# "Owner of the record" is an owner; "Signed off by" and "Sent to" are persons.
_PREPOSITION = re.compile(r"\b(?:of|for|in|on|at|from|per)\b.*", re.IGNORECASE)
_BY = re.compile(r"\b(?:by|with|to|durch|von|por|par)$", re.IGNORECASE)
_CODE = re.compile(r"(?=\D*\d)[\w.:/#-]+")  # "A01", "LAB-3", "4711"; no sentence
_LETTERS = re.compile(r"[A-Z]{2,5}")
_WORD = re.compile(r"[^\W_]+")
_HEADER_WORD = re.compile(r"[^\W_]+\.?")
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_BARE = re.compile(r"[\d.]+")
# Characters. The names in the inventories of the benchmarks have up to 52; a column of
# requirements or remarks has sentences, which name nothing.
_LONGEST_NAME = 80
_SHORTENED = 3  # letters of an abbreviation: "Cust. no." numbers customers


def label_column(types: Sequence[Typed], headers: Sequence[str], title: str) -> int:
    """Return the column that names the rows.

    It is the first, unless that has serial numbers or identifiers below a header
    that says so ("No", "Step", "Asset ID"). Then it is the first column of unique
    names with a header in the title of the table, or one that is the noun of the
    first ("Asset ID", "Asset name") or no more than "Name", or shares that noun
    ("Asset label"), or says "name". Without one it is the first column of unique
    names whose header is neither of remarks ("Note"), of persons ("Owner") nor of
    an attribute ("Location"); otherwise the column of the identifiers. If their
    header says what the rows are ("Room number"), a column with another noun takes
    their place only if it is in the title, and the rows' own noun is not. The same
    holds for codes of capitals below such a header ("Airport code": LHR). Codes
    below another header ("Grade": G1, G2) are names themselves, unless a later
    header is in the title.

    Args:
        types: The columns with their values.
        headers: The headers of the columns.
        title: The title of the table, such as the name of its sheet.
    """
    if len(types) < 2:  # noqa: PLR2004 - there is nothing to choose
        return 0
    first = types[0].values
    serial = len(first) > 1 and all(v == n for n, v in enumerate(first, 1))
    if not serial and not _are_codes(first):
        titled = _are_letters(first) and _is_identifier(headers[0])
        return _titled_names(types, headers, title) if titled else 0
    numbered = _is_identifier(headers[0]) or (serial and _is_serial(headers[0]))
    if not numbered and all(_BARE.fullmatch(str(v)) for v in first):
        return 0
    # The headers are compared first: a table may have 100,000 rows.
    chosen = _candidates(headers, title, numbered=numbered)
    named = next((c for c in chosen if _are_names(types[c])), 0)
    if named or not numbered or _own_nouns(headers[0]):
        return named
    things = (c for c in range(1, len(types)) if _is_thing(headers[c]))
    return next((c for c in things if _are_names(types[c])), 0)


def _are_letters(values: Sequence[object]) -> bool:
    """Return whether each value is a code of two to five capitals: "LHR"."""
    codes = [str(v) for v in values if v is not None]
    return (
        len(codes) > 1
        and len({*codes}) == len(codes)
        and all(_LETTERS.fullmatch(code) for code in codes)
    )


def _titled_names(types: Sequence[Typed], headers: Sequence[str], title: str) -> int:
    """Return the column of names that the title has, beside a column of letter codes.

    A code alone ("Code", "Meaning") may itself be what its table is of.
    """
    chosen = _candidates(headers, title, numbered=False)
    return next((c for c in chosen if _are_names(types[c])), 0)


def _candidates(headers: Sequence[str], title: str, *, numbered: bool) -> list[int]:
    """Return the columns whose headers may be those of names, the likeliest first."""
    own = _own_nouns(headers[0])
    later = [c for c in range(1, len(headers)) if not _has_word(headers[c], _REMARK)]
    same = [c for c in later if _is_same_noun(headers[0], headers[c])]
    shared = _sharing_columns(headers, later, same)
    titled = [c for c in later if _is_in_title(headers[c], title)]
    # Rooms in "Rooms and tenants" are no tenants, nor are flights "by destination".
    if any(_is_in_title(word, title) for word in own):
        titled = [c for c in titled if c in shared]
    elif own:
        titled = [c for c in titled if c in shared or _is_thing(headers[c])]
    if not numbered:
        return titled
    alone = [c for c in later if _NAME_ALONE.fullmatch(_plain(headers[c]))]
    things = [] if own else [c for c in later if _is_thing(headers[c])]
    shared.sort(key=lambda c: not _says_name(headers[c]))
    named = (c for c in things if _says_name(headers[c]))
    return [*titled, *same, *alone, *shared, *named]


def _sharing_columns(
    headers: Sequence[str], later: Sequence[int], same: Sequence[int]
) -> list[int]:
    """Return the columns with a noun of the first header that may name its rows.

    A project manager names no project. "Customer" names the rows of "Cust. no.", if
    no other header has a word that may be meant by the abbreviation.
    """
    shared = [c for c in later if _shares_noun(headers[0], headers[c])]
    rests = {c: _words_before_name(headers[c]) for c in shared if c not in same}
    whole = {rest for rest in rests.values() if len(rest) == 1}
    return [
        c for c in shared if c in same or _is_thing(headers[c]) or {rests[c]} == whole
    ]


def _is_identifier(header: str) -> bool:
    return bool(_IDENTIFIER.search(header) or _JOINED_IDENTIFIER.search(header))


def _is_serial(header: str) -> bool:
    return bool(_SERIAL.fullmatch(header.strip(" .:")))


def _nouns(header: str) -> list[str]:
    """Return the words of a header of identifiers without "no." or "ID"."""
    rest = _JOINED_IDENTIFIER.sub("", _IDENTIFIER.sub("", header))
    return _HEADER_WORD.findall("" if _is_serial(header) else rest)


def _own_nouns(header: str) -> list[str]:
    """Return the words of a header of identifiers that tell what the rows are."""
    return [w for w in _nouns(header) if not _ANYTHING.fullmatch(w)]


def _is_same_noun(first_header: str, header: str) -> bool:
    """Return True for "Asset" or "Asset name" after "Asset ID"."""
    nouns = _nouns(first_header)
    head = (_own_nouns(first_header) or nouns)[-1:]
    rest = _words_before_name(header)
    return (
        bool(rest) and {*rest} <= _noun_forms(nouns) and rest[-1] in _noun_forms(head)
    )


def _shares_noun(first_header: str, header: str) -> bool:
    """Return True for "Asset label" after "Asset ID", also if abbreviated."""
    forms = _noun_forms(_nouns(first_header))
    rest = _words_before_name(header)
    short = tuple(w for w in forms if len(w) >= _SHORTENED)
    return any(w in forms or w.startswith(short) for w in rest)


def _noun_forms(nouns: Sequence[str]) -> set[str]:
    """Return nouns as they are written alone: "Boots-Nr.": Boot, "Kundennr.": Kunde."""
    forms = {w.casefold().rstrip(".") for w in nouns}
    return forms | {w.removesuffix(end) for w in forms for end in "sn"}


def _words_before_name(header: str) -> tuple[str, ...]:
    return tuple(w.casefold() for w in _WORD.findall(_NAME.sub("", _plain(header))))


def _says_name(header: str) -> bool:
    return bool(_NAME.search(_plain(header)))


def _plain(header: str) -> str:
    return _IN_BRACKETS.sub("", header).strip()


def _is_thing(header: str) -> bool:
    """Return False for the header of a remark, of an attribute or of persons."""
    says = _has_word(header, _REMARK) or _has_word(header, _ATTRIBUTE)
    return not (says or _is_person(header))


def _is_person(header: str) -> bool:
    plain = _NAME.sub("", _plain(header))
    return bool(_BY.search(plain.strip())) or _has_word(plain, _PERSON)


def _has_word(header: str, pattern: re.Pattern[str]) -> bool:
    """Return True if the word that a header is about is of this kind."""
    plain = _plain(header)
    words = _WORD.findall(_PREPOSITION.sub("", plain)) or _WORD.findall(plain)
    return bool(words) and bool(pattern.fullmatch(words[-1]))


def _are_codes(values: Sequence[Amount | None]) -> bool:
    """Return True if each row has a code of its own."""
    codes = all(v is not None and _CODE.fullmatch(str(v)) for v in values)
    return codes and 1 < len(values) == len({str(v) for v in values})


def _are_names(column: Typed) -> bool:
    """Return True if each row has a short text of its own that is no code."""
    if column.kind is not Kind.TEXT:
        return False
    texts = [str(v) for v in column.values if v]
    return (
        len({t.casefold() for t in texts}) == len(column.values)
        and all(len(t) <= _LONGEST_NAME for t in texts)
        and not all(map(_CODE.fullmatch, texts))
    )


def _is_in_title(header: str, title: str) -> bool:
    """Return True for "Application" below the title "Applications", plural or not."""
    short = header.casefold().strip()
    forms = {short, f"{short}s", f"{short}es", f"{short}e", f"{short}n", f"{short}en"}
    forms |= {f"{short[:-1]}ies"} if short.endswith("y") else set()
    line = f" {' '.join(_WORD.findall(title.casefold()))} "
    return bool(short) and any(f" {form} " in line for form in forms)
