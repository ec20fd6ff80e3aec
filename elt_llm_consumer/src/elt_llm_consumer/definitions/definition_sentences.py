"""Definitions in running text and in lists of terms.

A candidate is a term and where its defining text begins: before a connector ("means"),
or set apart by layout. It becomes a definition when the end of that text is known.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.definition_records import (
    Definition,
    DefinitionSource,
    TextUnit,
    text_of_spans,
)
from elt_llm_consumer.definitions.headed_definitions import headed_term
from elt_llm_consumer.definitions.term_forms import (
    can_be_term,
    clean_term,
    is_title_case,
    spells_out,
    split_paren,
    strip_full_stop,
)
from elt_llm_query.analysis.stems import pieces

_MOST_LISTED_WORDS = 14  # of a term in a definition list
_MOST_MARKED_WORDS = 12  # of a quoted or bold term; longer ones are quotations
_REACH = 420  # characters before a connector: a term of 90, its qualifiers, a preface
_AHEAD = 250  # characters in which the beginning of another definition is recognised
_SEE = re.compile(r"\s*See(?:\s+also)?\s+(?P<target>[^.;\n]{2,90})[.;]?\s*")
# Each connector has one; the pattern takes twenty times as long to tell.
_CONNECTOR_MARKS = ("mean", "defin", "refer", "includ")
_AFTER_CONNECTOR = re.compile(r"\s*(?::-|[:,\u2013\u2014]|-(?=\s|$))?\s*")
_LEADS_LIST = re.compile(r"\s*(?::-?|[\u2013\u2014-])\s*\n")
_RULE_LABEL = re.compile(r"\d+(?:\.\w+)+")  # "3.2.Guidance.1" before a tab


class TermHead(NamedTuple):
    """A term before a connector.

    `start` is its position in the unit. `strong`: it is quoted or bold. `opens`: only a
    list mark precedes it on its line.
    """

    term: str
    synonyms: tuple[str, ...]
    start: int
    strong: bool
    opens: bool


class DefinitionCandidate(NamedTuple):
    """A term whose definition's end is not known yet; positions are the unit's.

    `head` is where the term begins, `start` where the defining text begins. `whole`: it
    runs to the end of the unit. `listed`: it is in a definition list.
    """

    term: str
    synonyms: tuple[str, ...]
    head: int
    start: int
    source: DefinitionSource = DefinitionSource.PROSE
    whole: bool = False
    listed: bool = False


def find_in_prose(text: str, units: Sequence[TextUnit]) -> list[Definition]:
    """Return the definitions of all units, in order."""
    definitions: list[Definition] = []
    for unit in units:
        candidates = _without_nested(sorted(_candidates(unit), key=lambda c: c.head))
        heads = [candidate.head for candidate in candidates]
        definitions += [
            _to_definition(text, unit, candidate, following)
            for candidate, following in zip(candidates, [*heads, None][1:], strict=True)
        ]
    return definitions


def _candidates(unit: TextUnit) -> Iterator[DefinitionCandidate]:
    headed = headed_term(unit)
    if headed is not None:
        yield DefinitionCandidate(
            term=headed.term,
            synonyms=headed.synonyms,
            head=0,
            start=headed.start,
            source=headed.source,
            whole=unit.defining,
        )
    by_layout = list(_layout_candidates(unit))
    yield from by_layout
    if not any(candidate.listed for candidate in by_layout):
        yield from _connector_candidates(unit)


def _without_nested(
    candidates: Sequence[DefinitionCandidate],
) -> list[DefinitionCandidate]:
    """Without candidates that begin inside another one's head."""
    kept: list[DefinitionCandidate] = []
    for candidate in candidates:
        if not kept or candidate.head >= kept[-1].start:
            kept.append(candidate)
    return kept


def _connector_candidates(unit: TextUnit) -> Iterator[DefinitionCandidate]:
    """Terms before a connector."""
    lowered = unit.text.lower()
    if not any(mark in lowered for mark in _CONNECTOR_MARKS):
        return
    for match in patterns.CONNECTOR.finditer(unit.text):
        head = _head_before(unit.text, match.start(), unit.defining)
        if head is None or not _connects(unit, match, head):
            continue
        leads_list = _LEADS_LIST.match(unit.text, match.end()) is not None
        source, start = DefinitionSource.PROSE, match.end()
        if match["reference"] is not None:
            # The defining text of a reference is "the meaning given in Rule 4.2".
            source, start = DefinitionSource.REFERENCE, _reference_start(match)
        elif after := _AFTER_CONNECTOR.match(unit.text, match.end()):
            start = after.end()
        yield DefinitionCandidate(
            term=head.term,
            synonyms=head.synonyms,
            head=head.start,
            start=start,
            source=source,
            whole=head.opens and (unit.defining or leads_list),
        )


