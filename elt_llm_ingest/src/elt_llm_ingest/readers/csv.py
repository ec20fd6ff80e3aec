"""CSV: every line after the header is a row of one table."""

import csv
import io
import re
from itertools import islice
from pathlib import Path

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.cell_grid import header_rows
from elt_llm_ingest.readers.detection import decode_text
from elt_llm_ingest.readers.enterprise import inventory
from elt_llm_ingest.readers.text_builder import TextBuilder, with_sections

PARSER = "csv 4"
SAMPLE = 64_000  # characters: hundreds of rows show which separator is used
# Quotation marks of the sample: the standard library takes quadratic time for unpaired
# ones (9 s for 8,000 of them, .1 s for 1,000), and the rows with these suffice.
SAMPLE_QUOTES = 1_000
_QUOTE = re.compile("[\"']")


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
    """Return the document of a CSV file: a table with named columns.

    An inventory (columns id, type and name) keeps all its columns as text, and also
    gets the sidecars of an inventory. Raises LoadError for a file without rows and for
    one with too many cells.
    """
    text, warnings = decode_text(path, data)
    rows = _read(path, text)
    if sum(map(len, rows)) > limits.max_cells:
        raise LoadError(
            path.name,
            f"it has more than {limits.max_cells} cells",
            "split the file or keep only the columns you need",
        )
    builder = TextBuilder()
    header = header_rows(rows)
    for index, row in enumerate(rows):
        builder.add_row(
            row,
            rows[0] if header else [],
            "1",
            table=path.stem,
            attributes={"row": "header"} if index < header else {},
        )
    if not builder.blocks:
        raise LoadError(path.name, "no text: it has no filled row", "check the export")
    sidecars = inventory.table_sidecars(path, [(path.stem, rows)]).sidecars
    return [
        ParsedDocument(
            title=path.stem,
            text=builder.text,
            blocks=with_sections(builder.text, builder.blocks),
            parser=PARSER,
            warnings=warnings,
            sidecars=sidecars,
        )
    ]


def _sample(text: str) -> str:
    """Return the beginning of a text, whole lines if it has many quotation marks."""
    sample = text[:SAMPLE]
    quote = next(islice(_QUOTE.finditer(sample), SAMPLE_QUOTES, None), None)
    if quote is None:
        return sample
    return sample[: sample.rfind("\n", 0, quote.start()) + 1] or sample[: quote.start()]


def _read(path: Path, text: str) -> list[list[str]]:
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(_sample(text), ",;\t|")
    except csv.Error:
        dialect = csv.excel_tab if "\t" in text[:SAMPLE] else csv.excel
    previous = csv.field_size_limit(10_000_000)
    try:
        rows = list(csv.reader(io.StringIO(text), dialect, strict=False))
    except csv.Error as error:
        raise LoadError(
            path.name,
            f"a line is not valid CSV ({error})",
            "export it again with quotes",
        ) from error
    finally:
        csv.field_size_limit(previous)
    return [row for row in rows if any(cell.strip() for cell in row)]
