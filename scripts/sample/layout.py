"""How a handbook page looks: fonts, styles, header, footer and tracked paragraphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import reportlab
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import ActionFlowable, BaseDocTemplate, Frame, PageTemplate
from reportlab.platypus.paragraph import Paragraph
from reportlab.platypus.tableofcontents import TableOfContents
from typing_extensions import override

HANDBOOK = "HKRF Handbook 2026"
SEA = HexColor("#0b6e6e")
INK = HexColor("#1c2426")
GREY = HexColor("#5b6a6d")
MARGIN = 25 * mm
WIDTH, HEIGHT = A4
RULE_INDENT = 15 * mm


def register_fonts() -> None:
    """Embed the Vera faces that reportlab ships, so that curly quotes extract."""
    folder = Path(reportlab.__file__).parent / "fonts"
    for name in ("Vera", "VeraBd", "VeraIt", "VeraBI"):
        pdfmetrics.registerFont(TTFont(name, str(folder / f"{name}.ttf")))
    pdfmetrics.registerFontFamily(
        "Vera", normal="Vera", bold="VeraBd", italic="VeraIt", boldItalic="VeraBI"
    )


def style(name: str, **changes: Any) -> ParagraphStyle:
    """Return a paragraph style derived from the body text."""
    body = {
        "fontName": "Vera",
        "fontSize": 9.8,
        "leading": 15.4,
        "textColor": INK,
        "spaceAfter": 7,
        "splitLongWords": 0,
        "bulletFontName": "Vera",
        "bulletFontSize": 9.8,
    }
    return ParagraphStyle(name, **{**body, **changes})


STYLES = {
    "section": style(
        "section",
        fontName="VeraBd",
        fontSize=16,
        leading=21,
        textColor=SEA,
        spaceAfter=12,
    ),
    "sub": style(
        "sub",
        fontName="VeraBd",
        fontSize=11.2,
        leading=15,
        spaceBefore=11,
        keepWithNext=1,
    ),
    "rule": style("rule", leftIndent=RULE_INDENT, bulletIndent=0),
    "item": style(
        "item",
        leftIndent=RULE_INDENT + 8 * mm,
        bulletIndent=RULE_INDENT,
        spaceAfter=4,
    ),
    "para": style("para"),
    "cell": style("cell", fontSize=8.6, leading=12.4, spaceAfter=0),
    "head": style(
        "head",
        fontName="VeraBd",
        fontSize=8.6,
        leading=12,
        spaceAfter=0,
        textColor="#ffffff",
    ),
    "caption": style("caption", fontName="VeraIt", fontSize=8.6, alignment=1),
    "title": style("title", fontName="VeraBd", fontSize=27, leading=35, textColor=SEA),
    "subtitle": style("subtitle", fontSize=13, leading=20, textColor=GREY),
}


class Tracked(Paragraph):
    """A paragraph that writes down the page it was drawn on."""

    def __init__(self, text: str, kind: str, key: str, pages: dict[str, int]) -> None:
        super().__init__(text, STYLES[kind])
        self.key = key
        self.pages = pages
        self.whole = False

    @override
    def draw(self) -> None:
        """Draw the text and note the page."""
        self.pages[self.key] = self.canv.getPageNumber()
        super().draw()

    @override
    def split(self, available_width: float, available_height: float) -> list[Any]:
        """Refuse to split what the gold file quotes; split the rest as usual."""
        if self.whole:
            return []
        parts: list[Any] = Paragraph(
            self.text, self.style, bulletText=self.bulletText
        ).split(available_width, available_height)
        return parts


class Numbered(Tracked):
    """A tracked paragraph with its number hanging in the margin."""

    def __init__(self, text: str, kind: str, key: str, pages: dict[str, int]) -> None:
        super().__init__(text, kind, key, pages)
        self.bulletText = key.rsplit("#", maxsplit=1)[-1]


class Heading(Tracked):
    """A heading that also enters the contents and the outline."""

    level = 0


class HandbookTemplate(BaseDocTemplate):
    """The document: one page shape, a running header that follows the section."""

    def __init__(self, target: str) -> None:
        # No compression: the bytes then do not depend on the zlib of the machine.
        super().__init__(
            target,
            pagesize=A4,
            invariant=1,
            pageCompression=0,
            title=HANDBOOK,
            author="Halcyon Kite Regatta Federation",
            subject="A fictional handbook",
            creator="make_sample.py",
        )
        self.running = ""
        frame = Frame(MARGIN, 24 * mm, WIDTH - 2 * MARGIN, HEIGHT - 52 * mm, id="body")
        self.addPageTemplates([PageTemplate("page", [frame], onPage=_decorate)])

    @override
    def beforeDocument(self) -> None:
        """Start every layout pass without a running title."""
        self.running = ""

    @override
    def afterFlowable(self, flowable: Any) -> None:
        """Enter headings in the contents and in the outline."""
        if not isinstance(flowable, Heading):
            return
        text, key = flowable.getPlainText(), f"at-{flowable.key}"
        self.canv.bookmarkPage(key)
        self.canv.addOutlineEntry(text, key, level=flowable.level, closed=True)
        self.notify("TOCEntry", (flowable.level, text, self.page, key))


class RunningTitle(ActionFlowable):
    """Change the header from the next page on."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title

    @override
    def apply(self, doc: BaseDocTemplate) -> None:
        """Hand the title to the document."""
        if isinstance(doc, HandbookTemplate):
            doc.running = self.title


def contents() -> TableOfContents:
    """Return the contents list with dot leaders on both levels."""
    toc = TableOfContents(dotsMinLevel=0)
    toc.levelStyles = [
        style(
            "toc0",
            fontName="VeraBd",
            fontSize=9,
            leading=12,
            spaceBefore=5,
            spaceAfter=1,
        ),
        style("toc1", fontSize=8.6, leading=12, leftIndent=8 * mm, spaceAfter=0),
    ]
    return toc


def _decorate(canvas: Canvas, doc: HandbookTemplate) -> None:
    if not doc.running:
        return
    canvas.saveState()
    top = HEIGHT - 17 * mm
    canvas.setFillColor(GREY)
    canvas.setStrokeColor(SEA)
    canvas.setFont("Vera", 8)
    canvas.drawString(MARGIN, top, HANDBOOK)
    canvas.drawRightString(WIDTH - MARGIN, top, doc.running)
    canvas.line(MARGIN, top - 2 * mm, WIDTH - MARGIN, top - 2 * mm)
    canvas.drawCentredString(WIDTH / 2, 13 * mm, str(doc.page))
    canvas.restoreState()
