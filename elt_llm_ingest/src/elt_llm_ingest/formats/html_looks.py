"""Whether what is said of the looks of an element leaves its text to be seen."""

import re
from collections.abc import Mapping
from typing import NamedTuple

Colour = tuple[int, int, int] | str | None  # as numbers, by name, or not known
WHITE = (255, 255, 255)
NAMED: dict[str, Colour] = {"white": WHITE, "black": (0, 0, 0)}
CLEAR = "transparent"
UNSAID = frozenset(("inherit", "initial", "unset", "none", "currentcolor"))
ALIKE = 10  # of 255; no eye tells such colours apart
HEX = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
RGB = re.compile(
    r"rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)\s*(?:[,/]\s*([\d.]+)(%?)\s*)?\)"
)
LENGTH = re.compile(r"(-?(?:\d+(?:\.\d*)?|\.\d+))\s*([a-z%]*)")
# The least size of letters that people read; the first ones scale another size.
SCALES = {"em": 0.15, "%": 15.0}
SIZES = {"": 2.0, "px": 2.0, "pt": 2.0, "rem": 0.15}
FAR = -1000.0
FAR_IN = {"px": 1.0, "": 1.0, "pt": 1.3, "em": 16.0, "rem": 16.0}
OFF_PAGE = ("left", "top", "right", "bottom")
SHUT = ("height", "max-height", "width", "max-width")


class Looks(NamedTuple):
    """What an element hands on to those inside it."""

    colour: Colour = (0, 0, 0)
    ground: Colour = WHITE
    tiny: bool = False
    gone: bool = False

    @property
    def hidden(self) -> bool:
        """Whether text that stands here is not seen."""
        return (
            self.gone
            or self.tiny
            or self.colour == CLEAR
            or (self.colour is not None and _alike(self.colour, self.ground))
        )


def inside(outer: Looks, told: Mapping[str, str], loose: frozenset[str]) -> Looks:
    """The looks of an element; nothing is known of properties that are `loose`."""
    ground = _ground(outer, told)
    if loose & {"background", "background-color", "background-image"}:
        ground = None
    written = told.get("color", "")
    colour = _colour(written) if written and written not in UNSAID else outer.colour
    return Looks(
        colour=None if "color" in loose else colour,
        ground=ground,
        tiny=_tiny(told.get("font-size", ""), outer.tiny and "font-size" not in loose),
        gone=outer.gone or _gone(told),
    )


def _gone(told: Mapping[str, str]) -> bool:
    """Taken off the page, whatever the elements inside say."""
    if told.get("display") == "none":
        return True
    if told.get("visibility") in ("hidden", "collapse"):
        return True
    if _number(told.get("opacity", "")) == 0 or _far(told.get("text-indent", "")):
        return True
    shut = any(_number(told.get(side, "")) == 0 for side in SHUT)
    if shut and told.get("overflow") in ("hidden", "clip"):
        return True
    placed = told.get("position") in ("absolute", "fixed", "relative")
    return placed and any(_far(told.get(side, "")) for side in OFF_PAGE)


def _number(value: str) -> float | None:
    match = LENGTH.fullmatch(value)
    return float(match[1]) if match else None


def _far(value: str) -> bool:
    match = LENGTH.fullmatch(value)
    return match is not None and float(match[1]) * FAR_IN.get(match[2], 0) < FAR


def _tiny(value: str, outer: bool) -> bool:
    match = LENGTH.fullmatch(value)
    if match is None:
        return outer and value in ("", "inherit", "smaller", "larger")
    size, unit = float(match[1]), match[2]
    if unit in SCALES:
        return outer or size < SCALES[unit]
    return size < SIZES.get(unit, 0) or size == 0


def _ground(outer: Looks, told: Mapping[str, str]) -> Colour:
    """What is behind the text; not known where it is a picture."""
    if told.get("background-image", "none") != "none":
        return None
    for name in ("background-color", "background"):
        value = told.get(name, "")
        if value and value not in UNSAID and (colour := _colour(value)) != CLEAR:
            return colour
    return outer.ground


def _colour(value: str) -> Colour:
    if match := RGB.fullmatch(value):
        if match[4] and float(match[4]) == 0:
            return CLEAR
        return int(match[1]), int(match[2]), int(match[3])
    if HEX.fullmatch(value):
        digits = (
            value[1:]
            if len(value) > len("#ffff")
            else "".join(digit * 2 for digit in value[1:])
        )
        red, green, blue, *alpha = bytes.fromhex(digits)
        return CLEAR if alpha == [0] else (red, green, blue)
    return NAMED.get(value, value if value.isalpha() else None)


def _alike(colour: Colour, ground: Colour) -> bool:
    if isinstance(colour, tuple) and isinstance(ground, tuple):
        return all(abs(a - b) < ALIKE for a, b in zip(colour, ground, strict=True))
    return colour == ground
