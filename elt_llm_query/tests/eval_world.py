"""A small test set in the BEIR layout, about a library's rules."""

import json
from pathlib import Path

PASSAGES = {
    "p1": ("Loans", "A reader may borrow up to eight books at the same time."),
    "p2": ("Loans", "The loan period of a book is 21 days."),
    "p3": ("Overdue", "The fee for an overdue book is 20 cents per day."),
    "p4": ("Cards", "A library card is issued to every person in the district."),
    "p5": ("Cards", "Children under 12 need the consent of a parent."),
    "p6": ("Rooms", "The reading room closes at 20:00 on weekdays."),
    "p7": ("Rooms", "Food is not permitted in the reading room."),
    "p8": ("Rooms", "A group room is reserved at the desk for two hours."),
    "p9": ("Staff", "The librarian orders new books in spring and in autumn."),
    "p10": ("Staff", "Volunteers shelve returned books before the doors open."),
}
QUESTIONS = {
    "q1": ("How many books may a reader borrow?", {"p1": 1}),
    "q2": ("How long is the loan period?", {"p2": 1}),
    "q3": ("What is the fee for an overdue book?", {"p3": 2, "p2": 1}),
    "q4": ("Is membership open to all?", {"p4": 1}),
    "q5": ("Do children need consent?", {"p5": 1}),
    "q6": ("When does the reading room close?", {"p6": 1}),
    "q7": ("Is lunch allowed?", {"p7": 1}),
    "q8": ("How do I reserve a group room?", {"p8": 1}),
    "q9": ("How is fresh literature bought?", {"p9": 1}),
    "q10": ("Do unpaid helpers work here?", {"p10": 1}),
}


def rows(path: Path, lines: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def write_beir(folder: Path) -> Path:
    corpus = [{"_id": k, "title": t, "text": x} for k, (t, x) in PASSAGES.items()]
    rows(folder / "corpus.jsonl", corpus)
    rows(
        folder / "queries.jsonl",
        [{"_id": k, "text": t} for k, (t, _) in QUESTIONS.items()],
    )
    lines = ["query-id\tcorpus-id\tscore"]
    lines += [
        f"{q}\t{p}\t{g}" for q, (_, gold) in QUESTIONS.items() for p, g in gold.items()
    ]
    (folder / "qrels").mkdir()
    (folder / "qrels" / "dev.tsv").write_text("\n".join(lines) + "\n")
    return folder
