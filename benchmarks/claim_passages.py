"""Passages of public rule books and handbooks, and their sentences."""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from elt_llm_query.analysis.stems import pieces

PASSAGE = range(300, 1400)  # characters of a passage
SENTENCE = range(8, 45)  # words of a sentence that a claim is made of
NEIGHBOURS = 4  # other passages of the same document that are offered beside it


@dataclass(frozen=True)
class Passage:
    """A stretch of a document, and the others that are offered beside it."""

    document: str
    text: str
    others: tuple[str, ...] = ()


Alter = Callable[[str, Passage, random.Random], str | None]


def read_passages(data: Path) -> list[Passage]:
    """Return the passages of the three sources, in order, each with its neighbours."""
    documents: dict[str, list[str]] = {}
    for line in (data / "obliqa/corpus.jsonl").read_text().splitlines():
        row = json.loads(line)
        name = f"rulebook {row['metadata']['DocumentID']}"
        documents.setdefault(name, []).append(row["text"])
    for path in sorted((data / "drug_monographs/data").glob("*.json")):
        documents[path.stem] = [row["text"] for row in json.loads(path.read_text())]
    for path in sorted((data / "nist_sp800_63_4").rglob("sec*.md")):
        name = str(path.relative_to(data))
        documents[name] = re.split(r"\n\s*\n", path.read_text())
    passages = []
    for name, parts in documents.items():
        texts = list(_join(parts))
        for i, text in enumerate(texts):
            near = texts[max(i - 2, 0) : i] + texts[i + 1 : i + 1 + NEIGHBOURS]
            passages.append(Passage(name, text, tuple(near[:NEIGHBOURS])))
    return passages


def _join(parts: Sequence[str]) -> Iterator[str]:
    text = ""
    for part in parts:
        if len(text) + len(part) > PASSAGE.stop and len(text) in PASSAGE:
            yield text
            text = ""
        text = f"{text}\n\n{part.strip()}".strip()
        if len(text) >= PASSAGE.stop:
            text = ""  # a single part that is too long
    if len(text) in PASSAGE:
        yield text


def split_passage(text: str) -> list[str]:
    """Return the plain sentences of a passage, each on one line."""
    flat = [" ".join(text[a:b].split()) for a, b in pieces(text)]
    return [
        s
        for s in flat
        if len(s.split()) in SENTENCE
        and re.match(r"[A-Z]", s)
        and s.endswith(".")
        and '"' not in s
        and not re.search(r"[\[\]|*#<>\u201c\u201d]", s)
    ]


def replace_span(sentence: str, span: tuple[int, int], by: str) -> str:
    """Return a sentence with other words in a span."""
    return sentence[: span[0]] + by + sentence[span[1] :]


def choose_match(
    pattern: re.Pattern[str], text: str, rng: random.Random
) -> re.Match[str] | None:
    """Return one of the matches of a pattern, or None."""
    matches = list(pattern.finditer(text))
    return rng.choice(matches) if matches else None
