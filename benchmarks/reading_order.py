"""Line joins kept on the pages of PDFs, by our reading and by pdftotext.

uv run --group dev python benchmarks/reading_order.py FOLDER [FOLDER ...] [--pages]
    [--json FILE]

The measure is described in `evaluation/line_joins.py`. `--pages` prints each page on
which less than 0.97 of the joins that pdftotext keeps are kept; `--json` writes every
page to a file.
"""

import argparse
import json
from pathlib import Path

from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf.document import parse
from evaluation.line_joins import PageJoins, Summary, measure_joins, summarize

SHOWN = 0.97
HEAD = (
    f"{'document':44}{'pages':>6}{'joins':>7}{'ours':>7}{'poppler':>9}{'of its':>8}"
    f"{'low':>5}{'unmarked':>10}"
)


def main() -> None:
    """Print a line a document, a line a folder, a line for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    every: list[PageJoins] = []
    print(HEAD)
    for folder in options.folders:
        pages = _folder(folder, options.pages)
        print(_line(f"= {folder.name}", summarize(pages)))
        every += pages
    print(_line("= all", summarize(every)))
    if options.json:
        options.json.write_text(json.dumps([page._asdict() for page in every]))


def _folder(folder: Path, with_pages: bool) -> list[PageJoins]:
    found: list[PageJoins] = []
    for pdf in sorted(folder.rglob("*.pdf")):
        try:
            (document,) = parse(pdf, pdf.read_bytes(), Limits())
        except LoadError as error:
            print(f"{pdf.name[:42]:44}{error}")
            continue
        pages = list(measure_joins(pdf, document))
        found += pages
        print(_line(pdf.name, summarize(pages)), flush=True)
        for page in pages if with_pages else ():
            if page.both < SHOWN * page.reference:
                print(
                    f"  page {page.page:<5}{page.joins:>5} joins  ours {page.kept:.3f}"
                    f"  pdftotext {page.reference_kept:.3f}"
                    f"{'  doubtful' if page.doubtful else ''}"
                )
    return found


def _line(name: str, told: Summary) -> str:
    return (
        f"{name[:42]:44}{told.pages:>6}{told.joins:>7}{told.ours:>7.3f}"
        f"{told.reference:>9.3f}{told.where_reference:>8.3f}{told.low:>5}"
        f"{told.low_unmarked:>10}"
    )


if __name__ == "__main__":
    main()
