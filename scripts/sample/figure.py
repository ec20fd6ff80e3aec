"""The handbook's one drawing: a kite's window in the wind, seen from the side."""

from __future__ import annotations

from typing import Literal

from reportlab.graphics.shapes import Circle, Drawing, Line, Polygon, String, Wedge
from reportlab.lib.colors import Color, HexColor

SEA = HexColor("#0b6e6e")
ZONES = (
    (150, "#d9ecec", "edge zone", 134),
    (112, "#a8d3d3", "soft zone", 94),
    (70, "#5faeae", "power zone", 42),
)


def wind_window() -> Drawing:
    """Return the drawing of the three zones."""
    drawing = Drawing(440, 200)
    for radius, colour, label, height in ZONES:
        zone = Wedge(200, 22, radius, 10, 170)
        zone.fillColor, zone.strokeColor = HexColor(colour), SEA
        drawing.add(zone)
        drawing.add(_text(200, 22 + height, label, anchor="middle"))
    drawing.add(Line(20, 22, 420, 22, strokeColor=SEA, strokeWidth=1.2))
    drawing.add(Circle(200, 22, 4, fillColor=HexColor("#222222")))
    drawing.add(_text(200, 6, "Flyer", anchor="middle"))
    _kite(drawing, 316, 118)
    drawing.add(Line(200, 22, 316, 110, strokeColor=HexColor("#222222")))
    drawing.add(_text(330, 124, "kite"))
    drawing.add(_text(268, 62, "tether"))
    _wind_arrow(drawing)
    return drawing


def _text(
    x: float, y: float, words: str, anchor: Literal["start", "middle"] = "start"
) -> String:
    text = String(x, y, words)
    text.fontName, text.fontSize, text.textAnchor = "Vera", 8, anchor
    return text


def _kite(drawing: Drawing, x: float, y: float) -> None:
    points = [x, y + 14, x + 9, y, x, y - 9, x - 9, y]
    drawing.add(Polygon(points, fillColor=HexColor("#d97a2b"), strokeColor=_dark()))


def _wind_arrow(drawing: Drawing) -> None:
    drawing.add(Line(20, 176, 78, 176, strokeColor=_dark(), strokeWidth=1.5))
    drawing.add(Polygon([78, 180, 88, 176, 78, 172], fillColor=_dark()))
    drawing.add(_text(20, 184, "direction of the wind"))


def _dark() -> Color:
    return HexColor("#333333")
