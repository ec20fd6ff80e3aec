"""Small stores made of real documents, with an embedder that costs nothing."""

import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.schema import TextNode

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.document import (
    Block,
    BlockKind,
    Cell,
    Page,
    ParsedDocument,
    Sidecar,
)
from elt_llm_core.enterprise.model import SIDECAR_KIND
from elt_llm_core.jobs import JobContext
from elt_llm_core.provenance import Provenance, write
from elt_llm_core.store import NewDocument, Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding

HANDBOOK = """\
# 1 Definitions
1.1 "Ground Lease" means the right to occupy a ground for a term of years;
1.2 “Tenant” means a person who holds a Ground Lease.
1.3 Rent Review shall mean the fixing of a new rent at the end of a period.
1.4 This means that a tenant must read this section first.
1.5 “Deposit” has the meaning given in Rule 2.3.
1.6 The Estates Management Board (EMB) keeps the register.
|Term|Meaning
|Service Charge|means a sum paid for shared services.
|Notice Period|means a period of ninety days.
# 2 Rules
2.1 A Tenant must pay the rent within 14 days of the first day of a quarter.
2.2 A Ground Lease expires at the end of its term and may not be assigned.
2.3 A sum of 500 paid before the term begins is called the Deposit.
2.4 The clerk may use any means to reach a Tenant.
2.5 A Ground Lease must be signed by both parties under the Land Act 1990.
"""

MODEL: dict[str, Any] = {
    "metadata": {"model_name": "Estate"},
    "entities": [
        {"domain": "Contracts", "domain_fact_sheet_id": "d-1", "subtype": "Leases",
         "subtype_fact_sheet_id": "s-1", "entity_name": "Ground Lease",
         "fact_sheet_id": "a-1", "fact_sheet_type": "DataObject"},
        {"domain": "Contracts", "domain_fact_sheet_id": "d-1", "subtype": "",
         "subtype_fact_sheet_id": "", "entity_name": "Boundary Survey",
         "fact_sheet_id": "a-2", "fact_sheet_type": "DataObject"},
        {"domain": "People", "domain_fact_sheet_id": "d-2", "subtype": "",
         "subtype_fact_sheet_id": "", "entity_name": "Tenants",
         "fact_sheet_id": "a-3", "fact_sheet_type": "DataObject"},
        {"domain": "Money", "domain_fact_sheet_id": "d-3", "subtype": "",
         "subtype_fact_sheet_id": "", "entity_name": "Shared Cost",
         "fact_sheet_id": "a-4", "fact_sheet_type": "DataObject"},
    ],
}  # fmt: skip

TYPED_MODEL: dict[str, Any] = {
    "name": "Estate",
    "source_file": "estate.drawio",
    "format": "leanix_drawio",
    "elements": [
        {"id": "d-1", "name": "Contracts", "role": "domain", "domain": "Contracts"},
        {"id": "d-2", "name": "People", "role": "domain", "domain": "People"},
    ],
    "relations": [
        {"id": "r-1", "type": "Entity Relationship",
         "source": {"element_id": "d-2", "name": "People", "cardinality": "0..*"},
         "target": {"element_id": "d-1", "name": "Contracts", "cardinality": "1..*"}},
    ],
}  # fmt: skip

INVENTORY: dict[str, Any] = {
    "metadata": {},
    "fact_sheets": {
        "a-1": {"id": "a-1", "type": "DataObject", "name": "Ground Lease",
                "description": "Right to occupy a ground.", "level": "3", "status": ""},
    },
}  # fmt: skip

ALIASES = "shared cost: [service charge]\nground lease: [tenancy]\n"


