"""The true tables of an ICDAR 2013 document, from its two XML files."""

from pathlib import Path
from typing import Any, NamedTuple

from defusedxml import ElementTree

from elt_llm_core.errors import LoadError
from evaluation.adjacency import GridCell, Rectangle


class TrueTable(NamedTuple):
    """A part of a table on one page: its region in points from the bottom left."""

    page: int
    region: Rectangle
    cells: list[GridCell]


def read_true_tables(pdf: Path) -> list[TrueTable]:
    """The regions of `NAME-reg.xml` with the cells of `NAME-str.xml`, in order.

    Raises LoadError for files that do not belong together.
    """
    regions = _regions(pdf.with_name(f"{pdf.stem}-reg.xml"), with_box=True)
    structures = _regions(pdf.with_name(f"{pdf.stem}-str.xml"), with_box=False)
    if len(regions) != len(structures):
        raise LoadError(pdf.name, "its -reg.xml and -str.xml describe different tables")
    return [
        TrueTable(_number(one, "page"), _box(one), _cells(two))
        for one, two in zip(regions, structures, strict=True)
    ]


def _regions(path: Path, *, with_box: bool) -> list[Any]:
    try:
        root = ElementTree.fromstring(path.read_bytes(), forbid_dtd=True)
    except (ElementTree.ParseError, OSError) as error:
        raise LoadError(path.name, f"no table truth can be read ({error})") from error
    regions = list(root.iter("region"))
    return [r for r in regions if not with_box or r.find("bounding-box") is not None]


def _box(node: Any) -> Rectangle:
    box = node.find("bounding-box")
    xs = sorted(float(box.get(name)) for name in ("x1", "x2"))
    ys = sorted(float(box.get(name)) for name in ("y1", "y2"))
    return xs[0], ys[0], xs[1], ys[1]


def _cells(region: Any) -> list[GridCell]:
    down, across = _number(region, "row-increment"), _number(region, "col-increment")
    return [
        GridCell(
            _number(cell, "start-row") + down,
            _number(cell, "end-row", _number(cell, "start-row")) + down,
            _number(cell, "start-col") + across,
            _number(cell, "end-col", _number(cell, "start-col")) + across,
            "".join(cell.findtext("content", "")),
        )
        for cell in region.iter("cell")
    ]


def _number(node: Any, name: str, default: int = 0) -> int:
    return int(node.get(name, default))
