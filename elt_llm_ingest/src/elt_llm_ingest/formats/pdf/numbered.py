"""Rule numbers as addresses of blocks: 3.2.1, C12(a), Art. 5, and (b) below one."""

import re
from collections.abc import Iterable, Iterator

from elt_llm_core.document import Block, BlockKind
from elt_llm_core.results import changed
from elt_llm_core.rules import canonical

WORD = r"(?:rules?|sections?|articles?|art\.|regulations?|clauses?|§)\s*"
PARTS = r"(?:\.?\((?:[a-z]{1,4}|[A-Z]|[0-9]{1,3})\))*"
CODE = rf"(?:[A-Z]{{1,3}}[0-9]{{1,3}}|[0-9]{{1,3}}(?:\.[0-9]{{1,3}})+)[A-Z]?{PARTS}"
PLAIN = rf"[0-9]{{1,3}}[A-Z]?{PARTS}"
# A measure such as "2.5 mg" is none: text begins with a capital or a bracket.
RULE = re.compile(
    rf"(?:(?i:{WORD})(?:{CODE}|{PLAIN})(?=[.:)]?(?:\s|$))"
    rf"|{CODE}(?=[.:)]?\s+[\"\u201c\u2018(\[]?[A-Z]))"
)
HEADED = re.compile(rf"(?:(?i:{WORD}))?(?:{CODE}|{PLAIN})(?=[.:)]?(?:\s|$))")
BELOW = re.compile(r"\((?:[a-z]{1,4}|[0-9]{1,2})\)(?=\s)")
# "3. SCOPE" and "2.1 FEES", but no dose, no code and no name with initials.
SHOUT = re.compile(
    r"(?:[0-9]{1,3}(?:\.[0-9]{1,3})*[.)]|[0-9]{1,3}(?:\.[0-9]{1,3})+|[IVXL]{1,5}\.)\s+"
    r"(?P<title>[^\d.;,!?]*[^\W\d_]{4}[^\d.;,!?]*)$"
)
ADDRESSED = (BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)


def shouts(text: str, below: str) -> bool:
    """Whether a line is a numbered heading in capitals, and no line of several such."""
    if text.upper() != text or below.upper() == below:
        return False
    found = SHOUT.match(text)
    return found is not None and len(found["title"].split()[-1]) > 1


def with_numbers(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks, those that begin with a rule's number addressed by it.

    A list item "(a)" takes the number of the rule above it in the section; numbers are
    canonical.
    """
    rule, section = "", ""
    for block in blocks:
        if block.kind is BlockKind.HEADING or block.section != section:
            rule, section = "", block.section
        if block.kind not in ADDRESSED:
            yield block
            continue
        pattern = HEADED if block.kind is BlockKind.HEADING else RULE
        found = pattern.match(text, block.start, block.end)
        below = BELOW.match(text, block.start, block.end)
        if found:
            rule = canonical(found.group())
            yield changed(block, number=rule)
        elif below and rule:
            yield changed(block, number=f"{rule}{below.group()}")
        else:
            yield block