def parsed(source: str, title: str = "Handbook") -> ParsedDocument:
    """A document of one line a block: '#' headings, '|a|b' table rows, else text."""
    text, blocks = "", []
    section, header = "", []
    for line in source.strip().split("\n"):
        text += "\n" if text else ""
        start = len(text)
        if line.startswith("|"):
            values = line[1:].split("|")
            header = header or values
            cells, at = [], start
            for name, value in zip(header, values, strict=True):
                cells.append(Cell(header=name, start=at, end=at + len(value)))
                at += len(value) + 1
            text += "\t".join(values)
            kind, extra = BlockKind.TABLE_ROW, {"cells": tuple(cells)}
        elif line.startswith("#"):
            text += line[2:]
            section, header = line[2:], []
            kind, extra = BlockKind.HEADING, {"level": 1}
        else:
            text += line
            kind, extra = BlockKind.PARAGRAPH, {}
        blocks.append(
            Block(
                kind=kind, start=start, end=len(text), page=1, section=section, **extra
            )
        )
    words = [
        (m.start(), m.end(), 0.1, 0.1, 0.2, 0.2) for m in re.finditer(r"\S+", text)
    ]
    page = Page(number=1, width=595, height=842, words=words)
    return ParsedDocument(
        title=title, text=text, blocks=blocks, pages=[page], parser="test 1"
    )


def nodes_of(document: ParsedDocument, kind: str = "prose") -> list[TextNode]:
    """One chunk a block."""
    return [
        write(
            TextNode(text=document.text[b.start : b.end]),
            Provenance(
                ordinal=number,
                document=document.title,
                kind=kind,
                section=b.section,
                page=b.page,
                span_start=b.start,
                span_end=b.end,
            ),
        )
        for number, b in enumerate(document.blocks)
        if b.kind is not BlockKind.HEADING
    ]


def put(store: Store, collection: str, document: ParsedDocument, **more: Any) -> None:
    """Store a document and its vectors."""
    embedder = HashEmbedding()
    nodes = nodes_of(document, **more)
    with store.writer() as writer:
        writer.ensure_collection(collection, embedder, "blocks")
        texts = [node.get_content() for node in nodes]
        if texts:
            writer.put_vectors(embedder.digest, texts, embedder.embed_array(texts))
        writer.put_document(
            collection,
            NewDocument(
                uri=f"test:{collection}/{document.title}",
                name=f"{document.title}.txt",
                sha256=sha256(document.text.encode()).hexdigest(),
                mime="text/plain",
                parsed=document,
                nodes=nodes,
                config_key="test",
            ),
        )


@pytest.fixture
def store(tmp_path: Path) -> Iterable[Store]:
    """A handbook and a model with its inventory."""
    made = Store(tmp_path / "data")
    put(made, "handbook", parsed(HANDBOOK))
    sheet = parsed("Ground Lease is in CONTRACTS", "Model").model_copy(
        update={
            "sidecars": (
                Sidecar(kind="model", name="Estate", content=MODEL),
                Sidecar(kind=SIDECAR_KIND, name="Estate", content=TYPED_MODEL),
                Sidecar(kind="inventory", name="Estate", content=INVENTORY),
            )
        }
    )
    put(made, "estate", sheet, kind="fact_sheet")
    yield made
    made.close()


@pytest.fixture
def sidecar_contents() -> dict[str, dict[str, Any]]:
    """What the readers keep of the model and of its inventory."""
    return {"model": MODEL, SIDECAR_KIND: TYPED_MODEL, "inventory": INVENTORY}


@pytest.fixture
def handbook_text() -> str:
    """What the handbook of the store says."""
    return HANDBOOK


@pytest.fixture
def models() -> Models:
    """The embedder of the stores, and no language model."""
    return Models(embedder=HashEmbedding())


@pytest.fixture
def context(store: Store) -> JobContext:
    """What a job is given."""
    return JobContext(RagConfig(), store)


@pytest.fixture
def aliases(tmp_path: Path) -> Path:
    """An alias file."""
    file = tmp_path / "aliases.yaml"
    file.write_text(ALIASES)
    return file


@pytest.fixture
def make() -> Callable[..., ParsedDocument]:
    """Documents from lines."""
    return parsed


@pytest.fixture
def add() -> Callable[..., None]:
    """Put further documents into a store."""
    return put