def _reference_start(match: re.Match[str]) -> int:
    """Where a reference begins: after "has"."""
    verb = patterns.THE_MEANING.match(match.group())
    return match.start() + (verb.end() if verb else 0)


def _connects(unit: TextUnit, match: re.Match[str], head: TermHead) -> bool:
    """Whether the connector defines, instead of being a noun or a consequence."""
    rest = unit.text[match.end() : match.end() + 60]
    likely = head.strong or (unit.defining and head.opens)
    if match["includes"]:  # outside a list of definitions "includes" states a rule
        likely = head.strong and unit.defining
    if match["refers"] or match["includes"]:
        return likely
    if match["mean"] is None:
        return True
    if patterns.CONSEQUENCE.match(rest):
        return likely
    if head.strong:
        return not re.match(r"\s*of\b", rest)
    bare = match["mean"].lower() == "mean"
    return (head.opens or not bare) and patterns.NOT_AFTER.match(rest) is None


def _head_before(text: str, end: int, defining: bool) -> TermHead | None:
    """The term that ends right before `end`, or None if there is no term."""
    low = max(0, end - _REACH)
    window = text[low:end]
    for pattern in (patterns.QUOTED_HEAD, patterns.BOLD_HEAD):
        if match := pattern.search(window):
            return _marked_head(text, low, match)
    line = text.rfind("\n", 0, end) + 1
    if "\t" in text[line:end]:  # "Term<tab>means ...": a table as plain text
        return _bare_head_from(text, line, end, defining=True)
    heads = (
        _bare_head_from(text, start, end, defining)
        for start in _start_positions(text, end, defining)
    )
    return next((head for head in heads if head), None)


def _marked_head(text: str, low: int, match: re.Match[str]) -> TermHead | None:
    """The quoted or bold term of a match that begins `low` characters into `text`."""
    term = clean_term(match["term"])
    words = len(term.split())
    if not any(c.isalnum() for c in term) or words > _MOST_MARKED_WORDS:
        return None
    if patterns.SPOKEN.match(term):
        return None
    bold = match.re is patterns.BOLD_HEAD
    part = patterns.BOLD_PART if bold else patterns.QUOTED_PART
    others = part.finditer(match["others"] or "")
    names = [clean_term(other[part.groups]) for other in others]
    paren = clean_term(match["paren"] or "")
    if patterns.ACRONYM.fullmatch(paren):
        names.append(paren)
    start = low + match.start("head")
    return TermHead(
        term=term,
        synonyms=tuple(name for name in names if name),
        start=start,
        strong=True,
        opens=_opens_line(text, start),
    )


def _opens_line(text: str, start: int) -> bool:
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return not line.strip() or patterns.LEAD.fullmatch(line.rstrip() + " ") is not None


def _bare_head_from(text: str, start: int, end: int, defining: bool) -> TermHead | None:
    head = text[start:end]
    skipped = _preface_length(head)
    match = patterns.BARE_HEAD.fullmatch(head, skipped)
    if match is None:
        return None
    term = clean_term(match["term"])
    if not can_be_term(term, defining):
        return None
    paren = clean_term(match["paren"] or "")
    return TermHead(
        term=term,
        synonyms=(paren,) if patterns.ACRONYM.fullmatch(paren) else (),
        start=start + skipped,
        strong=False,
        opens=_opens_line(text, start + skipped),
    )


def _start_positions(text: str, end: int, defining: bool) -> Iterator[int]:
    """Where a bare term may begin: the last sentence's start, then later lines."""
    low = max(0, end - _REACH)
    marks = [m.end() for m in patterns.BOUNDARY.finditer(text, low, end)]
    marks = [m for m in marks if m < end] or [low]
    sentences = [
        m for m in marks if m == 0 or text[:m].rstrip()[-1:] in '.;:!?"\u201d\u2019)'
    ]
    if sentences:
        yield sentences[-1]
    if defining:
        last = sentences[-1] if sentences else -1
        yield from (mark for mark in marks if mark > last)


def _preface_length(head: str) -> int:
    """Length of list marks, introductory clauses and "the term" before a term."""
    position = 0
    for pattern in (patterns.LEAD, patterns.PREFACE, patterns.WRAPPING):
        match = pattern.match(head, position)
        if match is not None:
            position = match.end()
    return position + len(head[position:]) - len(head[position:].lstrip())


