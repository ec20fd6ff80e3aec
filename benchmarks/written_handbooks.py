"""Glossaries and answers of the written handbooks, compared with those of readers.

    python benchmarks/written_handbooks.py --root ROOT [--every N] [--skip-questions]
        [--show FILE]

The documents of `written_handbooks/` are ingested as Markdown into the data root ROOT,
a collection each, unless they are there; no language model is used. Prints for each
kind of document precision, recall and boundaries of the glossary, by the rule of the
gold glossaries (`evaluation/glossary_gold.py`), and how many questions are answered
rightly: an answer is right if it has the words that the reader marked as the answer and
half of the words of one of the sentences that the reader named. `--every` takes only
every Nth document of a file; `--show` writes the wrong answers.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from answer_checks import fill
from answer_scorer import interval
from elt_llm_consumer.definitions.definition_pipeline import (
    LIKELY,
    SURE,
    find_definitions,
)
from elt_llm_core.config.loader import load_config
from elt_llm_core.models.factory import build_models
from elt_llm_core.models.sentence_reader import without_number
from elt_llm_core.results import QueryResult, Status
from elt_llm_core.store import Store
from elt_llm_query.query import query_collections
from evaluation.glossary_gold import GoldTerm, Judgement, gold_term, judge, tokens
from written_documents import Question, WrittenDocument, read_documents

FOLDER = Path(__file__).with_suffix("")
KINDS = (
    ("staff handbooks", ("01", "06")),
    ("rules of contests", ("02", "07")),
    ("monographs, manuals", ("03", "08")),
    ("standards, policies", ("04", "09")),
    ("by-laws, conditions", ("05", "10")),
    ("handbooks of trades", ("11",)),
)
THRESHOLDS = (SURE, LIKELY)
PAGES = "pages"  # folder of the documents as Markdown, in ROOT
HALF = 0.5  # of the words of a sentence that an answer has to quote
GLOSSARY = ("precision", "recall", "tight", "rows", "over 120 words")
COLUMNS = ("right", "right, uncertain", "wrong", "wrong, uncertain", "refused")
UNSURE = "It is not certain"  # opens the line below an answer that may be none
_CLAUSE = re.compile(r"[(\[]?(?:\d|[a-z]\)|[-\u2022*]\s)")  # begins a paragraph


def to_markdown(document: WrittenDocument) -> str:
    """Return a document as a page; a numbered clause or an item is a paragraph."""
    lines, heading = [f"# {document.title}"], ""
    for sentence in document.sentences:
        new = sentence.heading != heading
        if new:
            heading = sentence.heading
            lines += ["", f"## {heading}"]
        if new or _CLAUSE.match(sentence.text):
            lines.append("")
        lines.append(sentence.text)
    return "\n".join(lines) + "\n"


def read_gold(document: WrittenDocument) -> list[GoldTerm]:
    """Return the reader's glossary; further places of a row are spans of it."""
    further = [row for row in document.glossary if row.kind == "also"]
    return [
        gold_term(
            row.names,
            [
                row.definition,
                *(f.definition for f in further if set(f.names) & set(row.names)),
            ],
            row.kind,
            row.kind,
        )
        for row in document.glossary
        if row.kind != "also"
    ]


def add(judgements: Sequence[Judgement]) -> Judgement:
    """Return the counts of several glossaries together."""
    counts = (vars(one).values() for one in judgements)
    return Judgement(*map(sum, zip(*counts, strict=True)))


def judge_answer(
    result: QueryResult, question: Question, document: WrittenDocument
) -> str:
    """Return which column an answer counts in."""
    if result.status not in {Status.ANSWERED, Status.PARTIAL}:
        return "refused"
    answer = " ".join(result.answer.split())
    own = tokens(answer)
    named = (
        tokens(without_number(document.sentences[n].text)) for n in question.answers
    )
    quotes = any((one & own).total() >= HALF * one.total() for one in named)
    verdict = "right" if quotes and question.words in answer else "wrong"
    return f"{verdict}, uncertain" if UNSURE in result.answer else verdict


def kind_of(question: Question) -> str:
    """Return the kind of a question."""
    if not question.answers:
        return "no answer"
    return "plain" if question.is_plain else "other words"


def read_kinds(every: int) -> Iterator[tuple[str, str, WrittenDocument]]:
    """Yield the kind, the collection and each document."""
    for kind, files in KINDS:
        for name in files:
            documents = read_documents(FOLDER, f"{name}.tsv")
            for number, document in enumerate(documents, start=1):
                if number % every == 0:
                    yield kind, f"handbook-{name}-{number:02}", document


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--skip-questions", action="store_true")
    parser.add_argument("--show", type=Path, default=None)
    options = parser.parse_args()
    config = load_config(environ={})
    models, store = build_models(config), Store(options.root)
    documents = list(read_kinds(options.every))
    pages = options.root / PAGES
    pages.mkdir(exist_ok=True)
    for _, name, document in documents:
        (pages / f"{name}.md").write_text(to_markdown(document), encoding="utf-8")
    fill(pages, store, models, config, {n: [f"{n}.md"] for _, n, _ in documents})
    print_glossaries(store, documents)
    if options.skip_questions:
        return
    counts: dict[tuple[str, str], Counter[str]] = {}
    wrong = []
    for kind, name, document in documents:
        for question in document.questions:
            result = query_collections(
                [name], question.text, store=store, config=config, models=models
            )
            verdict = judge_answer(result, question, document)
            for key in ((kind, kind_of(question)), ("all", kind_of(question))):
                counts.setdefault(key, Counter())[verdict] += 1
            if verdict.startswith("wrong"):
                answer = " ".join(result.answer.split())
                wrong.append(f"{name}\t{kind_of(question)}\t{verdict}\t{question.text}")
                wrong[-1] += f"\t{question.words}\t{answer}\n"
    print_answers(counts)
    if options.show:
        options.show.write_text("".join(wrong), encoding="utf-8")


def print_glossaries(
    store: Store, documents: Sequence[tuple[str, str, WrittenDocument]]
) -> None:
    """Print a row for each kind of document and threshold."""
    print(f"| kind, threshold | {' | '.join(GLOSSARY)} |\n{'|---' * 6}|")
    for threshold in THRESHOLDS:
        by_kind: dict[str, list[Judgement]] = {}
        for kind, name, document in documents:
            (row,) = store.documents(name)
            text, blocks = (
                store.document_text(row.document_id),
                store.blocks(row.document_id),
            )
            rows = [
                (one.term, one.definition)
                for one in find_definitions(text, blocks, threshold)
            ]
            judged = judge(rows, read_gold(document))
            for key in (kind, "all"):
                by_kind.setdefault(key, []).append(judged)
        for kind in (*(name for name, _ in KINDS), "all"):
            if kind in by_kind:
                cells = add(by_kind[kind]).columns()
                print(f"| {kind}, {threshold} | {' | '.join(cells)} |")


def print_answers(counts: dict[tuple[str, str], Counter[str]]) -> None:
    """Print a row for each kind of document and of question, and shares of all."""
    print(f"\n| documents, questions | asked | {' | '.join(COLUMNS)} |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for (kind, of), own in counts.items():
        cells = (str(own[column]) for column in COLUMNS)
        print(f"| {kind}, {of} | {own.total()} | {' | '.join(cells)} |")
    for of in ("other words", "plain", "no answer"):
        own = counts["all", of]
        shares = (f"{c} {interval(own[c], own.total())}" for c in COLUMNS)
        print(f"\n{of}: {', '.join(shares)}")


if __name__ == "__main__":
    main()
