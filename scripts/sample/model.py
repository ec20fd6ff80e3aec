"""Write the conceptual model in the shape of a LeanIX draw.io export.

All three ways of drawing a domain occur: a bare group, a group hidden in a fact
sheet whose own label misleads, and boxes that merely lie on top of each other.
"""

from __future__ import annotations

import html
import uuid
from dataclasses import dataclass, field

from model_data import ALIASES, DOMAINS, EDGES, Domain

LEAF = (100, 40)
LONG_LABEL = 15
EDGE_STYLES = ("entityRelation",) * 9 + ("orthogonal", "elbow") * 4
STRAY = "Parking Lot"
_NAMESPACE = uuid.UUID("6f0c1f8e-2a5b-5d3c-9e47-b1a20c3d4e5f")
CARDINALITY = {
    "ERone": "1..1",
    "ERmandOne": "1..1",
    "ERmany": "0..*",
    "ERzeroToMany": "0..*",
    "ERoneToMany": "1..*",
    "ERzeroToOne": "0..1",
    "": "",
}


def fact_sheet_id(kind: str, name: str) -> str:
    """Return the id that the model and the inventory share."""
    return str(uuid.uuid5(_NAMESPACE, f"{kind}/{name}"))


@dataclass
class _Canvas:
    lines: list[str] = field(default_factory=list)
    number: int = 1

    def next_id(self) -> str:
        self.number += 1
        return str(self.number)

    def sheet(self, label: str, sheet_id: str, cell: str) -> str:
        own = self.next_id()
        self.lines.append(
            f'<object type="factSheet" factSheetType="DataObject" '
            f'factSheetId="{sheet_id}" label="{html.escape(label)}" id="{own}">'
            f"{cell}</object>"
        )
        return own


def geometry(x: int, y: int, width: int, height: int) -> str:
    """Return a geometry element; like draw.io it leaves out a zero."""
    place = (f'x="{x}" ' if x else "") + (f'y="{y}" ' if y else "")
    return (
        f'<mxGeometry {place}width="{width}" height="{height}" as="geometry"/></mxCell>'
    )


def _cell(parent: str, style: str, box: tuple[int, int, int, int]) -> str:
    return f'<mxCell parent="{parent}" vertex="1" style="{style}">{geometry(*box)}'


