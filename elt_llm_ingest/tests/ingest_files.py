"""A small handbook with everything that makes PDFs hard."""

from pathlib import Path

import reportlab
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

FOLDER = Path(reportlab.__file__).parent / "fonts"
BODY, BOLD = "Vera", "VeraBd"
DASH = "\N{EN DASH}"
RULES = [
    f"“Berth {n}” means the place {DASH} marked each year {DASH} where every boat of "
    f"class {n} ties up and shows its papers to any steward who asks, even at night."
    for n in range(1, 30)
]
TERMS = [
    (f"Term {n}", f"means the thing that is numbered {n} in the harbour's register.")
    for n in range(1, 41)
]


def handbook_pdf(path: Path) -> Path:
    """Contents page, two chapters with running headers, a table over two pages."""
    for name, file in ((BODY, "Vera.ttf"), (BOLD, "VeraBd.ttf")):
        if name not in pdfmetrics.getRegisteredFontNames():
            pdfmetrics.registerFont(TTFont(name, str(FOLDER / file)))
    body = ParagraphStyle("body", fontName=BODY, fontSize=10, leading=15, spaceAfter=8)
    big = ParagraphStyle("big", fontName=BOLD, fontSize=16, leading=20, spaceAfter=10)
    mid = ParagraphStyle("mid", fontName=BOLD, fontSize=11, leading=15, spaceAfter=6)
    story = [Paragraph("CONTENTS", big)]
    story += [
        Paragraph(f"{n} - CHAPTER {n} {'.' * 40} {n + 1}", body) for n in range(1, 6)
    ]
    story += [PageBreak(), Paragraph("1 - GENERAL", big), Paragraph("1.1 Scope", mid)]
    story += [_rule(f"1.1.{n}", text, body) for n, text in enumerate(RULES, start=1)]
    story += [Paragraph("1.2 Run-in", mid)]
    story.append(Paragraph("(a) first thing; and", body))
    story.append(Paragraph("(b) second thing.", body))
    story += [PageBreak(), Paragraph("2 - TERMS", big), Spacer(1, 380)]
    story.append(_table(body))
    document = BaseDocTemplate(str(path), pagesize=A4, invariant=True)
    frame = Frame(70, 70, A4[0] - 140, A4[1] - 150)
    document.addPageTemplates(PageTemplate(frames=[frame], onPage=_running))
    document.build(story)
    return path


def _rule(number: str, text: str, style: ParagraphStyle) -> Table:
    cells = [[Paragraph(number, style), Paragraph(text, style)]]
    top = TableStyle([("VALIGN", (0, 0), (-1, -1), "TOP")])
    return Table(cells, colWidths=[45, A4[0] - 200], style=top)


def _table(style: ParagraphStyle) -> Table:
    bold = ParagraphStyle("bold", parent=style, fontName=BOLD)
    head = [Paragraph(name, bold) for name in ("Term", "Text")]
    rows = [[Paragraph(a, style), Paragraph(b, style)] for a, b in TERMS]
    table = Table([head, *rows], colWidths=[100, 300], repeatRows=1)
    table.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.5, "#000000")]))
    return table


def _running(canvas: object, document: BaseDocTemplate) -> None:
    canvas.setFont(BODY, 8)  # type: ignore[attr-defined]
    canvas.drawString(70, A4[1] - 40, "Harbour Handbook 2026")  # type: ignore[attr-defined]
    canvas.drawString(300, 30, f"Page {document.page} of 9")  # type: ignore[attr-defined]
