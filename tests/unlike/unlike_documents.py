"""Documents that have nothing in common but that somebody may hand them in."""

import json
import os
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import pypdfium2

DATA = Path(os.environ.get("ELT_LLM_EVAL_DATA", ""))

PARAGRAPH = "The harbour office opens at eight. A mooring is paid for in advance.\n"
GERMAN = """\
# Hafenordnung

## 1 Begriffe

„Liegeplatz“ bedeutet die Stelle, an der ein Boot festgemacht wird.

Der Hafenmeister ist die Person, die Liegeplätze vergibt. Bitte beachten Sie die
Aushänge am Büro.

## 2 Gebühren

Die Gebühr für einen Liegeplatz beträgt 12 Euro am Tag.
"""
KOREAN = """\
# 항구 규칙

## 1 정의

"계류장"이란 배를 묶어 두는 장소를 말한다. 항만장은 계류장을 배정하는 사람이다.

## 2 요금

계류장의 하루 요금은 12,000원이다. 요금은 미리 낸다.
"""
TABLE = "Berth,Length,Fee\nNorth 1,8 m,12\nNorth 2,10 m,15\nSouth 1,14 m,22\n"
HEADINGS = "# Harbour\n\n## Moorings\n\n### Fees\n\n## Office hours\n"
INVENTORY = (
    "id,type,name,displayName,description\n"
    "1,DataObject,Mooring,Harbour / Mooring,Where a boat is made fast.\n"
    "2,DataObject,Annual Leave,People / Annual Leave,\n"
    "3,DataObject,Puzzle,Puzzle,\n"
    "4,DataObject,Metformin,Medicine / Metformin,\n"
    "5,Application,Net Sales,Net Sales,\n"
)


@dataclass(frozen=True)
class Document:
    """A file, what to ask it, and how its own text is read for comparison."""

    name: str
    question: str
    path: str = ""  # below the evaluation data; empty for a text of ours
    text: str = ""
    suffix: str = ".md"

    @property
    def is_data(self) -> bool:
        """Whether it comes with the evaluation data."""
        return bool(self.path)

    def file(self, folder: Path) -> Path:
        """The file; one of our own is written to `folder`."""
        if self.is_data:
            return DATA / self.path
        file = folder / f"{self.name}{self.suffix}"
        if not file.exists():
            file.write_text(self.text, encoding="utf-8")
        return file

    def pages(self, folder: Path) -> list[str]:
        """The file's text in its own order, page by page, read without our readers."""
        file = self.file(folder)
        if file.suffix == ".pdf":
            return _pdf_pages(file)
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".json":
            text = re.sub(r"<[^<>]*>", " ", json.loads(text)["markdown"])
        if file.suffix == ".md":
            text = re.sub(r"(?<=\])\([^()\s]*\)", "", text)  # targets of links
        return [text]


ROW = (
    Document("paragraph", "When does the harbour office open?", text=PARAGRAPH),
    Document("german", "Was kostet ein Liegeplatz am Tag?", text=GERMAN),
    Document("korean", "계류장의 하루 요금은?", text=KOREAN),
    Document("table", "What is the fee of North 2?", text=TABLE, suffix=".csv"),
    Document("word", "mooring", text="Mooring\n", suffix=".txt"),
    Document("headings", "What are the office hours?", text=HEADINGS),
    Document(
        "handbook",
        "How long is the probation period?",
        "policy_pdf/HR_HR_Policy/HR_Policy.pdf",
    ),
    Document(
        "monograph",
        "What is lactic acidosis?",
        "drug_monographs/docs/metformin.pdf",
    ),
    Document(
        "rules",
        "How many seconds may a competitor inspect the puzzle?",
        "rules_wca/wca-regulations.md",
    ),
    Document(
        "export",
        "What are common colds?",
        "ade_json/Common_cold_clinincal_evidence.json",
    ),
    Document(
        "statement",
        "What were net sales in the fourth quarter?",
        "financebench/ULTABEAUTY_2023Q4_EARNINGS.pdf",
    ),
    Document(
        "paper", "What is next sentence prediction?", "reading_dev/bert.pdf"
    ),
)  # fmt: skip


def _pdf_pages(file: Path) -> list[str]:
    """What PDFium says of each page, in the order in which it was written."""
    pdf = pypdfium2.PdfDocument(file)
    try:
        found = []
        for page in pdf:
            text = page.get_textpage()
            found.append(text.get_text_range())
            text.close()
            page.close()
        return found
    finally:
        pdf.close()


def squashed(text: str) -> str:
    """Letters and digits only: hyphens, ligatures, line breaks and marks vanish."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in plain if c.isalnum())


def stands_in(quote: str, source: str) -> bool:
    """Whether the words of a quote stand in the source in their sequence.

    Each line of a quote counts by itself: a running head, or another cell, may stand
    between two. A line that the source breaks is found word by word, with no more than
    as many foreign words between as it has of its own.
    """
    whole = squashed(source)
    if squashed(quote) in whole:
        return True
    words = [w for w in map(squashed, source.split()) if w]
    return all(
        squashed(line) in whole or _is_sequence(line, words)
        for line in re.split(r"[\n\t]", quote)
    )


def _is_sequence(line: str, words: list[str]) -> bool:
    wanted = [w for w in map(squashed, line.split()) if w]
    for start in (i for i, word in enumerate(words) if wanted[:1] == [word]):
        rest = iter(words[start : start + 2 * len(wanted)])
        if all(word in rest for word in wanted):
            return True
    return not wanted