def drawio() -> str:
    """Return the whole file."""
    canvas = _Canvas()
    labels: dict[str, str] = {}
    for index, domain in enumerate(DOMAINS):
        origin = ((index % 3) * 700, (index // 3) * 520)
        labels[domain.name] = _domain(canvas, domain, origin)
    stray = canvas.sheet(
        STRAY,
        fact_sheet_id("stray", STRAY),
        _cell("1", "rounded=1;fillColor=#eeeeee", (2300, 60, 120, 60)),
    )
    _edges(canvas, {**labels, STRAY: stray})
    body = "\n".join(f"        {line}" for line in canvas.lines)
    return (
        '<mxfile host="app.diagrams.net">\n  <diagram id="sample" name="Page-1">\n'
        '    <mxGraphModel grid="1">\n      <root>\n'
        '        <mxCell id="0"/>\n        <mxCell id="1" parent="0"/>\n'
        f"{body}\n      </root>\n    </mxGraphModel>\n  </diagram>\n</mxfile>\n"
    )


def _domain(canvas: _Canvas, domain: Domain, origin: tuple[int, int]) -> str:
    size = (640, 460)
    parent, shift = "1", origin
    if domain.encoding == "group":
        parent, shift = canvas.next_id(), (0, 0)
        canvas.lines.append(
            f'<mxCell id="{parent}" style="group" connectable="0" vertex="1" '
            f'parent="1">{geometry(*origin, *size)}'
        )
    elif domain.encoding == "hidden":
        cell = _cell("1", "fillColor=#774fcc;group;", (*origin, *size))
        sheet = fact_sheet_id("container", domain.outer)
        parent, shift = canvas.sheet(domain.outer, sheet, cell), (0, 0)
    label = canvas.sheet(
        f"<b>{html.escape(domain.name)}</b>",
        fact_sheet_id("domain", domain.name),
        _cell(parent, "fillColor=#d9ecec;verticalAlign=top", (*shift, *size)),
    )
    for index in range(len(domain.subtypes)):
        _subtype(canvas, domain, index, parent, shift)
    for index, name in enumerate(domain.leaves):
        box = (shift[0] + 20 + index * 118, shift[1] + 390, *LEAF)
        _leaf(canvas, domain.name, name, parent, box)
    if domain.wide:
        # A box of container size with nothing inside stays an entity.
        box = (shift[0] + 440, shift[1] + 310, 170, 60)
        _leaf(canvas, domain.name, domain.wide, parent, box)
    return label


def _subtype(
    canvas: _Canvas, domain: Domain, index: int, parent: str, shift: tuple[int, int]
) -> None:
    name, members = domain.subtypes[index]
    left, top = shift[0] + 20 + index * 210, shift[1] + 40
    if domain.nested:
        group = canvas.next_id()
        canvas.lines.append(
            f'<mxCell id="{group}" style="group" connectable="0" vertex="1" '
            f'parent="{parent}">{geometry(left, top, 200, 250)}'
        )
        parent, left, top = group, 0, 0
    canvas.sheet(
        name.replace("&", "&amp;").replace(" ", "&nbsp;", 1),
        fact_sheet_id("subtype", f"{domain.name}/{name}"),
        _cell(parent, "fillColor=#ffffff;dashed=1", (left, top, 200, 250)),
    )
    for row, member in enumerate(members):
        box = (left + 50, top + 36 + row * 50, *LEAF)
        _leaf(canvas, domain.name, member, parent, box)


def _leaf(
    canvas: _Canvas, domain: str, name: str, parent: str, box: tuple[int, int, int, int]
) -> None:
    words = html.escape(name, quote=False)
    label = words.replace(" ", "<br>", 1) if len(name) > LONG_LABEL else words
    if name.startswith("S"):
        label = f'<font style="font-size: 11px">{label}</font>'
    sheet = fact_sheet_id("entity", f"{domain}/{name}")
    canvas.sheet(label, sheet, _cell(parent, "rounded=1;html=1", box))


def _edges(canvas: _Canvas, labels: dict[str, str]) -> None:
    for (source, target, start, end), kind in zip(EDGES, EDGE_STYLES, strict=False):
        arrows = f"startArrow={start};" if start else ""
        arrows += f"endArrow={end};" if end else ""
        canvas.lines.append(
            f'<mxCell id="{canvas.next_id()}" edge="1" parent="1" '
            f'source="{labels[source]}" target="{labels[target]}" '
            f'style="edgeStyle={kind}EdgeStyle;{arrows}">'
            '<mxGeometry relative="1" as="geometry"/></mxCell>'
        )


def entities() -> list[dict[str, str]]:
    """Return every entity with its domain and subtype, sorted."""
    found = []
    for domain in DOMAINS:
        for subtype, members in domain.subtypes:
            found += [_entity(name, domain.name, subtype) for name in members]
        extra = [*domain.leaves, *([domain.wide] if domain.wide else [])]
        found += [_entity(name, domain.name, "") for name in extra]
    return sorted(found, key=lambda row: (row["domain"], row["subtype"], row["name"]))


def _entity(name: str, domain: str, subtype: str) -> dict[str, str]:
    return {"name": name, "domain": domain, "subtype": subtype}


def relationships() -> list[dict[str, str]]:
    """Return every edge between two domains with its cardinality."""
    return [
        {
            "source": source,
            "target": target,
            "source_cardinality": CARDINALITY[start],
            "target_cardinality": CARDINALITY[end],
        }
        for source, target, start, end in EDGES
        if STRAY not in {source, target}
    ]


def skipped() -> list[dict[str, str]]:
    """Return what a parser must report instead of reading."""
    outer = [{"kind": "container label", "name": d.outer} for d in DOMAINS if d.outer]
    edges = [
        {"kind": "edge to a stray box", "name": f"{source} -> {target}"}
        for source, target, _start, _end in EDGES
        if STRAY in {source, target}
    ]
    return [*outer, {"kind": "stray box", "name": STRAY}, *edges]


def aliases() -> dict[str, list[str]]:
    """Return the alias file: lower-case entity name to synonyms."""
    return {name: list(words) for name, words in sorted(ALIASES.items())}
