"""Reviews in the database: generated items, every decision, and exported sheets.

A decision is never changed: each revision is a separate row, and the newest is the
state of its item. SQLite serialises the transactions of all processes, so that of two
writers on the same revision one is refused.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from sqlite3 import Connection
from typing import Any

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import (
    StaleReviewError,
    UnknownProductError,
)
from elt_llm_core.reviews.deciding import decide, reopen, undo
from elt_llm_core.reviews.review_records import (
    Decision,
    ProductProgress,
    Proposal,
    ReviewChange,
    ReviewItem,
    SyncReport,
)
from elt_llm_core.reviews.succession import successors
from elt_llm_core.store.database.codec import digest_of, pack_json, unpack_json
from elt_llm_core.store.database.reader import Reader

# Stored exports per product for three-way merges: more than one for every working hour
# of a month.
KEPT_SHEETS = 200
_NEWEST = (
    "select content from review r where product = ? and revision = (select "
    "max(revision) from review l where l.product = r.product and l.item_id = r.item_id)"
)
_PRODUCTS = "select product from review_item union select product from review"
_FORGET = (
    "delete from review_sheet where product = ? and num <= "
    "(select max(num) from review_sheet where product = ?) - ?"
)
_APPEND = "insert into review(product, item_id, revision, content) values(?, ?, ?, ?)"
_PUT_ITEM = (
    "insert into review_item values(?, ?, ?, ?) on conflict(product, item_id) do "
    "update set ordinal = excluded.ordinal, content = excluded.content "
    "where ordinal != excluded.ordinal or content != excluded.content"
)


class Reviews:
    """The reviews of a data root. Safe between threads and processes."""

    def __init__(
        self,
        database: Reader,
        transaction: Callable[[], AbstractContextManager[Connection]],
    ) -> None:
        self._database = database
        self._transaction = transaction

    def products(self) -> list[ProductProgress]:
        """Return the progress of each product's review, by name."""
        return [self.progress(row[0]) for row in self._database.rows(_PRODUCTS)]

    def progress(self, product: str) -> ProductProgress:
        """Return the progress of a product's review. Raises UnknownProductError."""
        return ProductProgress.of(product, self.items(product))

    def items(self, product: str) -> list[ReviewItem]:
        """Return the last generated items of a product, then missing ones.

        Raises:
            UnknownProductError: If no run generated it, and there are no decisions.
        """
        with self._database.snapshot():
            items = _join_sides(product, *self._sides(self._database.rows, product))
        if not items:
            known = [row[0] for row in self._database.rows(_PRODUCTS)]
            raise UnknownProductError(product, known)
        return items

    def state(self, product: str) -> str:
        """Return a value that changes with every item and decision of a product.

        Args:
            product: Its name; the product need not exist.
        """
        with self._database.snapshot():
            items = self._database.rows(
                "select item_id, ordinal, content from review_item where product = ? "
                "order by item_id",
                (product,),
            )
            last = self._database.rows(
                "select coalesce(max(num), 0) from review where product = ?", (product,)
            )
        return digest_of([*items, *last])

    def item(self, product: str, item_id: str) -> ReviewItem | None:
        """Return one item by its id, or None."""
        with self._database.snapshot():
            return _one(self._database.rows, product, item_id)

    def history(self, product: str, item_id: str = "") -> list[Decision]:
        """Return every decision of a product, or of one item, the oldest first.

        Those of an item begin with the decisions of the one that it took over.
        """
        rows = self._database.rows(
            "select content from review where product = ? and (? = '' or item_id = ?) "
            "order by num",
            (product, item_id, item_id),
        )
        made = [Decision.model_validate_json(row[0]) for row in rows]
        former = made[0].moved_from if item_id and made else ""
        return [*self.history(product, former), *made] if former else made

    def successor(self, product: str, key: str) -> str:
        """Return the id of the item that took over a decision; empty if none did.

        Args:
            product: The name of the product.
            key: The earlier id, or its beginning.
        """
        moves = {d.moved_from: d.item_id for d in self.history(product) if d.moved_from}
        ends = {moves[old] for old in moves if old.startswith(key)}
        while any(one in moves for one in ends):
            ends = {moves.get(one, one) for one in ends}
        return ends.pop() if len(ends) == 1 else ""

    def change(
        self, product: str, changes: Sequence[ReviewChange], reviewer: str
    ) -> list[ReviewItem]:
        """Record a person's decisions, for all of the items or for none.

        Args:
            product: The name of the product.
            changes: The changes, each item once.
            reviewer: The name of the reviewer.

        Returns:
            The current items, in the order of `changes`. A change without effect adds
            no revision.

        Raises:
            UnknownItemError: If there is no item with that id.
            UsageError: If a field cannot be edited, or the status cannot be set.
            StaleReviewError: If an item has another revision than `changes` names.
        """
        now = utc_now()
        with self._write() as connection:
            rows = _reading(connection)
            for change in changes:
                item = _one(rows, product, change.item_id)
                _refuse_stale(item, change)
                made = decide(product, item, change, reviewer, now)
                if made is not None:
                    _append(connection, made)
            return [
                item
                for change in changes
                if (item := _one(rows, product, change.item_id))
            ]

    def undo(
        self, product: str, item_id: str, reviewer: str, revision: int | None = None
    ) -> ReviewItem:
        """Undo the last revision of an item by a new one with the earlier content.

        Args:
            product: The name of the product.
            item_id: The item.
            reviewer: The name of the reviewer.
            revision: The revision the person saw; None skips the check.

        Raises:
            UnknownItemError: If there is no such item, or no decision on it.
            StaleReviewError: If there is a newer revision.
        """
        now = utc_now()
        with self._write() as connection:
            rows = _reading(connection)
            item = _one(rows, product, item_id)
            _refuse_stale(item, ReviewChange(item_id=item_id, revision=revision))
            made = undo(product, item_id, _past(rows, product, item_id), reviewer, now)
            _append(connection, made)
            now_there = _one(rows, product, item_id)
        if now_there is None:  # read by the statement before
            raise AssertionError
        return now_there

    def record(self, decisions: Iterable[Decision], seen: Mapping[str, int]) -> None:
        """Add revisions that are based on earlier reads, all or none of them.

        Args:
            decisions: The next revision of each item.
            seen: The revision that each item had when it was read, by id.

        Raises:
            StaleReviewError: If one of the items has another revision now.
        """
        with self._write() as connection:
            rows = _reading(connection)
            for made in decisions:
                item = _one(rows, made.product, made.item_id)
                asked = ReviewChange(
                    item_id=made.item_id, revision=seen.get(made.item_id, 0)
                )
                _refuse_stale(item, asked)
                _append(connection, made)

    def sync(self, product: str, proposals: Sequence[Proposal]) -> SyncReport:
        """Store the generated items of a run, and compare every decision with them.

        A decision on the same evidence stays. One on changed evidence is reopened, with
        the person's texts. One whose item has a new id moves to it.

        Args:
            product: The name of the product, such as `glossary:handbook`.
            proposals: All items of the product, in its order; ids differ.

        Returns:
            The effects on existing decisions.
        """
        now = utc_now()
        with self._write() as connection:
            rows = _reading(connection)
            _put_items(connection, product, proposals)
            _, decisions = self._sides(rows, product)
            moved = successors(proposals, decisions, now)
            decisions.update({made.item_id: made for made in moved})
            compared = [
                made
                for proposal in proposals
                if (made := reopen(decisions.get(proposal.item_id), proposal, now))
            ]
            for one in (*moved, *compared):
                _append(connection, one)
        crash_point(CrashPoint.REVIEWS_WRITTEN)
        left = {made.moved_from for made in decisions.values()}
        ids = {proposal.item_id for proposal in proposals} | left
        return SyncReport(
            reopened=_ids(compared, "reopened"),
            restored=_ids(compared, "restored"),
            moved=tuple(made.item_id for made in moved),
            gone=tuple(sorted(decisions.keys() - ids)),
        )

    def put_sheet(self, sheet_id: str, product: str, content: Any) -> None:
        """Store an exported sheet as the base of its import."""
        with self._write() as connection:
            connection.execute(
                "insert or ignore into review_sheet(sheet_id, product, content) "
                "values(?, ?, ?)",
                (sheet_id, product, pack_json(content)),
            )
            connection.execute(_FORGET, (product, product, KEPT_SHEETS))

    def sheet(self, sheet_id: str) -> tuple[str, Any] | None:
        """Return the product and the content of an exported sheet, or None."""
        rows = self._database.rows(
            "select product, content from review_sheet where sheet_id = ?", (sheet_id,)
        )
        return (rows[0][0], unpack_json(rows[0][1])) if rows else None

    def _sides(
        self, rows: "_Rows", product: str
    ) -> tuple[list[Proposal], dict[str, Decision]]:
        proposals = rows(
            "select content from review_item where product = ? order by ordinal",
            (product,),
        )
        decisions = rows(_NEWEST, (product,))
        made = [Decision.model_validate_json(row[0]) for row in decisions]
        return (
            [Proposal.model_validate(unpack_json(row[0])) for row in proposals],
            {decision.item_id: decision for decision in made},
        )

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        """Run this block as one transaction."""
        with self._transaction() as connection:
            yield connection
            crash_point(CrashPoint.REVIEWS_HALF)


