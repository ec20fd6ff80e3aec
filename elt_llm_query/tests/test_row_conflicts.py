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
NORTH = """\
# Handbook of the North site

## 1 Wardens

| No | Place | Warden |
|---|---|---|
| 12 | Kitchen | Ann Moor |
| 14 | Chapel | Ann Berg |

| Hut | Keeper | Hire | Cleaned for | Alarm |
|---|---|---|---|---|
| Lodge | Ann Berg | \u00a35 | \u00a32.50 | at least 5 minutes |
| Barn | Ida Moll | \u00a36 | \u00a33.50 | at least 5 minutes |
| Mill | Tom Lee | \u00a37 | \u00a34.50 | at least 5 minutes |
"""
SOUTH = """\
# Handbook of the South site

## 1 Wardens

| No | Place | Warden |
|---|---|---|
| 12 | Garage | Bob Moor |
| 14 | Chapel | Berg, Ann |

| Hut | Keeper | Deposit | Cleaned for | Alarm |
|---|---|---|---|---|
| Lodge | Berg, Ann | \u00a310 | \u00a32.5 | at most 15 minutes |
| Barn | Eva Lund | \u00a310 | \u00a39 | at most 15 minutes |
| Mill | tbc | \u00a310 | \u00a34.5 | at most 15 minutes |
"""
SITES = (
    ("Who is the keeper of the barn?", "Eva Lund"),
    ("Who is the keeper of the barn at the North site?", ""),
    ("Who is the keeper of the lodge?", ""),
    ("Who is the keeper of the mill?", ""),
    ("Who is the warden of the kitchen?", ""),
    ("Who is the warden of the chapel?", ""),
    ("How much is the hire of the lodge?", ""),
    ("For how much is the lodge cleaned?", ""),
    ("For how much is the barn cleaned?", "9"),
    ("How long is the alarm of the lodge?", ""),
)
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
    yield from _library(world, folder, {"club.md": CLUB, "notice.md": NOTICE})


@pytest.fixture(scope="module")
def sites(world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sites")
    yield from _library(world, folder, {"north.md": NORTH, "south.md": SOUTH})


def _library(world, folder, texts):
    for name, text in texts.items():
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


@pytest.mark.parametrize(("question", "reason"), SITES)
def test_rows_of_other_things_places_and_attributes_are_no_conflicts(
    sites, question, reason
):
    result = sites.ask(question)
    reasons = [conflict.reason for conflict in result.conflicts]
    assert bool(reasons) == bool(reason), (result.answer, reasons)
    assert all(reason in one for one in reasons)
