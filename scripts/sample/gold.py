"""Make the gold file: what a perfect reader would find in the sample."""

from __future__ import annotations

from typing import Any

import model
import yaml
from handbook import key_of, row_key, table_rows
from markup import TEXT, Block, Term, rows, split_aliases
from model_data import DOMAINS


def questions() -> list[dict[str, Any]]:
    """Return the questions as their author wrote them."""
    found: list[dict[str, Any]] = yaml.safe_load(
        (TEXT / "questions.yaml").read_text(encoding="utf-8")
    )
    return found


def quotes() -> list[str]:
    """Return every sentence of the handbook that a question relies on."""
    return [q["quote"] for q in questions() if q["kind"] == "prose"]


def build(blocks: list[Block], pages: dict[str, int]) -> dict[str, Any]:
    """Return the whole gold structure."""
    terms = _prose_terms(blocks, pages) + _table_terms(blocks, pages)
    traps = [trap for block in blocks for trap in block.traps]
    return {
        "terms": terms,
        "not_terms": traps,
        "mapping": [row for term in terms for row in _mapping(term)],
        "model": {
            "domains": sorted(d.name for d in DOMAINS),
            "entities": model.entities(),
            "relationships": model.relationships(),
            "skipped": model.skipped(),
        },
        "questions": [_question(row, blocks, pages) for row in questions()],
    }


def _prose_terms(blocks: list[Block], pages: dict[str, int]) -> list[dict[str, Any]]:
    found = []
    for index, block in enumerate(blocks):
        page = pages.get(key_of(block, index), 0)
        found += [
            _term(term, block.section, block.number, page) for term in block.terms
        ]
    return found


def _table_terms(blocks: list[Block], pages: dict[str, int]) -> list[dict[str, Any]]:
    found = []
    for name, shape in (("terms", "table"), ("signals", "table_dash")):
        section = next(b.section for b in blocks if b.kind == f"table {name}")
        printed = table_rows(name)[1:]
        for (word, text, other), row in zip(rows(f"{name}.txt"), printed, strict=True):
            term = Term(word, text, shape, split_aliases(other))
            page = pages[row_key(name, row[0])]
            found.append(_term(term, section, "", page))
    return found


def _term(term: Term, section: str, rule: str, page: int) -> dict[str, Any]:
    return {
        "term": term.term,
        "definition": term.definition,
        "section": section,
        "rule": rule,
        "page": page,
        "shape": term.shape,
        "aliases": list(term.aliases),
    }


def _mapping(term: dict[str, Any]) -> list[dict[str, str]]:
    name = term["term"].casefold()
    exact = [e for e in model.entities() if e["name"].casefold() == name]
    keys = {key for key, words in model.aliases().items() if name in words}
    near = [e for e in model.entities() if e["name"].casefold() in keys]
    match = "exact" if exact else "alias" if near else "none"
    return [
        {
            "term": term["term"],
            "entity": entity["name"],
            "domain": entity["domain"],
            "match": match,
        }
        for entity in (exact or near or [{"name": "", "domain": ""}])
    ]


def _question(
    row: dict[str, Any], blocks: list[Block], pages: dict[str, int]
) -> dict[str, Any]:
    answered = {**row, "section": "", "page": None}
    answered.setdefault("quote", "")
    answered["status"] = "answered" if row["kind"] != "unanswerable" else "insufficient"
    answered.setdefault("answer_contains", [])
    if row["kind"] == "model":
        answered["document"] = "model.drawio"
    elif answered["status"] == "insufficient":
        answered["document"] = ""
    else:
        answered["document"] = "handbook.pdf"
        place = _row if row["kind"] == "table_row" else _sentence
        answered["section"], answered["page"] = place(row["quote"], blocks, pages)
    for words in answered["answer_contains"]:
        if words not in answered["quote"] and row["kind"] != "model":
            raise ValueError(f"{words!r} is not in the quote of {row['question']!r}")
    return answered


def _sentence(
    quote: str, blocks: list[Block], pages: dict[str, int]
) -> tuple[str, int]:
    hits = [(i, b) for i, b in enumerate(blocks) if quote in b.text]
    if len(hits) != 1:
        raise ValueError(f"{len(hits)} rules hold the quote {quote!r}")
    index, block = hits[0]
    return block.number or block.section, pages[key_of(block, index)]


def _row(quote: str, blocks: list[Block], pages: dict[str, int]) -> tuple[str, int]:
    for block in blocks:
        if not block.kind.startswith("table "):
            continue
        name = block.kind.removeprefix("table ")
        for cells in table_rows(name)[1:]:
            if " ".join(cells) == quote:
                return block.section, pages[row_key(name, cells[0])]
    raise ValueError(f"no table row reads {quote!r}")