_Rows = Callable[[str, Sequence[Any]], list[Any]]


def utc_now() -> str:
    """Return the time of a decision, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _reading(connection: Connection) -> _Rows:
    return lambda statement, values: connection.execute(statement, values).fetchall()


def _one(rows: _Rows, product: str, item_id: str) -> ReviewItem | None:
    key = (product, item_id)
    proposals = rows(
        "select content from review_item where product = ? and item_id = ?", key
    )
    past = rows(
        "select content from review where product = ? and item_id = ? "
        "order by revision desc limit 1",
        key,
    )
    if not proposals and not past:
        return None
    return ReviewItem(
        product=product,
        item_id=item_id,
        proposal=Proposal.model_validate(unpack_json(proposals[0][0]))
        if proposals
        else None,
        decision=Decision.model_validate_json(past[0][0]) if past else None,
    )


def _past(rows: _Rows, product: str, item_id: str) -> list[Decision]:
    past = rows(
        "select content from review where product = ? and item_id = ? "
        "order by revision",
        (product, item_id),
    )
    return [Decision.model_validate_json(row[0]) for row in past]


def _join_sides(
    product: str, proposals: Sequence[Proposal], decisions: Mapping[str, Decision]
) -> list[ReviewItem]:
    ids = {proposal.item_id for proposal in proposals}
    moved = {decision.moved_from for decision in decisions.values()}
    gone = [one for key, one in decisions.items() if key not in ids | moved]
    present = [
        ReviewItem(
            product=product,
            item_id=proposal.item_id,
            proposal=proposal,
            decision=decisions.get(proposal.item_id),
        )
        for proposal in proposals
    ]
    return present + [
        ReviewItem(product=product, item_id=one.item_id, proposal=None, decision=one)
        for one in sorted(gone, key=lambda one: (one.label, one.item_id))
    ]


def _refuse_stale(item: ReviewItem | None, change: ReviewChange) -> None:
    if item is None or change.revision is None or change.revision == item.revision:
        return
    asked = change.model_dump(mode="json", exclude_none=True)
    raise StaleReviewError(item.label, change.revision, item.summary(), asked)


def _append(connection: Connection, made: Decision) -> None:
    content = json.dumps(
        made.model_dump(mode="json"), ensure_ascii=False, sort_keys=True
    )
    key = (made.product, made.item_id, made.revision)
    connection.execute(_APPEND, (*key, content))


def _put_items(
    connection: Connection, product: str, proposals: Sequence[Proposal]
) -> None:
    connection.executemany(
        _PUT_ITEM,
        [
            (product, one.item_id, number, pack_json(one.model_dump(mode="json")))
            for number, one in enumerate(proposals)
        ],
    )
    kept = {one.item_id for one in proposals}
    ids = connection.execute(
        "select item_id from review_item where product = ?", (product,)
    ).fetchall()
    connection.executemany(
        "delete from review_item where product = ? and item_id = ?",
        [(product, item_id) for (item_id,) in ids if item_id not in kept],
    )


def _ids(decisions: Sequence[Decision], action: str) -> tuple[str, ...]:
    return tuple(made.item_id for made in decisions if made.action.value == action)
