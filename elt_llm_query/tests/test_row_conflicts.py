"""Rows of tables and sentences of other documents that state a fact otherwise."""

import pytest

from elt_llm_core.config.sections import RagConfig
from elt_llm_query import Library

CLUB = """\
# Club handbook

## 1 Who looks after what

| Area | Warden | Deputy |
|---|---|---|
| Boathouse | Slip Master | Oar Clerk |
| Pavilion | House Steward | Bar Clerk |
| Courts | Net Captain | Ball Clerk |

## 2 How long papers are kept

| Paper | Kept for | Then |
|---|---|---|
| Race sheet | 4 years | Archive |
| Injury form | 9 years | Delete |
| Bar bill | 2 years | Delete |

## 3 Boats

The crew list has to be at the slip no later than three hours before the start. A boat
is washed within two days of a race.
"""
NOTICE = """\
# Notice of the racing office

## 1 Papers

A race sheet, like the sheets of all regattas, is kept for seven years. Injury reports
are sent to the insurer within five days. A bar receipt is kept for six months.

## 2 Starts

The crew list must be with the slip master at least one hour before the start. Trailers
leave the yard three days after the regatta.

## 3 Areas

| Area | Area warden | Deputy of the day | Opens |
|---|---|---|---|
| Boathouse | Gate Clerk | Rope Clerk | 7:00 |
| Pavilion | House Steward | Door Clerk | 9:00 |
"""
QUESTIONS = (
    ("How long is a race sheet kept?", "seven years"),
    ("How long before the start must the crew list be at the slip?", "hour"),
    ("Who is the warden of the boathouse?", "Gate Clerk"),
    # The same value, another thing, another attribute, and what only one states.
    ("Who is the warden of the pavilion?", ""),
    ("Who is the deputy of the boathouse?", ""),
    ("How long is an injury form kept?", ""),
    ("How long is a bar bill kept?", ""),
    ("Within how many days of a race is a boat washed?", ""),
)


@pytest.fixture(scope="module")
def library(world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("row_conflicts")
    for name, text in (("club.md", CLUB), ("notice.md", NOTICE)):
        (folder / name).write_text(text, encoding="utf-8")
    with Library(folder / "data", config=RagConfig(), models=world.models) as made:
        made.add(sorted(folder.glob("*.md")), collection="texts")
        yield made


@pytest.mark.parametrize(("question", "reason"), QUESTIONS)
def test_rows_and_sentences_that_disagree_are_shown_side_by_side(
    library, question, reason
):
    result = library.ask(question)
    reasons = [conflict.reason for conflict in result.conflicts]
    assert bool(reasons) == bool(reason), (result.answer, reasons)
    assert all(reason in one for one in reasons)
