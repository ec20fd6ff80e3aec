"""Documents with glossaries or labels that the definition scorer learns from.

A set has the candidates of its documents, their features, and which of them are right:
by a glossary that was compiled by reading the document, or by labels of single
candidates (`glossary_labels.tsv`).
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from elt_llm_consumer.definitions.definition_features import (
    Features,
    describe_all,
    kind,
)
from elt_llm_consumer.definitions.definition_records import text_units
from elt_llm_consumer.definitions.proposals import (
    DefinitionProposal,
    find_candidates,
)
from elt_llm_consumer.definitions.usage import Usage
from elt_llm_core.config.domain_packs import DEFAULT, known_packs
from elt_llm_core.config.loader import load_config
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from evaluation.deft import marked_terms
from evaluation.glossary_gold import (
    GoldTerm,
    agreement,
    gold_term,
    read_gold,
)
from written_documents import WrittenDocument, read_documents

ALIKE = 0.6  # token F1 from which a candidate is a whole example of its gold term
GOLD = {
    "HR policy": ("hr_policy", ["policy_pdf/HR_HR_Policy/HR_Policy.pdf"]),
    "competition rules": ("rules_wca", ["rules_wca"]),
    "monograph": ("metformin", ["drug_monographs/docs/metformin.pdf"]),
}
NIST, NIST_LIST = "NIST definitions", "nist_sp800_63_4/_sp800-63/definitions.md"
NIST_GOLD = "nist_sp800_63_4/definitions_parsed.json"
NIST_FOLDER = "nist_sp800_63_4"
SAMPLE, TEXTBOOKS, WRITTEN = "sample", "textbooks", "written documents"
UNRELATED = "reading_dev"  # a folder whose documents are no family
LABELS = Path(__file__).with_name("glossary_labels.tsv")
DEFINING = Path(__file__).with_name("written_definitions")
# Weights are never fitted on these: CC BY-NC-SA; texts of ADGM without a licence;
# papers and reports as published; handbooks that may be read but not copied.
MEASURED_ONLY = frozenset({TEXTBOOKS, "obliqa", UNRELATED, "handbooks"})
# What a candidate of a set counts: a list repeats one shape; 7,178 candidates of
# written documents would outweigh all others (with 1 instead of .5 the precision on the
# HR policy is .54 instead of .68, with .1 the average precision .67 instead of .69).
COUNTS = {NIST: 0.2, WRITTEN: 0.5}
WEAK, USED, PART = 0.5, 0.5, 0.3  # of rows that teach less
OPENING = 40  # characters of a definition in a label
_MARKUP = re.compile(r"(?<=\])\([^)]*\)|\{:[^}]*\}|[*_`\[\]]")


@dataclass
class Part:
    """One document: its candidates and how it uses its words."""

    usage: Usage
    candidates: Sequence[DefinitionProposal]
    rows: Sequence[Features]


@dataclass
class Set:
    """Documents of one glossary; `right` and `counts` are per candidate."""

    name: str
    parts: Sequence[Part]
    gold: Sequence[GoldTerm] = ()
    right: list[float] = field(default_factory=list)
    counts: list[float] = field(default_factory=list)

    @property
    def rows(self) -> list[Features]:
        """The features of all candidates."""
        return [row for part in self.parts for row in part.rows]


def to_part(text: str, blocks: Sequence[Block]) -> Part:
    """A document as the product sees it."""
    units = text_units(text, blocks)
    usage = Usage(text, blocks, units)
    candidates = find_candidates(text, blocks, units, usage)
    return Part(usage, candidates, describe_all(candidates, usage))


def read_parts(root: Path, name: str, paths: Sequence[Path]) -> list[Part]:
    """The documents of a collection, taken in unless they are there."""
    config, store = load_config(environ={}), Store(root)
    try:
        if name not in {card.name for card in store.collections()}:
            options = {"paths": [str(path) for path in paths], "collection": name}
            JOBS.load("ingest", options).build(build_models(config))(
                JobContext(config, store)
            )
        ids = [row.document_id for row in store.documents(name)]
        return [to_part(store.document_text(i), list(store.blocks(i))) for i in ids]
    finally:
        store.close()


def by_gold(
    name: str, parts: Sequence[Part], gold: Sequence[GoldTerm], weak: float = WEAK
) -> Set:
    """A set whose candidates are right where they agree with a gold glossary.

    Candidates that agree with a weak row count `weak`.
    """
    result = Set(name, parts, gold)
    share = COUNTS.get(name, 1.0)
    for part in parts:
        for one in part.candidates:
            right, counts = _label(one, gold, weak)
            result.right.append(right)
            result.counts.append(share * counts)
    return result


def _label(
    candidate: DefinitionProposal, gold: Sequence[GoldTerm], weak: float
) -> tuple[float, float]:
    definition = candidate.definition
    hit = agreement(definition.term, definition.definition, gold)
    if hit is None:
        return 0.0, 1.0
    if hit.gold.used_only:
        return 0.0, USED
    whole = hit.right and hit.f1 >= ALIKE
    if hit.gold.weak:
        return (1.0, weak) if whole else (0.0, 0.0)
    return (1.0, 1.0 if whole else PART) if hit.right else (0.0, 1.0)


def read_nist(folder: Path, root: Path) -> Set:
    """The list of definitions of NIST SP 800-63-4."""
    gold = []
    for row in json.loads((folder / NIST_GOLD).read_text(encoding="utf-8")):
        term, definition = (_MARKUP.sub("", row[k]) for k in ("term", "definition"))
        names = re.fullmatch(r"(.+?)\s*\(([^()]+)\)", term)
        gold.append(
            gold_term((term, *(names.groups() if names else ())), (definition,))
        )
    return by_gold(NIST, read_parts(root, "nist", [folder / NIST_LIST]), gold)


def read_sample(root: Path) -> Set:
    """The handbook of the shipped sample."""
    folder = known_packs()[DEFAULT]
    terms = json.loads((folder / "gold.json").read_text(encoding="utf-8"))["terms"]
    gold = [gold_term((t["term"], *t["aliases"]), (t["definition"],)) for t in terms]
    return by_gold(SAMPLE, read_parts(root, "sample", [folder / "handbook.pdf"]), gold)


def read_textbooks(folder: Path) -> Set:
    """Pages of textbooks in which people marked terms and definitions."""
    return _join(
        TEXTBOOKS,
        [
            by_gold(
                TEXTBOOKS,
                [to_part(*_lay_out((0, text) for text in sentences))],
                [gold_term(names, definitions) for names, definitions in pairs],
            )
            for sentences, pairs in marked_terms(folder / "deft_definitions/dev")
        ],
    )


def to_written(documents: Sequence[WrittenDocument]) -> Set:
    """Documents of `written_documents` with the glossaries that readers made.

    A third of their rows are weak; those count for nothing here.
    """
    sets = []
    for document in documents:
        gold = [
            gold_term(row.names, (row.definition,), row.kind, row.kind)
            for row in document.glossary
        ]
        part = to_part(*_lay_out(_pieces(document)))
        sets.append(by_gold(WRITTEN, [part], gold, weak=0.0))
    return _join(WRITTEN, sets)


def _pieces(document: WrittenDocument) -> Iterator[tuple[int, str]]:
    """The title, and each heading with the sentences below it as one paragraph."""
    yield 1, document.title
    for heading, sentences in groupby(document.sentences, lambda one: one.heading):
        if heading:
            yield 2, heading
        yield 0, " ".join(one.text for one in sentences)


def _lay_out(pieces: Iterable[tuple[int, str]]) -> tuple[str, list[Block]]:
    """Text and blocks of headings with their levels, and of paragraphs (level 0)."""
    text, blocks, path = "", [], [""]
    for level, piece in pieces:
        if level:
            path = [*path[: level - 1], piece]
        above = path[:-1] if level else path
        block = Block(
            kind=BlockKind.HEADING if level else BlockKind.PARAGRAPH,
            start=len(text),
            end=len(text) + len(piece),
            level=level,
            section=" > ".join(above),
        )
        text += f"{piece}\n\n"
        blocks.append(block)
    return text, blocks


def _join(name: str, sets: Sequence[Set]) -> Set:
    """One set of several, each of which has its own gold glossary."""
    return Set(
        name,
        [part for one in sets for part in one.parts],
        right=[right for one in sets for right in one.right],
        counts=[counts for one in sets for counts in one.counts],
    )


def read_labelled(folders: Sequence[Path], root: Path) -> Iterator[Set]:
    """Documents with candidates that were judged one by one, as far as they are there.

    Candidates without a label count for nothing.
    """
    labels: dict[str, dict[tuple[str, ...], str]] = {}
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        path, label, *judged = line.split("\t")
        labels.setdefault(path, {})[tuple(judged)] = label
    for path, judgements in sorted(labels.items()):
        places = [folder / path for folder in folders if (folder / path).exists()]
        if not places:
            print(f"{path}: not in {', '.join(map(str, folders))}; left out")
            continue
        one = Set(path, read_parts(root, _collection(path), places[:1]))
        for candidate in (c for part in one.parts for c in part.candidates):
            label = judgements.get(_mark(candidate), "")
            one.right.append(float(label == "right"))
            one.counts.append(float(label in {"right", "wrong"}))
        yield one


def _collection(path: str) -> str:
    return re.sub(r"\W+|_+", "-", path.rpartition(".")[0]).lower()


def _mark(candidate: DefinitionProposal) -> tuple[str, ...]:
    """What a label names a candidate by."""
    definition = candidate.definition
    opening = " ".join(definition.definition.split())[:OPENING]
    return kind(candidate), " ".join(definition.term.split()), opening


def family(name: str) -> str:
    """What a set has in common with others: its folder."""
    folder = name.partition("/")[0]
    return NIST_FOLDER if name == NIST else name if folder == UNRELATED else folder


def may_ship(name: str) -> bool:
    """Whether the licence of a set allows weights that were fitted on it."""
    return name.partition("/")[0] not in MEASURED_ONLY


def read_sets(folder: Path, root: Path, *more: Path) -> list[Set]:
    """All sets that are fitted or measured; `more` may hold labelled documents."""
    sets = []
    for name, (gold, paths) in GOLD.items():
        collection = gold.replace("_", "-")
        parts = read_parts(root, collection, [folder / path for path in paths])
        sets.append(by_gold(name, parts, read_gold(folder / f"gold/{gold}.jsonl")))
    sets += [read_nist(folder, root), read_sample(root), read_textbooks(folder)]
    sets.append(to_written([*read_documents(), *read_documents(DEFINING)]))
    return [*sets, *read_labelled([folder, *more], root)]
