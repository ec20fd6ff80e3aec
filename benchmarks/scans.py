"""Word recall of text recognition on scans made of the PDFs in a folder.

python benchmarks/scans.py FOLDER [PAGES]
"""

import sys
from pathlib import Path

from evaluation.scans import run_scans


def main() -> None:
    """Print a line a page, then the means."""
    pages = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    found = run_scans(Path(sys.argv[1]), pages, angles=(0, 90))
    for p in found.pages:
        print(
            f"{p.name[:40]:40} p{p.page:<3} {p.angle:>3} degrees {p.words:>5} words  "
            f"recall {p.recall:.3f}  in order {p.order:.3f}  {p.seconds:.1f} CPU-s"
        )
    print(
        f"{len(found.pages)} scans: recall {found.recall:.3f}, in order "
        f"{found.order:.3f}, {found.seconds:.1f} CPU-seconds a page"
    )


if __name__ == "__main__":
    main()