def _layout_candidates(unit: TextUnit) -> Iterator[DefinitionCandidate]:
    """Terms set apart by layout: definition lists, dashes, colons, tabs."""
    position = 0
    for line in unit.text.split("\n"):
        if candidate := _candidate_on_line(unit, position):
            yield candidate
        position += len(line) + 1


def _candidate_on_line(unit: TextUnit, position: int) -> DefinitionCandidate | None:
    lead = patterns.LEAD.match(unit.text, position)
    head = lead.end() if lead else position
    for pattern in (patterns.LISTED, patterns.DASH, patterns.TABBED, patterns.COLON):
        listed = pattern is patterns.LISTED
        match = pattern.match(unit.text, head)
        if match is None or not _is_set_apart(unit, pattern, match):
            continue
        if not listed and _is_defined_before(unit, match):
            continue
        term, synonyms = split_paren(clean_term(match["term"]))
        if not _can_be_set_apart(term, listed):
            continue
        start = match.end()
        if again := patterns.LEADING_CONNECTOR.match(unit.text, start):
            start = again.start() if again["reference"] else again.end()
        return DefinitionCandidate(
            term, synonyms, head, start, whole=True, listed=listed
        )
    return None


def _is_set_apart(
    unit: TextUnit, pattern: re.Pattern[str], match: re.Match[str]
) -> bool:
    """Whether the layout means a definition here, not just a dash or a colon."""
    if pattern is patterns.LISTED:
        return True
    if pattern is patterns.DASH:
        gap = match["gap"]
        if "\n" in gap or (match["dash"] == "-" and not gap.isspace()):
            return False
        determined = patterns.DETERMINED.match(unit.text, match.end()) is not None
        return len(gap) > 1 or unit.defining or determined
    if pattern is patterns.COLON:
        return unit.defining and match.start() == 0 and not unit.follows
    return unit.defining


def _is_defined_before(unit: TextUnit, match: re.Match[str]) -> bool:
    """Whether a marked term and its connector precede the dash, which is then text."""
    return any(
        head.strong
        for verb in patterns.CONNECTOR.finditer(unit.text, *match.span("term"))
        if (head := _head_before(unit.text, verb.start(), unit.defining))
    )


def _can_be_set_apart(term: str, listed: bool) -> bool:
    if _RULE_LABEL.fullmatch(term):
        return False
    if listed:
        few = len(term.split()) <= _MOST_LISTED_WORDS
        return bool(term) and few and not term.endswith(".")
    return is_title_case(term) or can_be_term(
        term[:1].upper() + term[1:], defining=True
    )


def _to_definition(
    text: str, unit: TextUnit, candidate: DefinitionCandidate, following: int | None
) -> Definition:
    """Find where the definition ends: at `following`, or the sentence or unit ends."""
    start = candidate.start
    end = len(unit.text) if following is None else following
    if not candidate.whole:
        sentences = pieces(unit.text[start:])
        end = min(end, start + sentences[0].end if sentences else len(unit.text))
    if another := patterns.NEXT_ONE.search(unit.text, start, end + _AHEAD):
        end = min(end, another.start())
    body = unit.text[start:end]
    if end == following:
        body = patterns.TRAILING_MARK.sub("", body)
    body = strip_full_stop(patterns.TRAILING.sub("", body))
    with_items = end == len(unit.text)
    spans = unit.exact_spans(text, start, start + len(body), with_items=with_items)
    return _build_definition(text, unit, candidate, spans)


def _build_definition(
    text: str,
    unit: TextUnit,
    candidate: DefinitionCandidate,
    spans: tuple[tuple[int, int], ...],
) -> Definition:
    exact = spans or ((unit.parts[0].start, unit.parts[0].start),)
    words = text_of_spans(text, exact)
    source, synonyms, reference = candidate.source, candidate.synonyms, ""
    if unit.in_table and source is DefinitionSource.PROSE:
        source = DefinitionSource.TABLE
    if spells_out(candidate.term, words):
        source = DefinitionSource.ACRONYM
        synonyms = (*synonyms, clean_term(words))
    if match := _SEE.fullmatch(words):
        source = DefinitionSource.REFERENCE
        reference = clean_term(match["target"])
    return Definition(
        term=candidate.term,
        definition=words,
        source=source,
        spans=exact,
        page=unit.page,
        section=unit.section,
        synonyms=synonyms,
        reference=reference,
    )
