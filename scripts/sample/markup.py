"""Read the handbook's text files into numbered blocks.

One line is one block; the first characters say what it is:

    # section    ## subsection         - rule
    + sub-item   = plain paragraph     ! table or figure

Inside a block ``{#x}`` names it, ``{@x}`` refers to it, ``{{Term|shape|aliases}}``
announces a definition whose words stand in ``⟦…⟧`` and ``{!}`` marks a sentence
that only looks like a definition. The gold file is made from the same marks, so
that it cannot drift away from the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

TEXT = Path(__file__).parent / "text"
KINDS = {"# ": "section", "## ": "sub", "- ": "rule", "+ ": "item", "= ": "para"}
_FIELD = re.compile(r"<(\w+)>")
_VARIANT = re.compile(r"\[([^\[\]]*\|\|[^\[\]]*)\]")
_LABEL = re.compile(r"\{#([\w-]+)\}")
_REF = re.compile(r"\{@([\w-]+)\}")
_TERM = re.compile(r"\{\{([^|}]+)\|([^|}]+)\|([^}]*)\}\}")
_MARKS = re.compile(r"\{\{[^}]*\}\}|\{!\}|⟦|⟧")


@dataclass(frozen=True)
class Term:
    """One defined term, as the gold file lists it."""

    term: str
    definition: str
    shape: str
    aliases: tuple[str, ...]


@dataclass
class Block:
    """One numbered piece of the handbook."""

    kind: str
    number: str
    text: str
    section: str
    terms: list[Term] = field(default_factory=list)
    traps: list[str] = field(default_factory=list)
    raw: bool = False


def rows(name: str) -> list[list[str]]:
    """Return the cells of a pipe-separated file, header row first."""
    lines = (TEXT / name).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.split("|")] for line in lines if line]


def split_aliases(cell: str) -> tuple[str, ...]:
    """Return the aliases of a ``a; b`` cell."""
    return tuple(part.strip() for part in cell.split(";") if part.strip())


def read_blocks() -> list[Block]:
    """Return every block of the handbook in reading order."""
    lines = [line for path in sorted(TEXT.glob("[0-9]*.txt")) for line in _lines(path)]
    numbered = list(_number(lines))
    labels: dict[str, str] = {"figure": "Figure 1"}
    for block in numbered:
        for label in _LABEL.findall(block.text):
            labels[label] = f"Rule {block.number}"
    for block in numbered:
        _finish(block, labels)
    return numbered


def _lines(path: Path) -> Iterator[str]:
    source = path.read_text(encoding="utf-8").splitlines()
    repeat: str | None = None
    held: list[str] = []
    for line in source:
        if line.startswith("!each "):
            repeat = line.removeprefix("!each ").strip()
        elif line == "!end" and repeat:
            yield from _expand(held, rows(f"facts-{repeat}.psv"))
            repeat, held = None, []
        elif repeat:
            held.append(line)
        elif line:
            yield line


def _expand(template: list[str], facts: list[list[str]]) -> Iterator[str]:
    header, *entries = facts
    for index, entry in enumerate(entries):
        values = dict(zip(header, entry, strict=True))
        for offset, line in enumerate(template):
            yield _fill(line, values, index + offset)


def _fill(line: str, values: dict[str, str], turn: int) -> str:
    # The wording turns with the entry and the line, so neighbours read differently.
    def choose(match: re.Match[str]) -> str:
        options = match.group(1).split("||")
        return options[turn % len(options)]

    chosen = _VARIANT.sub(choose, line)
    return _FIELD.sub(lambda match: values[match.group(1)], chosen)


def _number(lines: Iterable[str]) -> Iterator[Block]:
    section = sub = rule = item = 0
    for line in lines:
        if line.startswith("!"):
            yield Block(line[1:], "", "", str(section))
            continue
        mark, text = line.split(" ", 1)
        kind = KINDS[mark + " "]
        number = ""
        if kind == "section":
            section, sub, rule = section + 1, 0, 0
            number = str(section)
        elif kind == "sub":
            sub, rule = sub + 1, 0
            number = f"{section}.{sub}"
        elif kind == "rule":
            rule, item = rule + 1, 0
            number = f"{section}.{sub}.{rule}"
        elif kind == "item":
            item += 1
            number = f"({'abcdefgh'[item - 1]})"
        yield Block(kind, number, text, str(section))


def _finish(block: Block, labels: dict[str, str]) -> None:
    text = _LABEL.sub("", block.text)
    text = _REF.sub(lambda match: labels[match.group(1)], text)
    block.traps = [
        _MARKS.sub("", part).split(". ")[0].rstrip(".") + "."
        for part in text.split("{!}")[1:]
    ]
    spans = re.findall(r"⟦([^⟧]*)⟧", text)
    for match, span in zip(_TERM.finditer(text), spans, strict=True):
        name, shape, aliases = match.groups()
        block.terms.append(Term(name, span, shape, split_aliases(aliases)))
    text = _MARKS.sub("", text)
    block.raw = text.startswith("~")
    block.text = text.removeprefix("~")
