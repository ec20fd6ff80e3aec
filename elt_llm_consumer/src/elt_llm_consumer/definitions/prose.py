"""Definitions in running text and in lists of terms."""

import re
from collections.abc import Iterator, Sequence

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.candidate_terms import (
    Head,
    cleaned,
    head_before,
    is_short_form,
    plausible,
    split_paren,
    titled,
)
from elt_llm_consumer.definitions.paragraphs import Unit
from elt_llm_consumer.definitions.records import (
    Definition,
    DefinitionSource,
    Found,
    joined,
    trimmed,
    verbatim,
    without_stop,
)
from elt_llm_query.analysis.text import pieces

LONGEST_TERM = 14
_AHEAD = 250  # characters by which the beginning of another definition is known
_SEE = re.compile(r"\s*See(?:\s+also)?\s+(?P<target>[^.;\n]{2,90})[.;]?\s*")


def in_units(text: str, running: Sequence[Unit]) -> list[Definition]:
    """Definitions of all units, in order."""
    found: list[Definition] = []
    for unit in running:
        candidates = _apart(sorted(_candidates(unit), key=lambda one: one.head))
        for number, one in enumerate(candidates):
            following = (
                candidates[number + 1].head if number + 1 < len(candidates) else None
            )
            found.append(_finished(text, unit, one, following))
    return found


def _candidates(unit: Unit) -> Iterator[Found]:
    listed = list(_listed(unit))
    yield from listed
    if not any(one.listed for one in listed):
        yield from _connected(unit)


def _connected(unit: Unit) -> Iterator[Found]:
    """Terms before a connector."""
    for match in patterns.CONNECTOR.finditer(unit.text):
        head = head_before(unit.text, match.start(), unit.defining)
        if head is None or not _connects(unit, match, head):
            continue
        reference = match["reference"] is not None
        yield Found(
            term=head.term,
            synonyms=head.synonyms,
            head=head.start,
            start=_the_meaning(match) if reference else _after(unit.text, match.end()),
            source=DefinitionSource.REFERENCE if reference else DefinitionSource.PROSE,
            whole=head.opens and (unit.defining or _leads_list(unit.text, match.end())),
        )


def _after(text: str, position: int) -> int:
    """Behind a colon, comma or dash that follows the connector."""
    match = re.compile(r"\s*(?::-|[:,\u2013\u2014])?\s*").match(text, position)
    return match.end() if match else position


def _the_meaning(match: re.Match[str]) -> int:
    """Behind "has": a reference is "the meaning given in Rule 4.2"."""
    verb = patterns.THE_MEANING.match(match.group())
    return match.start() + (verb.end() if verb else 0)


def _leads_list(text: str, position: int) -> bool:
    return re.compile(r"\s*[:\u2013\u2014]-?\s*\n").match(text, position) is not None


def _connects(unit: Unit, match: re.Match[str], head: Head) -> bool:
    """Whether the connector defines, rather than being a noun or a consequence."""
    rest = unit.text[match.end() : match.end() + 60]
    likely = head.strong or (unit.defining and head.opens)
    if match["includes"]:  # elsewhere a rule, not a definition
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


def _listed(unit: Unit) -> Iterator[Found]:
    """Terms set apart by layout: definition lists, dashes, colons, tabs."""
    position = 0
    for line in unit.text.split("\n"):
        yield from _on_line(unit, position)
        position += len(line) + 1


def _on_line(unit: Unit, position: int) -> Iterator[Found]:
    lead = patterns.LEAD.match(unit.text, position)
    start = lead.end() if lead else position
    for pattern in (patterns.LISTED, patterns.DASH, patterns.TABBED, patterns.COLON):
        match = pattern.match(unit.text, start)
        if match is None or not _set_apart(unit, pattern, match):
            continue
        if pattern is not patterns.LISTED and _defined_before(unit, match):
            continue
        term, names = split_paren(cleaned(match["term"]))
        if not _is_term(term, pattern is patterns.LISTED):
            continue
        begin = match.end()
        if again := patterns.LEADING_CONNECTOR.match(unit.text, begin):
            begin = again.start() if again["reference"] else again.end()
        yield Found(
            term=term,
            synonyms=names,
            head=start,
            start=begin,
            whole=True,
            listed=pattern is patterns.LISTED,
        )
        return


def _defined_before(unit: Unit, match: re.Match[str]) -> bool:
    """Whether a term and its connector stand before the dash, which is in the text."""
    return any(
        head.strong
        for verb in patterns.CONNECTOR.finditer(unit.text, *match.span("term"))
        if (head := head_before(unit.text, verb.start(), unit.defining))
    )


def _is_term(term: str, listed: bool) -> bool:
    if listed:
        return (
            bool(term) and len(term.split()) <= LONGEST_TERM and not term.endswith(".")
        )
    return titled(term) or plausible(term[:1].upper() + term[1:], defining=True)


def _set_apart(unit: Unit, pattern: re.Pattern[str], match: re.Match[str]) -> bool:
    """Whether the layout says "definition" here and not only a dash or a colon."""
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


def _apart(found: Sequence[Found]) -> list[Found]:
    """Without candidates whose head stands inside another's head."""
    kept: list[Found] = []
    for one in found:
        if not kept or one.head >= kept[-1].start:
            kept.append(one)
    return kept


def _finished(text: str, unit: Unit, one: Found, following: int | None) -> Definition:
    end = len(unit.text) if following is None else following
    if not one.whole:
        end = min(end, _sentence_end(unit.text, one.start))
    if another := patterns.NEXT_ONE.search(unit.text, one.start, end + _AHEAD):
        end = min(end, another.start())
    body = unit.text[one.start : end]
    if end == following:
        body = patterns.TRAILING_MARK.sub("", body)
    body = without_stop(patterns.TRAILING.sub("", body))
    spans = [
        trimmed(text, *span) for span in unit.spans(one.start, one.start + len(body))
    ]
    if end == len(unit.text):
        for item in unit.follows:
            spans += item.spans(0, len(item.text))
    return _made(text, unit, one, spans)


def _made(
    text: str, unit: Unit, one: Found, spans: Sequence[tuple[int, int]]
) -> Definition:
    exact = joined(text, spans) or ((unit.pieces[0].start, unit.pieces[0].start),)
    definition = verbatim(text, exact)
    source, synonyms, reference = one.source, list(one.synonyms), ""
    if unit.in_table and source is DefinitionSource.PROSE:
        source = DefinitionSource.TABLE
    if is_short_form(one.term, definition):
        source = DefinitionSource.ACRONYM
        synonyms.append(cleaned(definition))
    if match := _SEE.fullmatch(definition):
        source = DefinitionSource.REFERENCE
        reference = cleaned(match["target"])
    return Definition(
        term=one.term,
        definition=definition,
        source=source,
        spans=exact,
        page=unit.page,
        section=unit.section,
        synonyms=tuple(synonyms),
        reference=reference,
    )


def _sentence_end(text: str, start: int) -> int:
    found = pieces(text[start:])
    return start + found[0].end if found else len(text)
