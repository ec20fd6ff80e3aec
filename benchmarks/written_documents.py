"""Reads the documents of `written_documents/`, with what was written about them.

A line is a title (T), a heading (H), a sentence (S1, S2 ...), a question (Q; P if it is
plain), a claim (C) or a row of the glossary that a reader made of the document (G).
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).with_name("written_documents")
# Of each nineteen documents, a file's, the ninth and the last but one are kept from
# training, to see what is learnt.
KEPT = (8, 17)
OF = 19
_SENTENCE = re.compile(r"S\d+")


class WrittenSentence(NamedTuple):
    """A sentence with its heading and the sentence before it in its section."""

    text: str
    heading: str
    before: str

    @property
    def context(self) -> str:
        """The text before it, as a reader is given it."""
        return f"{self.heading}. {self.before}".strip()


class Question(NamedTuple):
    """A question, the numbers of the sentences that answer it, and the answer.

    Attributes:
        is_plain: Whether it uses the words of the document.
    """

    text: str
    answers: tuple[int, ...]
    words: str
    is_plain: bool = False


class Claim(NamedTuple):
    """A statement, whether its sentences prove it, and their numbers."""

    text: str
    is_true: bool
    evidence: tuple[int, ...]


class GlossaryRow(NamedTuple):
    """A term with its definition, made by reading.

    Attributes:
        names: The term, and its other forms in the document.
        kind: `stated`; `weak`, where two careful readers could disagree; `expanded`, an
            abbreviation; `also`, a further place of a row above; `used`, a term that
            nothing defines.
        places: The numbers of the sentences.
        definition: Words of these sentences, joined by a space; empty for `used`.
    """

    names: tuple[str, ...]
    kind: str
    places: tuple[int, ...]
    definition: str


class WrittenDocument(NamedTuple):
    """A document; sentences are numbered from 0."""

    title: str
    sentences: list[WrittenSentence]
    questions: list[Question]
    claims: list[Claim]
    glossary: list[GlossaryRow]


def definition_questions(document: WrittenDocument) -> list[Question]:
    """Return plain questions for the terms of a document's glossary.

    Terms that nothing defines have no answer; rows that two careful readers could judge
    differently are left out.
    """
    questions = []
    for at, row in enumerate(document.glossary):
        if row.kind not in {"stated", "used"}:
            continue
        places = [
            place
            for one in document.glossary
            if one.kind in {"stated", "also"} and set(one.names) & set(row.names)
            for place in one.places
        ]
        answers = tuple(places) if row.kind == "stated" else ()
        text = _ask_for(row.names[0], at)
        questions.append(Question(text, answers, row.definition, is_plain=True))
    return questions


def _ask_for(term: str, at: int) -> str:
    if at % 3 == 1:
        return f"What does {term} mean?"
    if term.endswith("s") and not term.endswith("ss"):
        return f"What are {term}?"
    article = "an" if term[0].lower() in "aeiou" else "a"
    return f"What is {term}?" if term[0].isupper() else f"What is {article} {term}?"


def read_documents(
    folder: Path = FOLDER, files: str = "*.tsv"
) -> list[WrittenDocument]:
    """Return the documents of a folder's files, in their order."""
    return [one for path in sorted(folder.glob(files)) for one in _parse(path)]


def split_documents() -> tuple[list[WrittenDocument], list[WrittenDocument]]:
    """Return the documents to train on, and those that are kept from training."""
    trained: list[WrittenDocument] = []
    kept: list[WrittenDocument] = []
    for place, document in enumerate(read_documents()):
        (kept if place % OF in KEPT else trained).append(document)
    return trained, kept


def _parse(path: Path) -> Iterator[WrittenDocument]:
    text = path.read_text(encoding="utf-8")
    for part in text.removeprefix("T\t").split("\nT\t"):
        title, *lines = part.splitlines()
        document, heading = WrittenDocument(title.strip(), [], [], [], []), ""
        for line in lines:
            kind, *fields = (field.strip() for field in line.split("\t"))
            if kind == "H":
                heading = fields[0]
            else:
                _add(document, kind, fields, heading)
        yield document


def _add(
    document: WrittenDocument, kind: str, fields: Sequence[str], heading: str
) -> None:
    """Add a line to a document."""
    if _SENTENCE.fullmatch(kind):
        last = document.sentences[-1] if document.sentences else None
        before = last.text if last and last.heading == heading else ""
        document.sentences.append(WrittenSentence(fields[0], heading, before))
    elif kind in {"Q", "P"}:
        words = fields[2] if len(fields) > 2 else ""
        answers = _numbers(fields[1])
        document.questions.append(Question(fields[0], answers, words, kind == "P"))
    elif kind == "C":
        is_true = fields[0] == "true"
        document.claims.append(Claim(fields[1], is_true, _numbers(fields[2])))
    elif kind == "G":
        names, of_kind, places, *definition = fields
        listed = tuple(name.strip() for name in names.split(";"))
        row = GlossaryRow(listed, of_kind, _numbers(places), "".join(definition))
        document.glossary.append(row)


def _numbers(field: str) -> tuple[int, ...]:
    """Return "S4,S7" as (3, 6), and "-" as ()."""
    return tuple(int(one.strip()[1:]) - 1 for one in field.split(",") if one != "-")
