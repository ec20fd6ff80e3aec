"""What a Word file says of the looks of its runs: by themselves and by their styles."""

from typing import Any, NamedTuple

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
VAL = f"{W}val"
OFF = ("0", "false", "off")
PAPER = ("", "auto", "ffffff")  # fills that leave the ground white


class Looks(NamedTuple):
    """What was said; None and nothing where nothing was."""

    vanish: bool | None = None
    colour: str = ""
    size: str = ""  # half points
    shaded: bool = False

    def over(self, under: "Looks") -> "Looks":
        """This on top of what it is based on."""
        return Looks(
            under.vanish if self.vanish is None else self.vanish,
            self.colour or under.colour,
            self.size or under.size,
            self.shaded or under.shaded,
        )


def looks(told: Any) -> Looks:
    """What the properties of a run, paragraph or cell say; `told` may be None."""
    if told is None:
        return Looks()
    vanish = told.find(f"{W}vanish")
    return Looks(
        None if vanish is None else vanish.get(VAL, "1") not in OFF,
        _value(told, "color").lower(),
        _value(told, "sz"),
        shaded(told) or _value(told, "highlight").lower() not in ("", "none", "white"),
    )


def shaded(told: Any) -> bool:
    """Whether the properties put a colour behind the text."""
    shade = told.find(f"{W}shd")
    if shade is None:
        return False
    pattern = shade.get(VAL, "clear") not in ("clear", "nil")
    return pattern or shade.get(f"{W}fill", "").lower() not in PAPER


def _value(told: Any, name: str) -> str:
    found = told.find(f"{W}{name}")
    return "" if found is None else str(found.get(VAL, ""))


class Styles:
    """The styles of paragraphs and runs, each with all it is based on."""

    def __init__(self, root: Any = None) -> None:
        """Of the root of `styles.xml`; without it no style says anything."""
        found = () if root is None else tuple(root.iter(f"{W}style"))
        self._known = {style.get(f"{W}styleId", ""): style for style in found}
        self._ready: dict[str, Looks] = {}
        self._usual = next(map(_id, filter(_is_usual, found)), "")
        usual = None if root is None else root.find(f"{W}docDefaults/{W}rPrDefault")
        self._base = looks(None if usual is None else usual.find(f"{W}rPr"))

    def of(self, name: str) -> Looks:
        """What a style says, with what it is based on; circles end."""
        if name in self._ready:
            return self._ready[name]
        chain: list[str] = []
        while name in self._known and name not in chain:
            chain.append(name)
            name = _value(self._known[name], "basedOn")
        said = Looks()
        for one in reversed(chain):
            style = self._known[one]
            own = looks(style.find(f"{W}rPr"))
            own = own.over(looks(style.find(f"{W}pPr"))._replace(size="", colour=""))
            said = self._ready[one] = own.over(said)
        return said

    def of_run(self, run: Any, paragraph: Any) -> Looks:
        """What holds for a run: its own word, its style's, its paragraph's."""
        own = run.find(f"{W}rPr")
        around = None if paragraph is None else paragraph.find(f"{W}pPr")
        named = "" if around is None else _value(around, "pStyle")
        by_run = self.of("" if own is None else _value(own, "rStyle"))
        by_block = self.of(named or self._usual).over(self._base)
        if by_run.vanish and by_block.vanish:
            by_run = by_run._replace(vanish=False)  # Word's rule: two of them cancel
        behind = Looks(shaded=around is not None and shaded(around))
        return looks(own).over(by_run).over(by_block).over(behind)


def _id(style: Any) -> str:
    return str(style.get(f"{W}styleId", ""))


def _is_usual(style: Any) -> bool:
    on = style.get(f"{W}default", "0") not in OFF
    return on and style.get(f"{W}type") == "paragraph"
