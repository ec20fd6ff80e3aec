"""How often answers to ordinary questions are said to rest on sources that disagree.

    uv run --group dev python benchmarks/conflicts.py --data DIR --work DIR

`--data` holds `xquad_dev` and `nist_sp800_63_4`; data roots are made in `--work` and
used again. Each English question of XQuAD is asked over all paragraphs, and "What is
X?" for every fourth term that the NIST handbook defines, over its four volumes. Every
conflict is printed, to be judged by a person: documents of one author seldom disagree.

Then the pairs of `conflict_pairs.tsv` (set, kind, question, two sentences in free
words): all first sentences are one document and all second ones another. Printed is how
many contradictions are reported, and how many pairs about two things.
"""

import argparse
import json
import logging
from collections import Counter
from pathlib import Path

from elt_llm_query import Library

PAIRS = Path(__file__).with_name("conflict_pairs.tsv")
EVERY = 4  # of the defined terms; with XQuAD's 48 questions some hundred in all


def main() -> None:
    """Ask every question and print the conflicts and their number."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--work", type=Path, required=True, help="where roots are made")
    options = parser.parse_args()
    logging.disable(logging.INFO)
    asked = answered = conflicts = 0
    for name, files, questions in (
        read_xquad(options.data / "xquad_dev" / "en.json", options.work),
        read_handbook(options.data / "nist_sp800_63_4"),
    ):
        with Library(options.work / name) as library:
            library.add(files, collection=name)
            for question in questions:
                result = library.ask(question, [name])
                asked += 1
                answered += result.status.value in {"answered", "partial"}
                for conflict in result.conflicts:
                    conflicts += 1
                    print(f"{question}\n  {conflict.reason}")
                    print(*(f"    {q.quote}" for q in conflict.quotes), sep="\n")
    print(f"{asked} questions, {answered} answered, {conflicts} conflicts")
    ask_pairs(options.work)


def ask_pairs(work: Path) -> None:
    """Ask the question of each pair and print how many are reported."""
    rows = [line.split("\t") for line in PAIRS.read_text("utf-8").splitlines()]
    for name in dict.fromkeys(row[0] for row in rows):
        pairs = [row[1:] for row in rows if row[0] == name]
        files = []
        for title, column in (("handbook", 2), ("procedure", 3)):
            path = work / f"{title}-{name}.md"
            parts = [f"## Part {at}\n\n{p[column]}" for at, p in enumerate(pairs, 1)]
            path.write_text("\n\n".join([f"# {title}", *parts]), encoding="utf-8")
            files.append(path)
        counts: Counter[str] = Counter()
        with Library(work / f"pairs-{name}") as library:
            library.add(files, collection="pairs")
            for kind, question, *_ in pairs:
                conflicts = library.ask(question, ["pairs"]).conflicts
                counts[f"{kind} reported" if conflicts else f"{kind} not"] += 1
        print(name, dict(sorted(counts.items())))


def read_xquad(file: Path, work: Path) -> tuple[str, list[Path], list[str]]:
    """The name, an article a file, and the questions of XQuAD."""
    folder = work / "articles"
    folder.mkdir(parents=True, exist_ok=True)
    files, questions = [], []
    for article in json.loads(file.read_text(encoding="utf-8")):
        path = folder / f"{article['title']}.txt"
        path.write_text("\n\n".join(article["paragraphs"]), encoding="utf-8")
        files.append(path)
        questions += [one["question"] for one in article["questions"]]
    return "xquad", files, questions


def read_handbook(folder: Path) -> tuple[str, list[Path], list[str]]:
    """The name, the volumes, and a question for some of the defined terms."""
    files = [path for path in sorted(folder.glob("_sp800-63*")) if path.is_dir()]
    entries = json.loads((folder / "definitions_parsed.json").read_text("utf-8"))
    terms = [entry["term"] for entry in entries]
    return "nist", files, [f"What is {term}?" for term in terms[::EVERY]]


if __name__ == "__main__":
    main()
