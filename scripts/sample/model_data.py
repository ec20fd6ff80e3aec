"""What the conceptual model contains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Domain:
    """One domain and the way it is drawn."""

    name: str
    encoding: Literal["group", "hidden", "flat"]
    leaves: tuple[str, ...]
    subtypes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    nested: bool = False
    outer: str = ""
    wide: str = ""


DOMAINS = (
    Domain(
        "MEMBERSHIP",
        "group",
        ("Aerie", "Regatta Bond", "Affiliation Period"),
        (
            ("Standing & Status", ("Member Standing", "Suspension Flag")),
            ("Places", ("Home Shore", "Launch Site")),
        ),
    ),
    Domain(
        "PEOPLE",
        "hidden",
        ("Flyer Passport", "Person Name", "Emergency Contact"),
        (
            ("Participants", ("Flyer", "Junior Flyer", "Novice Flyer", "Loan Flyer")),
            ("Supporters", ("Ground Handler", "Guardian", "Shore Captain")),
        ),
        outer="Rigger",
    ),
    Domain(
        "COMPETITION",
        "group",
        ("Sanctioned Regatta", "Course Layout", "Standings"),
        (
            ("Race Day", ("Heat", "Launch Window", "Race Log", "Finish Position")),
            ("Entry & Draw", ("Race Entry", "Crew", "Crew List")),
        ),
    ),
    Domain(
        "EQUIPMENT",
        "group",
        ("Skimmer", "Kite", "Harness", "Inspection Record"),
        (
            ("Certified Items", ("Tether", "Tether Certificate", "Control Bar")),
            ("Safety Fittings", ("Quick Release", "Safety Leash")),
        ),
        nested=True,
    ),
    Domain(
        "OFFICIATING",
        "group",
        ("Official Licence", "Duty Roster", "Assessment"),
        (("Official Roles", ("Wind Marshal", "Course Officer", "Spar Inspector")),),
    ),
    Domain(
        "GOVERNANCE",
        "group",
        ("Standing Order", "Regional Kite Board", "Committee", "Resolution"),
        wide="Federation Council",
    ),
    Domain(
        "DISCIPLINE",
        "hidden",
        ("Charge", "Sanction", "Hearing"),
        (("Disputes", ("Protest", "Appeal", "Jury")),),
        outer="Old Whistle",
    ),
    Domain(
        "SAFETY",
        "group",
        ("Gust Ceiling", "Wind Index", "Incident Report", "Inspection Record"),
        (("Rescue", ("Anchor Boat", "Rescue Plan")),),
    ),
    Domain(
        "REFERENCE DATA",
        "group",
        ("Isle",),
        (
            ("Code Lists", ("Kite Class", "Signal Code", "Penalty Code")),
            ("Calendars", ("Championship Season", "Working Day")),
        ),
        nested=True,
    ),
    Domain(
        "FINANCE",
        "flat",
        ("Payment", "Refund", "Shore Fund"),
        (("Receivables", ("Invoice", "Affiliation Fee", "Fine")),),
    ),
    Domain(
        "CHANNELS", "flat", ("Notice Board", "Web Portal", "Radio Call", "Newsletter")
    ),
)

EDGES = (
    ("MEMBERSHIP", "PEOPLE", "ERmandOne", "ERzeroToMany"),
    ("PEOPLE", "PEOPLE", "ERzeroToOne", "ERzeroToMany"),
    ("PEOPLE", "EQUIPMENT", "ERone", "ERmany"),
    ("MEMBERSHIP", "COMPETITION", "ERzeroToMany", "ERzeroToMany"),
    ("COMPETITION", "OFFICIATING", "ERzeroToMany", "ERoneToMany"),
    ("COMPETITION", "EQUIPMENT", "ERzeroToMany", "ERmany"),
    ("COMPETITION", "DISCIPLINE", "ERmandOne", "ERzeroToMany"),
    ("DISCIPLINE", "FINANCE", "ERzeroToOne", "ERzeroToOne"),
    ("MEMBERSHIP", "FINANCE", "ERone", "ERzeroToMany"),
    ("GOVERNANCE", "MEMBERSHIP", "ERmandOne", "ERoneToMany"),
    ("GOVERNANCE", "OFFICIATING", "ERone", "ERoneToMany"),
    ("SAFETY", "COMPETITION", "ERzeroToMany", "ERone"),
    ("EQUIPMENT", "REFERENCE DATA", "ERzeroToMany", "ERmandOne"),
    ("CHANNELS", "PEOPLE", "ERmany", "ERmany"),
    ("CHANNELS", "COMPETITION", "", "ERzeroToMany"),
    ("Parking Lot", "SAFETY", "ERone", "ERmany"),
)

ALIASES = {
    "aerie": ("member club", "club"),
    "affiliation period": ("affiliation year", "membership year"),
    "anchor boat": ("tender",),
    "championship season": ("season",),
    "course officer": ("course steward",),
    "crew": ("team",),
    "federation council": ("council",),
    "flyer": ("pilot", "athlete"),
    "flyer passport": ("flyer card",),
    "guardian": ("competent adult", "responsible adult"),
    "gust ceiling": ("gust limit",),
    "heat": ("race",),
    "home shore": ("home beach",),
    "jury": ("protest panel",),
    "kite class": ("class",),
    "launch site": ("launching place", "launch corridor"),
    "launch window": ("launch slot",),
    "race entry": ("entry form",),
    "regional kite board": ("rkb",),
    "sanctioned regatta": ("official regatta",),
    "skimmer": ("hull",),
    "standings": ("championship table", "league table"),
    "tether": ("kite line",),
    "tether certificate": ("line certificate",),
    "wind index": ("windage index",),
    "working day": ("moor day", "business day"),
}
