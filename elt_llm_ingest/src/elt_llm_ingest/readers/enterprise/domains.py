"""Classify fact sheets of a page as domains, subtypes and entities.

Three encodings occur in one file: a bare group whose first fact sheet names it; a group
hidden in a fact sheet whose own label is an export artefact; and boxes side by side on
the canvas whose nesting is only visual. A page that is not organised by domains has
entities without one.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from elt_llm_ingest.readers.enterprise.canvas import Canvas, Rectangle, is_group
from elt_llm_ingest.readers.enterprise.drawio_cells import DrawioCell

NO_DOMAIN = "it is in no domain and contains no other box"
BOX_WIDTH, BOX_HEIGHT = 100, 40  # larger in both: a box for others, if any is in it


@dataclass
class Domain:
    """A domain and its members. `cell` names it, `frame` is the shape around it.

    Each member has the shape that names its subtype, if it is in one.
    """

    name: str
    frame: DrawioCell
    place: Rectangle
    cell: DrawioCell | None = None
    members: list[tuple[DrawioCell, DrawioCell | None]] = field(default_factory=list)

    @property
    def named_by(self) -> DrawioCell:
        """Return the shape with its name: a fact sheet, or the frame itself."""
        return self.cell or self.frame


@dataclass(frozen=True)
class Role:
    """The role of a fact sheet: domain, subtype, entity or skipped, and its place.

    `subtype` is the name around it, `parent` the shape with that name. An entity of a
    page without domains has neither.
    """

    kind: str
    domain: Domain | None = None
    subtype: str = ""
    parent: DrawioCell | None = None
    reason: str = ""


class Sorter:
    """Assigns exactly one role to every fact sheet of a page."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._places = {cell.id: canvas.place(cell) for cell in canvas.facts()}
        self.domains: list[Domain] = []
        self.roles: dict[str, Role] = {}
        self.named_by: dict[str, DrawioCell] = {}  # frame to the shape with its name
        self.titled: list[tuple[DrawioCell, Role]] = []  # frames with their own name
        self._subtype_of_frame: dict[str, DrawioCell] = {}
        self._unplaced: list[tuple[DrawioCell, str]] = []  # with the reason

    def sort(self) -> None:
        """Fill `domains` and `roles`."""
        members, loose = self._group_by_shape()
        roots = self._roots(loose, list(members))
        for frame_id, inside in members.items():
            frame = self._canvas.cells[frame_id]
            root = self._root_around(frame, roots)
            if root is None:
                self._add_group(frame, inside)
            else:
                self._name_nested(frame, inside, root)
        for cell in loose:
            if cell.id not in self.roles:
                self._place_loose(cell)
        for domain in self.domains:
            self._subtypes(domain)
        self._settle_unplaced()

    def _settle_unplaced(self) -> None:
        """Assign roles to fact sheets outside all domains.

        If at least half of the fact sheets of a page belong to domains, the others are
        parked or part of a legend, and are skipped. On any other page they are entities
        of the model.
        """
        placed = sum(role.domain is not None for role in self.roles.values())
        for cell, reason in self._unplaced:
            if placed >= len(self._unplaced):
                self._skip(cell, reason)
            else:
                self.roles[cell.id] = Role("entity")

    def _group_by_shape(self) -> tuple[dict[str, list[DrawioCell]], list[DrawioCell]]:
        """Return fact sheets by their outermost parent shape, and those without one."""
        members: dict[str, list[DrawioCell]] = defaultdict(list)
        loose: list[DrawioCell] = []
        for cell in self._canvas.facts():
            around = self._canvas.above(cell)
            if around:
                members[around[-1].id].append(cell)
            elif is_group(cell):
                members[cell.id]  # an empty one still has a position
            elif cell.label:
                loose.append(cell)
            else:
                self._skip(cell, "it has no name")
        for frame_id in members:
            loose = [cell for cell in loose if cell.id != frame_id]
        return dict(members), loose

    def _roots(
        self, loose: Sequence[DrawioCell], groups: Sequence[str]
    ) -> list[Domain]:
        """Return outermost boxes on the canvas that contain another's centre."""
        frames = [self._canvas.place(self._canvas.cells[g]) for g in groups]
        roots = []
        for cell in loose:
            place = self._places[cell.id]
            others = [self._places[o.id] for o in loose if o.id != cell.id]
            if any(o.holds(place) and o.area > place.area for o in others):
                continue
            if any(f.holds_centre(place) and f.area > place.area for f in frames):
                continue
            smaller = [o for o in others if o.area < place.area]
            inside = [f for f in frames if place.holds(f) and f.area < place.area]
            if inside or any(place.holds_centre(o) for o in smaller):
                domain = Domain(cell.label, cell, place, cell)
                self.domains.append(domain)
                self.roles[cell.id] = Role("domain", domain)
                roots.append(domain)
        return roots

    def _root_around(self, frame: DrawioCell, roots: Sequence[Domain]) -> Domain | None:
        place = self._canvas.place(frame)
        around = [
            r for r in roots if r.place.holds(place) and r.place.area > place.area
        ]
        return min(around, key=lambda r: r.place.area, default=None)

    def _add_group(self, frame: DrawioCell, inside: Sequence[DrawioCell]) -> None:
        """Add a group: its naming fact sheet, its members and nested groups."""
        label = self._label_of(frame, inside)
        domain = Domain("", frame, self._canvas.place(frame), label)
        domain.name = label.label if label else frame.label
        if not domain.name:
            for cell in inside:
                if cell.label:
                    reason = "the group it is in has no name"
                    self._unplaced.append((cell, reason))
                else:
                    self._skip(cell, "it has no name")
            if frame.is_fact_sheet:
                self._skip(frame, "it has no name")
            return
        self.domains.append(domain)
        self.named_by[frame.id] = domain.named_by
        if label is not None:
            self.roles[label.id] = Role("domain", domain)
        else:
            self.titled.append((frame, Role("domain", domain)))
        if frame.is_fact_sheet and frame is not label:
            self._skip(frame, _artefact(domain.name))
        self._add_members(domain, frame, inside)

    def _name_nested(
        self, frame: DrawioCell, inside: Sequence[DrawioCell], domain: Domain
    ) -> None:
        """Name a group drawn inside a domain box: a subtype of that domain."""
        self._add_subtype_frame(domain, frame, inside)
        self._add_members(domain, frame, inside)

    def _add_members(
        self, domain: Domain, top: DrawioCell, inside: Sequence[DrawioCell]
    ) -> None:
        nested = self._nested_frames(top, inside)
        for frame in nested:
            within = [c for c in inside if frame in self._canvas.above(c)]
            self._add_subtype_frame(domain, frame, within)
        for cell in inside:
            if cell.id in self.roles:
                continue
            if not cell.label:
                self._skip(cell, "it has no name")
                continue
            domain.members.append((cell, self._named_above(cell)))

    def _nested_frames(
        self, top: DrawioCell, inside: Sequence[DrawioCell]
    ) -> list[DrawioCell]:
        """Return the shapes between the outermost one and its fact sheets."""
        frames: dict[str, DrawioCell] = {}
        for cell in inside:
            for frame in reversed(self._canvas.above(cell)):
                if frame.id != top.id:
                    frames.setdefault(frame.id, frame)
        return list(frames.values())

    def _add_subtype_frame(
        self, domain: Domain, frame: DrawioCell, inside: Sequence[DrawioCell]
    ) -> None:
        label = self._label_of(frame, inside)
        name = label.label if label else frame.label
        if not name:
            return
        outer = self._named_above(frame)
        role = Role("subtype", domain, outer.label if outer else "", outer)
        self.named_by[frame.id] = self._subtype_of_frame[frame.id] = label or frame
        if label is None:
            self.titled.append((frame, role))
        elif label.id not in self.roles:
            self.roles[label.id] = role
        if frame.is_fact_sheet and frame is not label and frame.id not in self.roles:
            self._skip(frame, _artefact(name))

    def _named_above(self, cell: DrawioCell) -> DrawioCell | None:
        """Return the shape that names the innermost subtype around a cell, if any."""
        return next(
            (
                self._subtype_of_frame[frame.id]
                for frame in self._canvas.above(cell)
                if frame.id in self._subtype_of_frame
            ),
            None,
        )

    def _label_of(
        self, frame: DrawioCell, inside: Sequence[DrawioCell]
    ) -> DrawioCell | None:
        """Return the fact sheet that names a frame: its first child, or a plain box.

        None for a frame with its own title, such as a swimlane.
        """
        if frame.is_fact_sheet and not is_group(frame):
            return frame
        if frame.label and not frame.is_fact_sheet:
            return None
        children = [c for c in inside if c.parent == frame.id and c.label]
        return children[0] if children else None

    def _place_loose(self, cell: DrawioCell) -> None:
        """Assign a box on the canvas to the smallest domain around its centre."""
        place = self._places[cell.id]
        around = [
            d
            for d in self.domains
            if d.place.holds_centre(place) and d.place.area > place.area
        ]
        if not around:
            self._unplaced.append((cell, NO_DOMAIN))
            return
        domain = min(around, key=lambda d: d.place.area)
        domain.members.append((cell, None))

    def _subtypes(self, domain: Domain) -> None:
        """Find subtypes: boxes that contain others; the smallest one counts."""
        places = {cell.id: self._places[cell.id] for cell, _ in domain.members}
        boxes = [cell for cell, _ in domain.members if _is_box(places[cell.id])]
        inside: Mapping[str, DrawioCell | None] = {
            cell.id: _smallest(cell, boxes, places) for cell, _ in domain.members
        }
        used = {box.id for box in inside.values() if box is not None}
        for cell, named in domain.members:
            kind = "subtype" if cell.id in used else "entity"
            around = inside[cell.id] or named
            name = around.label if around else ""
            self.roles[cell.id] = Role(kind, domain, name, around)

    def _skip(self, cell: DrawioCell, reason: str) -> None:
        self.roles[cell.id] = Role("skipped", reason=reason)


def _artefact(name: str) -> str:
    return f"it only labels a group, and the group is named {name!r}"


def _is_box(place: Rectangle) -> bool:
    return place.width > BOX_WIDTH and place.height > BOX_HEIGHT


def _smallest(
    cell: DrawioCell, boxes: Sequence[DrawioCell], places: Mapping[str, Rectangle]
) -> DrawioCell | None:
    own = places[cell.id]
    around = [
        box
        for box in boxes
        if box.id != cell.id
        and places[box.id].holds_centre(own)
        and places[box.id].area > own.area
    ]
    return min(around, key=lambda box: places[box.id].area, default=None)
