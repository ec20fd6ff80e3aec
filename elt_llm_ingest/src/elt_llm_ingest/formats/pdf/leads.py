"""Run-in headings, as in "**Scope.** This rule applies to all boats", with their place.

Their words stay where they are, the beginning of a paragraph, and end its section path.
"""

import re
from collections.abc import Iterable, Iterator

from elt_llm_core.document import Block, BlockKind
from elt_llm_ingest.formats.build import SEPARATOR, one_line
from elt_llm_ingest.formats.pdf.flow import CAPTION, MARKER, Draft

LEAD = "lead"
LONGEST = 80  # letters
MOST = 10  # words
# They lead a paragraph, and say nothing of what it is about.
SIGNAL = re.compile(r"^(?:notes?|sources?|examples?)\b", re.IGNORECASE)
NAMED = re.compile(r"[^\W\d_]{3}")  # "XI." is a number
ENDS = ".:"
QUOTES = "\"'([\u201c\u2018"
WORDS = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)


def mark_leads(drafts: Iterable[Draft]) -> None:
    """Note the run-in heading of every paragraph and list item that has one.

    Only its first words are bold; they begin with a capital and end with a full stop
    or a colon; the text after them begins a sentence.
    """
    for draft in drafts:
        if draft.kind in WORDS and draft.lines and (said := _lead(draft)):
            draft.attributes[LEAD] = said


def _lead(draft: Draft) -> str:
    words = [word for line in draft.lines[:2] for word in line.words]
    first = 1 if MARKER.match(words[0].text + " ") else 0
    bold = first
    while bold < len(words) and words[bold].bold:
        bold += 1
    if not first < bold < min(len(words), first + MOST + 1):
        return ""
    said = " ".join(word.text for word in words[first:bold])
    after = words[bold].text.lstrip(QUOTES)
    starts = said[:1].isupper() and (after[:1].isupper() or after[:1].isdigit())
    if not starts or said[-1] not in ENDS or len(said) > LONGEST:
        return ""
    if not NAMED.search(said) or CAPTION.match(said) or SIGNAL.match(said):
        return ""
    return said


def with_leads(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks, those with a run-in heading in a section of its name."""
    for block in blocks:
        said = block.attributes.get(LEAD, "") if block.kind in WORDS else ""
        if name := one_line(said).rstrip(ENDS):
            path = SEPARATOR.join(filter(None, (block.section, name)))
            yield block.model_copy(update={"section": path})
        else:
            yield block
