"""`elt-llm review`: what a steward types, what is printed, how it ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from review_items import PRODUCT, id_of, open_store, proposal


@pytest.fixture
def root(tmp_path: Path) -> Path:
    store = open_store(tmp_path / "root")
    store.reviews.sync(
        PRODUCT, [proposal("Lease", "a right"), proposal("Rent", "what is paid")]
    )
    store.close()
    return tmp_path / "root"


@pytest.fixture
def review(root: Path, capsys: pytest.CaptureFixture[str]):
    """Run `elt-llm review`, and return its exit code, stdout and stderr."""

    def call(*words: str) -> tuple[int, str, str]:
        arguments = ["review", *words, "--data-dir", str(root)]
        code = run(elt_llm, arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def data(answer: tuple[int, str, str]) -> dict:
    assert answer[0] == 0, answer
    loaded: dict = json.loads(answer[1])
    return loaded


def test_products_and_items_are_listed(review) -> None:
    assert f"{PRODUCT}: 0 of 2 decided (2 proposed)" in review("list")[1]
    code, text, _ = review("list", "glossary")
    assert code == 0
    assert "Lease" in text
    assert "a right" in text
    listed = data(review("list", PRODUCT, "--search", "PAID", "--json"))
    assert [one["label"] for one in listed["items"]] == ["Rent"]
    assert listed["progress"]["items"] == 2
    assert (
        data(review("list", PRODUCT, "--status", "approved", "--json"))["items"] == []
    )


def test_what_a_run_could_not_decide_is_shown_and_chosen(root, review) -> None:
    open_item = proposal("Term", "an end, or a word")
    content = {**open_item.content, "review_status": "NEEDS_CLARIFICATION"}
    store = open_store(root)
    store.reviews.sync(
        PRODUCT,
        [
            proposal("Lease", "a right"),
            open_item.model_copy(update={"content": content}),
        ],
    )
    store.close()
    assert "0 of 2 decided (2 proposed; 1 need clarification)" in review("list")[1]
    listed = data(review("list", PRODUCT, "--unclear", "--json"))
    assert [(i["label"], i["unclear"]) for i in listed["items"]] == [("Term", True)]
    assert listed["progress"]["unclear"] == 1
    assert "needs clarification" in review("list", PRODUCT)[1]
    assert "proposed, needs clarification" in review("show", PRODUCT, "Term")[1]
    review("set", PRODUCT, "Term", "--status", "approved", "--reviewer", "ann")
    assert data(review("list", PRODUCT, "--unclear", "--json"))["items"] == []


def test_items_are_set_by_name_id_or_its_beginning(review) -> None:
    words = ("--status", "approved", "--reviewer", "ann", "--json")
    made = data(review("set", "glossary", "lease", id_of("Rent")[:6], *words))
    assert [(i["label"], i["status"]) for i in made["items"]] == [
        ("Lease", "approved"),
        ("Rent", "approved"),
    ]
    made = data(
        review("set", PRODUCT, id_of("Lease"), "--field", "definition=a=b", "--json")
    )
    assert made["items"][0]["fields"]["definition"] == "a=b"
    made = data(
        review("set", PRODUCT, "Lease", "--take-generated", "definition", "--json")
    )
    assert made["items"][0]["fields"]["definition"] == "a right"


def test_a_stale_revision_is_refused_with_both(review) -> None:
    review("set", PRODUCT, "Lease", "--status", "approved", "--reviewer", "ann")
    answer = review("set", PRODUCT, "Lease", "--status", "rejected", "--revision", "0")
    assert answer[0] == 75
    assert "now: status 'approved', reviewer 'ann'" in answer[2]
    assert "refused: status 'rejected'" in answer[2]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("show", PRODUCT, "Leash"), 65, "review list glossary:rules"),
        (("list", "catalog"), 65, "no product 'catalog'"),
        (("set", PRODUCT, "Lease"), 64, "there is nothing to change"),
        (("set", PRODUCT, "Lease", "--field", "definition"), 64, "has no ="),
        (("set", PRODUCT, "Lease", "--field", "a=b"), 64, "known: definition"),
        (("import", "none.csv"), 65, "No such file"),
        (("export", PRODUCT, "--to", "a.ods"), 65, ".xlsx"),
        (("undo", PRODUCT, "Lease"), 65, "nothing to undo"),
    ],
)
def test_what_goes_wrong_has_a_code_and_a_sentence(review, words, code, told) -> None:
    answer = review(*words)
    assert answer[0] == code
    assert told in answer[2]


def test_a_name_of_two_items_is_refused(root: Path, review) -> None:
    store = open_store(root)
    twice = [proposal("Lease", "x", document=f"{n}.pdf") for n in "ab"]
    store.reviews.sync("coverage:rules", twice)
    store.close()
    answer = review("show", "coverage", "Lease")
    assert answer[0] == 64
    assert twice[0].item_id in answer[2]


def test_a_sheet_goes_out_and_its_conflicts_end_with_2(
    review, root: Path, tmp_path: Path
) -> None:
    path = tmp_path / "sheet.csv"
    assert "2 rows" in review("export", PRODUCT, "--to", str(path))[1]
    text = path.read_text("utf-8-sig").replace("proposed,Lease", "rejected,Lease")
    path.write_text(text, "utf-8-sig")
    shown = review("diff", str(path))
    assert "1 items would change" in shown[1]
    assert "row 2 Lease: status 'proposed' -> 'rejected'" in shown[1]
    assert review("export", PRODUCT, "--to", str(path))[0] == 73
    review("set", PRODUCT, "Lease", "--status", "approved", "--reviewer", "bob")
    code, printed, _ = review("import", str(path), "--reviewer", "ann")
    assert code == 2
    assert "CONFLICT status: it is 'approved', the sheet says 'rejected'" in printed
    assert "offered status: rejected" in review("show", PRODUCT, "Lease")[1]
    told = review("history", PRODUCT, "Lease")[1].splitlines()
    assert ["set" in told[0], "imported" in told[1], len(told)] == [True, True, 2]


def test_what_changed_is_shown_with_both_texts(review, root: Path) -> None:
    words = ("--status", "approved", "--field", "definition=mine")
    review("set", PRODUCT, "Lease", *words)
    assert "No generated text has changed" in review("diff", PRODUCT)[1]
    store = open_store(root)
    store.reviews.sync(PRODUCT, [proposal("Lease", "another right")])
    store.close()
    text = review("diff", PRODUCT)[1]
    for line in ("definition: mine", "generated now: another right", "a right"):
        assert line in text
    listed = data(review("list", PRODUCT, "--changed", "--json"))
    assert listed["items"][0]["conflicts"] == ["definition"]


def test_undo_takes_back_the_last_decision(review) -> None:
    review("set", PRODUCT, "Lease", "--status", "approved")
    assert data(review("undo", PRODUCT, "Lease", "--json"))["status"] == "proposed"


def test_names_of_terms_cannot_move_the_cursor(root: Path, review) -> None:
    store = open_store(root)
    store.reviews.sync("glossary:odd", [proposal("A\x1b[2Jb", "c\x1b[1m")])
    store.close()
    for words in (("list", "glossary:odd"), ("show", "glossary:odd", "A\x1b[2Jb")):
        assert "\x1b" not in review(*words)[1]


def test_help_imports_little() -> None:
    code = "import sys, elt_llm_core.cli.review; sys.exit('openpyxl' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    assert done.returncode == 0


def test_the_start_of_two_names_lists_both(root: Path, review) -> None:
    store = open_store(root)
    store.reviews.sync("glossary:other", [proposal("Fence", "a wall")])
    store.close()
    code, _, text = review("list", "glossary")
    assert code == 65
    assert "2 products begin with 'glossary'" in text
    assert "glossary:other, glossary:rules" in text
