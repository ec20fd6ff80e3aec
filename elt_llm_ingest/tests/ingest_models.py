"""Enterprise models and inventories made for the tests."""

import base64
import io
import zlib
from urllib.parse import quote

import openpyxl


def fact(
    cell: str, label: str, parent: str, place: tuple, style: str = "", wrap="object"
):
    x, y, width, height = place
    return (
        f'<{wrap} type="factSheet" factSheetType="DataObject" factSheetId="f-{cell}" '
        f'label="{label}" id="{cell}"><mxCell parent="{parent}" vertex="1" '
        f'style="{style}"><mxGeometry x="{x}" y="{y}" width="{width}" '
        f'height="{height}" as="geometry"/></mxCell></{wrap}>'
    )


def edge(cell: str, source: str, target: str, start: str, end: str, label: str = ""):
    style = f"edgeStyle=entityRelationEdgeStyle;startArrow={start};endArrow={end}"
    line = (
        f'<mxCell id="{cell}" edge="1" parent="1" source="{source}" target="{target}" '
    )
    words = f'<mxCell id="{cell}l" value="{label}" parent="{cell}" vertex="1"/>'
    return f'{line}style="{style}"/>' + (words if label else "")


GROUP = (
    '<mxCell id="10" style="group" connectable="0" vertex="1" parent="1">'
    '<mxGeometry x="20" y="20" width="600" height="400" as="geometry"/></mxCell>'
)
SHAPES = (
    GROUP
    + fact("11", "CONTRACTS", "10", (0, 0, 600, 400))
    + fact("12", "Property &amp;amp; Leases", "10", (20, 50, 260, 300))
    + fact("13", "&lt;b&gt;Ground Lease&lt;/b&gt;", "10", (40, 90, 100, 40))
    + fact("14", "Inner Box", "10", (30, 200, 200, 100))
    + fact("15", "Deep", "10", (50, 220, 100, 40), wrap="UserObject")
    + fact("20", "Tutor", "1", (700, 20, 500, 400), "fillColor=#774fcc;group;")
    + fact("21", "PEOPLE", "20", (0, 0, 500, 400))
    + fact("22", "Tenant", "20", (30, 60, 100, 40))
    + fact("23", "Ground Lease", "20", (30, 160, 100, 40))
    + fact("30", "CHANNELS", "1", (20, 800, 600, 300))
    + fact("31", "E-mail", "1", (60, 860, 100, 40))
    + fact("40", "Stray", "1", (2000, 2000, 150, 80))
)
ARROWS = {
    "ERzeroToMany": "0..*", "ERoneToMany": "1..*", "ERmandOne": "1..1",
    "ERzeroToOne": "0..1", "ERone": "1..1", "ERmany": "0..*",
}  # fmt: skip


def page(shapes: str) -> str:
    cells = f'<mxCell id="0"/><mxCell id="1" parent="0"/>{shapes}'
    return f"<mxGraphModel><root>{cells}</root></mxGraphModel>"


def drawing(*pages: str, compressed: bool = False) -> bytes:
    def body(xml: str) -> str:
        if not compressed:
            return xml
        packer = zlib.compressobj(wbits=-15)
        packed = packer.compress(quote(xml).encode()) + packer.flush()
        return base64.b64encode(packed).decode()

    inner = "".join(f'<diagram name="P">{body(p)}</diagram>' for p in pages)
    return f"<mxfile>{inner}</mxfile>".encode()


def inventory(rows: list[list]) -> bytes:
    book = openpyxl.Workbook()
    book.active.title = "ReadMe"
    sheet = book.create_sheet("2026-01-01T00_00")
    for row in rows:
        sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


HEAD = [
    "id",
    "type",
    "name",
    "displayName",
    "description",
    "level",
    "status",
    "lxState",
]
ROWS = [
    HEAD,
    [
        "a-3",
        "DataObject",
        "Ground Lease",
        "x",
        "Right to a ground.",
        3,
        "ACTIVE",
        "DRAFT",
    ],
    ["e-1", "Interface", "Payroll to Bank", "x", None, 1.0, "ACTIVE", "APPROVED"],
    [None] * 8,
    ["a-3", "DataObject", "Again", "x", "", 1, "ACTIVE", "DRAFT"],
    ["", "DataObject", "No id", "", "", "", "", ""],
]
