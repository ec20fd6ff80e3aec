"""The straight lines that a page draws, which form its ruled tables."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

THIN = 3.0  # points; a filled box up to this thickness is a line
SHORT = 5.0  # points; shorter lines are parts of letters and pictures
NEAR = 2.5  # points; lines up to this distance are one
SLANT = 0.6  # points; tolerated slant of a horizontal or vertical line
MOST = 1500  # a page with more lines than this has a drawing
WHITE = ("ffffffff", "00ffffff")


class Rule(NamedTuple):
    """A horizontal or vertical line: its position, and its start and end."""

    at: float
    start: float
    end: float

    @property
    def length(self) -> float:
        """Return its length."""
        return self.end - self.start


class Rules(NamedTuple):
    """The lines of a page in points, sorted from the top or from the left."""

    across: list[Rule]
    down: list[Rule]


NONE = Rules([], [])


def rules_of(graphics: Any) -> Rules:
    """Return the lines of LiteParse's vector graphics; none if a page is a drawing."""
    if graphics is None:
        return NONE
    across: list[Rule] = []
    down: list[Rule] = []
    for line in graphics.lines:
        if line.stroke and line.stroke_color not in WHITE:
            _put(across, down, (line.x1, line.y1, line.x2, line.y2))
    for shape in graphics.shapes:
        if shape.fill and not shape.has_curve and shape.fill_color not in WHITE:
            _put_thin(across, down, _sides(shape.bbox))
    if len(across) + len(down) > MOST:
        return NONE
    return Rules(merge_rules(across), merge_rules(down))


def _put_thin(
    across: list[Rule], down: list[Rule], box: tuple[float, float, float, float]
) -> None:
    x, y, width, height = box
    if height <= THIN < width:
        across.append(Rule(y + height / 2, x, x + width))
    elif width <= THIN < height:
        down.append(Rule(x + width / 2, y, y + height))


def _sides(box: Any) -> tuple[float, float, float, float]:
    if isinstance(box, tuple):
        return box
    return box.x, box.y, box.width, box.height


def _put(
    across: list[Rule], down: list[Rule], ends: tuple[float, float, float, float]
) -> None:
    x1, y1, x2, y2 = ends
    if abs(y1 - y2) <= SLANT and abs(x1 - x2) > SLANT:
        across.append(Rule((y1 + y2) / 2, min(x1, x2), max(x1, x2)))
    elif abs(x1 - x2) <= SLANT < abs(y1 - y2):
        down.append(Rule((x1 + x2) / 2, min(y1, y2), max(y1, y2)))


def merge_rules(rules: Sequence[Rule]) -> list[Rule]:
    """Return the rules with pieces of one line joined, without short ones."""
    done: list[Rule] = []
    for group in group_rules(sorted(rules), NEAR):
        at = max(group, key=lambda rule: rule.length).at
        start, end = float("inf"), float("-inf")
        for rule in sorted(group, key=lambda rule: rule.start):
            if rule.start > end + NEAR and end > start:
                done.append(Rule(at, start, end))
                start = rule.start
            start, end = min(start, rule.start), max(end, rule.end)
        done.append(Rule(at, start, end))
    return [rule for rule in done if rule.length >= SHORT]


def group_rules(rules: Iterable[Rule], near: float) -> list[list[Rule]]:
    """Return sorted rules in groups within `near` of the first."""
    groups: list[list[Rule]] = []
    for rule in rules:
        if groups and rule.at - groups[-1][0].at <= near:
            groups[-1].append(rule)
        else:
            groups.append([rule])
    return groups


def within(rules: Rules, box: tuple[float, float, float, float]) -> Rules:
    """Return the parts of the rules inside a box."""
    left, top, right, bottom = box
    return Rules(
        list(_cut(rules.across, (top, bottom), (left, right))),
        list(_cut(rules.down, (left, right), (top, bottom))),
    )


def _cut(
    rules: Sequence[Rule], place: tuple[float, float], extent: tuple[float, float]
) -> Iterable[Rule]:
    for rule in rules:
        start, end = max(rule.start, extent[0]), min(rule.end, extent[1])
        if place[0] <= rule.at <= place[1] and end - start >= SHORT:
            yield Rule(rule.at, start, end)
