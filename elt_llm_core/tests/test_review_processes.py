"""Two reviewers at once, and kill -9: no decision that was acknowledged is lost."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from elt_llm_core.crash import VARIABLE, CrashPoint
from elt_llm_core.reviews.review_records import ReviewChange
from elt_llm_core.store import Store
from review_items import PRODUCT, decided, id_of, open_store, proposal

pytestmark = pytest.mark.usefixtures("warm_commands")

EDITS = 500  # of each of the two
KILLS = 12
TERMS = [f"Term {n}" for n in range(20)]

# Each edit reads the item, appends a mark of its own to what is there, and tells the
# revision it saw: what another one wrote meanwhile would be lost without the check.
REVIEWER = """
import sys
from pathlib import Path
from elt_llm_core.errors import StaleReviewError
from elt_llm_core.reviews.review_records import ReviewChange
from elt_llm_core.store import Store
root, name, edits, *ids = sys.argv[1:]
store = Store(Path(root))
refused = 0
print("ready", flush=True)
for number in range(int(edits)):
    item_id = ids[number % len(ids)]
    while True:
        item = store.reviews.item("glossary:rules", item_id)
        mark = f"{name}{number} "
        change = ReviewChange(
            item_id=item_id,
            edited={"definition": item.merge.fields["definition"] + mark},
            revision=item.revision,
        )
        try:
            store.reviews.change("glossary:rules", [change], name)
            break
        except StaleReviewError:
            refused += 1
    print(mark.strip(), flush=True)
print("refused", refused, flush=True)
"""


def start(root: Path, name: str, edits: int) -> subprocess.Popen[str]:
    ids = [id_of(term) for term in TERMS]
    return subprocess.Popen(
        [sys.executable, "-c", REVIEWER, str(root), name, str(edits), *ids],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    store = open_store(tmp_path / "root")
    store.reviews.sync(PRODUCT, [proposal(term, ": ") for term in TERMS])
    store.close()
    return tmp_path / "root"


def marks(root: Path) -> Counter[str]:
    store = Store(root)
    texts = [item.merge.fields["definition"] for item in store.reviews.items(PRODUCT)]
    store.close()
    return Counter(" ".join(texts).replace(":", "").split())


def test_two_reviewers_with_a_thousand_edits_lose_none(root: Path) -> None:
    reviewers = [start(root, name, EDITS) for name in ("ann", "bob")]
    told = [one.communicate(timeout=200)[0].split("\n") for one in reviewers]
    assert [one.returncode for one in reviewers] == [0, 0]
    expected = {f"{name}{n}" for name in ("ann", "bob") for n in range(EDITS)}
    assert marks(root) == Counter(dict.fromkeys(expected, 1))
    store = Store(root)
    history = store.reviews.history(PRODUCT)
    assert len(history) == 2 * EDITS
    assert Counter(d.reviewer for d in history) == {"ann": EDITS, "bob": EDITS}
    # Without a refusal the two never met, and nothing was tested.
    assert sum(int(lines[-2].split()[1]) for lines in told) > 0


def test_an_acknowledged_decision_outlives_kill_9(root: Path) -> None:
    delays = random.Random(14)  # noqa: S311 - when to kill
    acknowledged: list[str] = []
    for number in range(KILLS):
        child = start(root, f"r{number}x", 100_000)
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(delays.uniform(0.05, 0.4))
        os.killpg(child.pid, signal.SIGKILL)
        acknowledged += child.stdout.read().split()
        child.wait(timeout=20)
        child.stdout.close()
        with closing(sqlite3.connect(root / "truth.sqlite3")) as connection:
            assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    there = marks(root)
    assert len(acknowledged) > KILLS * 5
    assert [mark for mark in acknowledged if there[mark] != 1] == []
    assert sum(there.values()) - len(acknowledged) <= KILLS  # one in flight a kill


SYNC = """
import sys
from pathlib import Path
from elt_llm_core.store import Store
sys.path.insert(0, sys.argv[2])
from review_items import PRODUCT, proposal
proposals = [proposal(f"Term {n}", "new") for n in range(20)]
Store(Path(sys.argv[1])).reviews.sync(PRODUCT, proposals)
"""


@pytest.mark.parametrize("point", [CrashPoint.REVIEWS_HALF, CrashPoint.REVIEWS_WRITTEN])
def test_a_run_that_is_killed_reopens_all_or_nothing(
    root: Path, point: CrashPoint
) -> None:
    store = Store(root)
    for term in TERMS:
        decided(store, term, "approved")
    store.close()
    done = subprocess.run(
        [sys.executable, "-c", SYNC, str(root), str(Path(__file__).parent)],
        env={**os.environ, VARIABLE: point},
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    status = "approved" if point is CrashPoint.REVIEWS_HALF else "reopened"
    store = Store(root)
    assert {i.status for i in store.reviews.items(PRODUCT)} == {status}
    store.reviews.sync(PRODUCT, [proposal(term, "new") for term in TERMS])
    assert {i.status for i in store.reviews.items(PRODUCT)} == {"reopened"}
    assert len(store.reviews.history(PRODUCT)) == 2 * len(TERMS)


def test_reviews_are_written_while_a_writer_holds_the_data_root(root: Path) -> None:
    store = Store(root)
    with store.writer():
        other = Store(root)
        change = ReviewChange(item_id=id_of(TERMS[0]), notes="seen")
        (item,) = other.reviews.change(PRODUCT, [change], "ann")
    assert item.decision is not None
    assert item.decision.notes == "seen"
