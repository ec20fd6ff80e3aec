"""Ask questions about inventories, whose first column has identifiers.

uv run --group dev python benchmarks/inventory_questions.py [--all]

Four generated workbooks with a sheet for each kind of thing are taken into a collection
each: a museum, a laboratory with two header rows, a fleet of vehicles with German
headers, and a clinic, which was written after the rules. The lines of
`inventory_questions.tsv` and the judging are those of `table_operations.py`.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from openpyxl import Workbook

import table_operations

QUESTIONS = Path(__file__).with_name("inventory_questions.tsv")
Rows = Sequence[Sequence[Any]]

OBJECTS: Rows = (
    ("Register of the town museum, state of 1 March 2026",),
    (),
    (
        *("Inv. no.", "Object", "Gallery", "Object keeper", "Restorer", "Acquired"),
        *("Insured value (€)", "Visitors a year", "Last inspection", "Replaced by"),
    ),
    (
        *("M-017", "Bronze Mirror", "Antiquity", "Ruth Adler", "Ivo Lang"),
        *(date(1931, 5, 4), 18000, 5200, date(2024, 2, 9), None),
    ),
    (
        *("M-023", "Harbour Clock", "Town history", "Paul Weir", None),
        *(date(1962, 9, 17), 7400, 8100, None, None),
    ),
    (
        *("M-031", "Salt Barge Model", "Town history", "Paul Weir", "Ivo Lang"),
        *(date(1988, 3, 2), 2600, 11900, date(2023, 6, 30), "Salt Barge Screen"),
    ),
    (
        *("M-040", "Guild Chest", "Crafts", "Nora Quist", "Mae Sorel"),
        *(date(1907, 11, 20), 15200, 3050, date(2025, 1, 14), None),
    ),
    (
        *("M-044", "Weaver's Loom", "Crafts", "Nora Quist", None),
        *(date(1979, 7, 1), 9800, 6400, None, None),
    ),
    (
        *("M-052", "Marble Head", "Antiquity", "Ruth Adler", "Mae Sorel"),
        *(date(1954, 4, 26), 64000, 9300, date(2025, 8, 5), None),
    ),
    (
        *("M-060", "Fire Pump", "Town history", None, "Ivo Lang"),
        *(date(2003, 10, 8), 5100, 2700, date(2022, 12, 1), "Pump Video"),
    ),
    (
        *("M-071", "Painted Screen", "Crafts", "Nora Quist", "Mae Sorel"),
        *(date(2016, 2, 11), 21500, 1900, None, None),
    ),
)
LOANS: Rows = (
    ("Loan no.", "Loan", "Borrower", "Item", "Sent", "Fee (€)", "Keeper"),
    (
        *("L1", "Mirror to Vellin", "Vellin Gallery", "Bronze Mirror"),
        *(date(2025, 3, 1), 900, "Tess Moran"),
    ),
    (
        *("L2", "Clock to Osthafen", "Osthafen Museum", "Harbour Clock"),
        *(date(2025, 9, 12), 450, "Tess Moran"),
    ),
    (
        *("L3", "Head to Vellin", "Vellin Gallery", "Marble Head"),
        *(date(2024, 6, 20), 2100, "Gil Anders"),
    ),
    (
        *("L4", "Chest to Brook House", "Brook House", "Guild Chest"),
        *(date(2026, 1, 8), None, "Gil Anders"),
    ),
)
INSTRUMENTS: Rows = (
    (
        *("Tag", "Instrument", "Maker", "Calibration", "", "Price ($)", "Room"),
        *("Responsible", "Samples a month"),
    ),
    ("", "", "", "Last", "Interval (months)", "", "", "", ""),
    (
        *("LAB-3", "Mass Spectrometer", "Orbix", date(2025, 10, 2), 12, 240000),
        *("B12", "Dana Wolff", 410),
    ),
    (
        *("LAB-7", "Gas Chromatograph", "Orbix", date(2025, 4, 18), 6, 88000),
        *("B12", "Dana Wolff", 620),
    ),
    (*("LAB-8", "Centrifuge", "Spindle", None, 24, 7300, "B14", "Olu Adeyemi", 980),),
    (
        *("LAB-11", "Fume Hood", "Ventra", date(2024, 12, 5), 12, 11900, "B15"),
        *(None, None),
    ),
    (*("LAB-12", "Freezer", "Polar", None, None, 9400, "B02", "Olu Adeyemi", None),),
    (
        *("LAB-15", "Titrator", "Ventra", date(2025, 7, 29), 3, 14600, "B14"),
        *("Sana Iqbal", 1350),
    ),
    (
        *("LAB-19", "Microscope", "Lumen", date(2023, 3, 16), 24, 32500, "B14"),
        *("Sana Iqbal", 275),
    ),
)
REAGENTS: Rows = (
    ("Code", "Reagent", "Hazard", "Stock", "Unit", "Supplier", "Expiry"),
    ("R-101", "Acetone", "Flammable", 40, "l", "Chemport", date(2027, 5, 31)),
    ("R-102", "Sodium Chloride", "None", 12, "kg", "Salina", date(2030, 1, 31)),
    ("R-107", "Nitric Acid", "Corrosive", 8, "l", "Chemport", date(2026, 11, 30)),
    ("R-110", "Silver Nitrate", "Oxidising", 250, "g", "Argent", date(2028, 8, 31)),
    ("R-115", "Ethanol", "Flammable", 60, "l", "Brennholt", None),
    ("R-118", "Agar", "None", 900, "g", "Salina", date(2026, 9, 30)),
)
VEHICLES: Rows = (
    ("Fuhrpark der Stadtwerke, Stand 1.2.2026",),
    (
        *("Nr.", "Fahrzeug", "Standort", "Halter", "Antrieb", "Anschaffung"),
        *("Jahreskosten (€)", "Kilometerstand", "Nachfolger"),
    ),
    (
        *("F01", "Kehrmaschine Nord", "Hafen", "Bauhof", "Diesel"),
        *(date(2015, 4, 1), 48200, 61000, "Kehrmaschine E"),
    ),
    (
        *("F02", "Hubsteiger", "Hafen", "Lichtamt", "Diesel"),
        *(date(2011, 8, 15), 22900, 44500, None),
    ),
    (
        *("F03", "Pritsche Gross", "Mitte", "Gartenamt", "Diesel"),
        *(date(2019, 6, 3), 9800, 83100, None),
    ),
    (
        *("F04", "Kastenwagen", "Mitte", "Lichtamt", "Elektro"),
        *(date(2023, 1, 20), 6100, 18400, None),
    ),
    (
        *("F05", "Lastenrad", "Mitte", None, "Elektro"),
        *(date(2024, 5, 13), 700, 2300, None),
    ),
    (
        *("F06", "Winterdienst Unimog", "Hafen", "Bauhof", "Diesel"),
        *(date(2008, 11, 24), 36400, 97200, "Winterdienst Neu"),
    ),
)
DEVICES: Rows = (
    ("Medical devices of the clinic, checked 30 June 2026",),
    (
        *("Asset ID", "Device name", "Ward", "Owner", "Technical contact", "Class"),
        *("Commissioned", "Next service", "Book value (€)", "Hours used"),
    ),
    (
        *("CL-001", "Infusion Pump A", "Surgery", "Dr Hahn", "Eva Stark", "IIb"),
        *(date(2018, 2, 1), date(2026, 9, 1), 1800, 9400),
    ),
    (
        *("CL-002", "Infusion Pump B", "Surgery", "Dr Hahn", "Eva Stark", "IIb"),
        *(date(2019, 5, 6), date(2026, 8, 15), 2100, 7700),
    ),
    (
        *("CL-003", "Ultrasound Cart", "Cardiology", "Dr Osei", None, "IIa"),
        *(date(2016, 10, 12), None, 31000, 5100),
    ),
    (
        *("CL-004", "Ventilator West", "Intensive Care", "Dr Hahn", "Karl Kern", "IIb"),
        *(date(2020, 4, 2), date(2026, 7, 20), 22400, 15800),
    ),
    (
        *("CL-005", "Defibrillator Hall", "Cardiology", None, "Eva Stark", "III"),
        *(date(2021, 11, 9), date(2027, 1, 10), 3900, None),
    ),
    (
        *("CL-006", "Bed Scale", "Surgery", "Nurse Lind", None, "I"),
        *(None, None, 650, 2200),
    ),
)
CONTRACTS: Rows = (
    (
        "Contract no.",
        "Contract",
        "Supplier",
        "Device name",
        "Contract owner",
        "Fee (€)",
    ),
    ("V1", "Pump care", "Medserv", "Infusion Pump A", "Jo Reuter", 300),
    ("V2", "Ventilator care", "Atemtec", "Ventilator West", "Jo Reuter", 2900),
    ("V3", "Scan support", "Sonova", "Ultrasound Cart", "Mia Falk", 1450),
)
WORKBOOKS: Mapping[str, Mapping[str, Rows]] = {
    "museum": {"Objects": OBJECTS, "Loans": LOANS},
    "laboratory": {"Instruments": INSTRUMENTS, "Reagents": REAGENTS},
    "fleet": {"Fahrzeuge": VEHICLES},
    "clinic": {"Devices": DEVICES, "Contracts": CONTRACTS},
}
_MERGED = ("A1:A2", "B1:B2", "C1:C2", "D1:E1", "F1:F2", "G1:G2", "H1:H2", "I1:I2")


def write_workbooks(folder: Path) -> dict[str, Path]:
    """Write the four workbooks, and return them by collection."""
    paths = {}
    for name, sheets in WORKBOOKS.items():
        book = Workbook()
        book.remove(book.worksheets[0])
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append([value if value != "" else None for value in row])
            for cells in _MERGED if title == "Instruments" else ():
                sheet.merge_cells(cells)
        paths[name] = folder / f"{name}.xlsx"
        book.save(paths[name])
    return paths


if __name__ == "__main__":
    table_operations.main(QUESTIONS, write_workbooks, __doc__.splitlines()[0])
