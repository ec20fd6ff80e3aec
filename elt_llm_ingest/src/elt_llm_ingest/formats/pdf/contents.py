"""Pages of a table of contents: labelled, so that nobody searches in them."""

import re
from collections.abc import Sequence
from itertools import pairwise

from elt_llm_core.document import BlockKind
from elt_llm_ingest.formats.pdf.flow import LEADERS, Draft
from elt_llm_ingest.formats.pdf.words import Line, lines_of

CONTENTS = re.compile(r"^(?:table of )?contents?(?: page)?$", re.IGNORECASE)
LONGEST = 22  # letters of such a title
MANY_LEADERS = 3
DOTS = 4  # in leaders
# Dots that lead to the number of a page. Dots alone are no proof: statistics print ".."
# for a number that nobody knows.
TO_PAGE = re.compile(
    r"(?:\.\s?){4,}\s*([0-9]{1,4}|[ivxlc]{1,7})\s*$|…\s*([0-9]{1,4})\s*$"
)


def mark_contents(drafts: Sequence[Draft]) -> list[Draft]:
    """The page's drafts with the lines of a table of contents labelled so.

    A page with a heading "Contents", or with three lines whose dots lead to the
    numbers of pages, which rise.
    """
    titled = any(_is_title(d) for d in drafts)
    if not titled and not _lists_pages(drafts):
        return list(drafts)
    ends = [i for i, d in enumerate(drafts) if _has_leaders(d)]
    until = ends[-1] if ends else len(drafts)
    done = []
    inside = not titled
    for index, draft in enumerate(drafts):
        if _is_title(draft):
            inside = True
        if inside and index <= until and not _is_prose(draft):
            done.append(Draft(BlockKind.CONTENTS, lines_in(draft)))
        else:
            done.append(draft)
    return done


def _is_title(draft: Draft) -> bool:
    short = bool(draft.lines) and len(draft.lines[0].text) <= LONGEST
    return short and CONTENTS.match(draft.text.strip()) is not None


def _lists_pages(drafts: Sequence[Draft]) -> bool:
    texts = [line.text for d in drafts if _may_lead(d) for line in lines_in(d)]
    dotted = [text for text in texts if text.count(".") >= DOTS or "…" in text]
    found = [TO_PAGE.search(text) for text in dotted]
    said = [hit.group(1) or hit.group(2) for hit in found if hit]
    numbers = [int(text) for text in said if text.isdecimal()]
    falls = sum(after < before for before, after in pairwise(numbers))
    return len(said) >= MANY_LEADERS and falls <= 0.2 * len(numbers)


def _may_lead(draft: Draft) -> bool:
    """Whether dots may lead to a page: quicker than to make lines of a table."""
    if draft.table is None:
        return True
    said = "".join([word.text for word in draft.table.words()])
    return said.count(".") >= DOTS or "…" in said


def _has_leaders(draft: Draft) -> bool:
    return any(LEADERS.search(line.text) for line in lines_in(draft))


def lines_in(draft: Draft) -> list[Line]:
    """The lines of a draft, of a table too."""
    if draft.table is None:
        return draft.lines
    words = [w for row in draft.table.rows for cell in row for w in cell]
    return lines_of(words)


def _is_prose(draft: Draft) -> bool:
    if draft.table is not None or LEADERS.search(draft.text):
        return False
    return len(draft.lines) > 1 and draft.text.rstrip().endswith((".", ";"))
