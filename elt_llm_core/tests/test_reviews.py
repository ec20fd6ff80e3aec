"""Decisions: they stay while their evidence stays, and nothing of them is lost."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elt_llm_core.errors import (
    NoDataError,
    StaleReviewError,
    UnknownItemError,
    UnknownProductError,
    UsageError,
)
from elt_llm_core.reviews.merging import merge_cell, merge_fields, one_spaced
from elt_llm_core.reviews.review_records import ReviewChange, ReviewStatus
from elt_llm_core.store import Store
from review_items import PRODUCT, decided, id_of, open_store, proposal

TEXTS = st.sampled_from(["", "a", "b", "a ", "c d", "c  d"])
SIDES = st.dictionaries(st.sampled_from("xyz"), TEXTS)
LEASE = proposal("Lease", "a right to a ground")
RENT = proposal("Rent", "what is paid")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = open_store(tmp_path / "root")
    made.reviews.sync(PRODUCT, [LEASE, RENT])
    yield made
    made.close()


def item(store: Store, term: str = "Lease"):
    got = store.reviews.item(PRODUCT, id_of(term))
    assert got is not None
    return got


def sync(store: Store, *proposals):
    return store.reviews.sync(PRODUCT, list(proposals))


def test_new_items_are_proposed_in_the_order_of_the_product(store: Store) -> None:
    items = store.reviews.items(PRODUCT)
    assert [(i.label, i.status, i.revision) for i in items] == [
        ("Lease", "proposed", 0),
        ("Rent", "proposed", 0),
    ]
    (progress,) = store.reviews.products()
    assert (progress.product, progress.items) == (PRODUCT, 2)
    assert progress.statuses == {"proposed": 2}


def test_the_same_evidence_keeps_a_decision_and_adds_no_revision(store: Store) -> None:
    decided(store, "Lease", "approved", notes="as agreed")
    moved = proposal("Lease", "a right\nto a  ground").model_copy(
        update={"content": {"page": 9}}
    )
    report = sync(store, RENT, moved)
    assert report.reopened == report.moved == report.gone == ()
    assert (item(store).status, item(store).revision) == ("approved", 1)
    assert item(store).proposal.content == {"page": 9}


def test_other_evidence_reopens_and_both_texts_are_there(store: Store) -> None:
    decided(store, "Lease", "approved", edited={"definition": "a right to land"})
    report = sync(store, proposal("Lease", "a right to a ground for a term"), RENT)
    assert report.reopened == (id_of("Lease"),)
    one = item(store)
    assert (one.status, one.decision.status_before) == ("reopened", "approved")
    assert one.merge.fields["definition"] == "a right to land"
    assert one.generated_fields["definition"] == "a right to a ground for a term"
    assert one.decision.base["definition"] == "a right to a ground"
    assert one.merge.changed == one.conflicts == ("definition",)
    assert one.decision.reviewer == "ann"
    again = sync(store, proposal("Lease", "a right to a ground for a term"), RENT)
    assert again.reopened == ()
    assert item(store).revision == 2


def test_what_nobody_edited_takes_the_generated_text(store: Store) -> None:
    decided(store, "Lease", "approved", edited={"definition": "mine"})
    sync(store, proposal("Lease", "a right to a ground", synonyms="Tenancy"), RENT)
    one = item(store)
    assert one.merge.fields == {
        "term": "Lease",
        "definition": "mine",
        "synonyms": "Tenancy",
    }
    assert (one.status, one.conflicts) == ("reopened", ())


def test_evidence_that_comes_back_restores_the_decision(store: Store) -> None:
    decided(store, "Lease", "rejected")
    sync(store, proposal("Lease", "otherwise"), RENT)
    report = sync(store, LEASE, RENT)
    assert report.restored == (id_of("Lease"),)
    assert (item(store).status, item(store).decision.status_before) == (
        "rejected",
        None,
    )
    assert [d.action for d in store.reviews.history(PRODUCT, id_of("Lease"))] == [
        "set",
        "reopened",
        "restored",
    ]


def test_a_decision_on_new_evidence_ends_the_conflict(store: Store) -> None:
    decided(store, "Lease", "approved", edited={"definition": "mine"})
    sync(store, proposal("Lease", "otherwise"), RENT)
    decided(store, "Lease", "approved", by="bob")
    one = item(store)
    assert (one.status, one.conflicts, one.decision.reviewer) == ("approved", (), "bob")
    assert one.merge.fields["definition"] == "mine"
    decided(store, "Lease", edited={"definition": None})
    assert item(store).merge.fields["definition"] == "otherwise"
    assert item(store).status == "approved"


def test_an_edit_alone_leaves_a_reopened_item_open(store: Store) -> None:
    decided(store, "Lease", "approved")
    sync(store, proposal("Lease", "otherwise"), RENT)
    decided(store, "Lease", edited={"definition": "mine"})
    one = item(store)
    assert (one.status, one.conflicts) == ("reopened", ("definition",))
    assert one.decision.base["definition"] == "a right to a ground"


def test_an_item_that_is_gone_keeps_its_decision_and_comes_back(store: Store) -> None:
    decided(store, "Lease", "approved")
    assert sync(store, RENT).gone == (id_of("Lease"),)
    gone = store.reviews.items(PRODUCT)[-1]
    assert (gone.label, gone.proposal, gone.status) == ("Lease", None, "approved")
    assert store.reviews.progress(PRODUCT).gone == 1
    sync(store, RENT, LEASE)
    assert item(store).status == "approved"
    assert store.reviews.progress(PRODUCT).gone == 0


def test_a_decision_moves_with_its_term_to_a_renamed_document(store: Store) -> None:
    decided(store, "Lease", "approved", edited={"definition": "mine"})
    renamed = proposal("Lease", "a right to a ground", document="b.pdf")
    report = sync(store, renamed, RENT)
    assert report.moved == (renamed.item_id,)
    assert report.gone == ()
    one = store.reviews.item(PRODUCT, renamed.item_id)
    assert (one.status, one.merge.fields["definition"]) == ("approved", "mine")
    assert sync(store, renamed, RENT).moved == ()
    assert [i.label for i in store.reviews.items(PRODUCT)] == ["Lease", "Rent"]


def test_a_moved_decision_keeps_its_reviewer_its_time_and_its_history(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "elt_llm_core.store.database.review_rows"
    times = iter(f"2026-01-0{day}T00:00:00Z" for day in range(1, 9))
    monkeypatch.setattr(f"{rows}.utc_now", lambda: next(times))
    decided(store, "Lease", "approved", by="carla")
    once = proposal("Lease", "a right to a ground", document="b.pdf")
    sync(store, once, RENT)
    twice = proposal("Lease", "otherwise", document="c.pdf")
    sync(store, twice, RENT)
    last = store.reviews.item(PRODUCT, twice.item_id).decision
    assert (last.status, last.action) == ("reopened", "reopened")
    assert (last.reviewer, last.at) == ("carla", "2026-01-01T00:00:00Z")
    assert last.recorded_at == "2026-01-03T00:00:00Z"
    history = store.reviews.history(PRODUCT, twice.item_id)
    assert [(d.action, d.item_id) for d in history] == [
        ("set", id_of("Lease")),
        ("moved", once.item_id),
        ("moved", twice.item_id),
        ("reopened", twice.item_id),
    ]
    for old in (id_of("Lease"), once.item_id[:8]):
        assert store.reviews.successor(PRODUCT, old) == twice.item_id
    assert store.reviews.successor(PRODUCT, twice.item_id) == ""
    decided_again = ReviewChange(item_id=twice.item_id, status=ReviewStatus.APPROVED)
    (one,) = store.reviews.change(PRODUCT, [decided_again], "dana")
    assert (one.decision.reviewer, one.decision.recorded_at) == ("dana", "")


def test_a_renamed_document_with_another_text_moves_and_reopens(store: Store) -> None:
    decided(store, "Lease", "approved")
    renamed = proposal("Lease", "otherwise", document="b.pdf")
    report = sync(store, renamed, RENT)
    assert (report.moved, report.reopened) == ((renamed.item_id,),) * 2
    assert store.reviews.item(PRODUCT, renamed.item_id).status == "reopened"


def test_of_two_candidates_the_one_with_the_same_text_takes_over(store: Store) -> None:
    decided(store, "Lease", "approved")
    other = proposal("Lease", "another thing", document="b.pdf")
    same = proposal("Lease", "a right to a ground", document="c.pdf")
    assert sync(store, other, same, RENT).moved == (same.item_id,)
    assert store.reviews.item(PRODUCT, other.item_id).status == "proposed"


def test_two_candidates_with_other_texts_take_nothing_over(store: Store) -> None:
    decided(store, "Lease", "approved")
    others = [proposal("Lease", t, document=f"{t}.pdf") for t in "xy"]
    report = sync(store, *others, RENT)
    assert report.moved == ()
    assert report.gone == (id_of("Lease"),)


def test_a_stale_decision_is_refused_and_shows_both(store: Store) -> None:
    decided(store, "Lease", "approved", revision=0)
    with pytest.raises(StaleReviewError, match="revision 1, not 0") as caught:
        decided(store, "Lease", "rejected", by="bob", revision=0)
    assert caught.value.current["reviewer"] == "ann"
    assert caught.value.refused["status"] == "rejected"
    assert "status 'approved'" in str(caught.value)
    assert item(store).status == "approved"


def test_of_many_decisions_one_stale_leaves_all_out(store: Store) -> None:
    decided(store, "Rent", "approved")
    changes = [
        ReviewChange(item_id=id_of(t), status=ReviewStatus.REJECTED, revision=0)
        for t in ("Lease", "Rent")
    ]
    with pytest.raises(StaleReviewError):
        store.reviews.change(PRODUCT, changes, "bob")
    assert item(store).revision == 0


def test_a_change_that_changes_nothing_adds_no_revision(store: Store) -> None:
    decided(store, "Lease", "approved")
    decided(store, "Lease", "approved", by="bob")
    decided(store, "Lease", edited={"definition": "a right to a ground"})
    assert item(store).revision == 1


def test_what_cannot_be_decided_is_refused(store: Store) -> None:
    with pytest.raises(UnknownItemError, match="review list"):
        store.reviews.change(PRODUCT, [ReviewChange(item_id="none")], "ann")
    with pytest.raises(UsageError, match="known: definition, synonyms, term"):
        decided(store, "Lease", edited={"colour": "red"})
    with pytest.raises(UsageError, match="only by a run"):
        decided(store, "Lease", "reopened")
    with pytest.raises(UnknownProductError, match=r"did you mean 'glossary:rules'"):
        store.reviews.items("glossary:rule")


def test_undo_goes_back_step_by_step(store: Store) -> None:
    decided(store, "Lease", "approved")
    decided(store, "Lease", edited={"definition": "mine"})
    undone = store.reviews.undo(PRODUCT, id_of("Lease"), "ann")
    assert (undone.status, undone.decision.edited) == ("approved", {})
    undone = store.reviews.undo(PRODUCT, id_of("Lease"), "ann", revision=3)
    assert (undone.status, undone.revision) == ("proposed", 4)
    with pytest.raises(UnknownItemError, match="nothing to undo"):
        store.reviews.undo(PRODUCT, id_of("Lease"), "ann")
    decided(store, "Lease", "rejected")
    assert store.reviews.undo(PRODUCT, id_of("Lease"), "ann").status == "proposed"


def test_what_a_run_made_is_not_undone(store: Store) -> None:
    decided(store, "Lease", "approved")
    sync(store, proposal("Lease", "otherwise"), RENT)
    with pytest.raises(UnknownItemError, match="nothing to undo"):
        store.reviews.undo(PRODUCT, id_of("Lease"), "ann")


def test_an_item_of_which_all_was_undone_is_not_reopened(store: Store) -> None:
    decided(store, "Lease", "approved")
    store.reviews.undo(PRODUCT, id_of("Lease"), "ann")
    assert sync(store, proposal("Lease", "otherwise"), RENT).reopened == ()


def test_the_history_cannot_be_changed_or_removed(store: Store) -> None:
    decided(store, "Lease", "approved")
    path = store.data_dir / "truth.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        for statement in ("update review set revision = 9", "delete from review"):
            with pytest.raises(sqlite3.IntegrityError, match="decisions are never"):
                connection.execute(statement)


def test_where_there_is_no_data_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(NoDataError):
        Store(tmp_path / "none").reviews.sync(PRODUCT, [LEASE])
    assert Store(tmp_path / "none").reviews.products() == []
    assert not (tmp_path / "none").exists()


def merge_by_table(base: str, theirs: str, ours: str | None) -> tuple[str, bool]:
    """The text that holds and whether it conflicts, from the four cases of a merge."""
    theirs_moved = one_spaced(base) != one_spaced(theirs)
    if ours is None:
        return theirs, False
    agree = one_spaced(ours) == one_spaced(theirs)
    return ours, theirs_moved and not agree


@given(SIDES, SIDES, SIDES)
@settings(max_examples=300)
def test_a_merge_loses_no_side(base, theirs, ours) -> None:
    merged = merge_fields(base, theirs, ours)
    for name, text in theirs.items():
        expected = merge_by_table(base.get(name, text), text, ours.get(name))
        assert (merged.fields[name], name in merged.conflicts) == expected
    assert merged.fields.keys() == theirs.keys() | ours.keys()
    assert all(merged.fields[name] == text for name, text in ours.items())


@pytest.mark.parametrize(
    ("base", "theirs", "ours", "expected"),
    [
        ("a", "a", "a", ("a", False, False)),
        ("a", "a", "b", ("b", True, False)),
        ("a", "b", "a", ("b", False, False)),
        ("a", "b", "b", ("b", False, False)),
        ("a", "b", "c", ("b", False, True)),
        (None, "b", "b", ("b", False, False)),
        (None, "b", "c", ("b", False, True)),
    ],
)
def test_a_cell_is_merged_from_three_sides(base, theirs, ours, expected) -> None:
    assert tuple(merge_cell(base, theirs, ours)) == expected
