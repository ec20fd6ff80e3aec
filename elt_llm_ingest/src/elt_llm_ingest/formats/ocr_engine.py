"""Tesseract inside LiteParse: pages as pictures in, pages with words out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from liteparse import LiteParse, ParseError

from elt_llm_ingest.formats.ocr_lie import (
    UPRIGHT,
    Lie,
    angles,
    quality,
    slope_of,
    straightened,
)
from elt_llm_ingest.formats.ocr_lines import in_lines
from elt_llm_ingest.gathered import runs

DPI = 200


class Engine:
    """Reads pages of one PDF, and keeps how they lie."""

    def __init__(self, data: bytes | Path, folder: Path, names: Sequence[str]) -> None:
        self._data = data
        self._folder = folder
        self._names = names
        self.pages: dict[int, Any] = {}
        self.lies: dict[int, Lie] = {}
        self.warnings: list[str] = []
        self._last = 0

    def read(self, numbers: Sequence[int]) -> Sequence[int]:
        """Read pages, turning those that do not stand upright. The numbers tried."""
        for number, page in self._read(numbers, {}).items():
            best, angle = page, 0
            # Pages of one scan tend to lie alike, so the last turn is tried first.
            for degrees in sorted(angles(page), key=lambda a: a != self._last):
                other = self._read([number], {number: degrees}).get(number)
                if other is not None and quality(other) > quality(best) + 0.02:
                    best, angle = other, degrees
                if angle and quality(best) > UPRIGHT:
                    break
            self._last = angle or self._last
            slope = slope_of(best)
            self.pages[number] = in_lines(straightened(best, slope))
            self.lies[number] = Lie(angle, slope)
        return numbers

    def _read(
        self,
        numbers: Sequence[int],
        turned: Mapping[int, int],
    ) -> dict[int, Any]:
        parser = LiteParse(
            ocr_enabled=True,
            ocr_language="+".join(self._names),
            tessdata_path=str(self._folder),
            ocr_failure_fatal=False,
            dpi=DPI,
            num_workers=1,
            quiet=True,
            output_format="markdown",
            extract_blocks=True,
            emit_word_boxes=True,
            continue_on_page_error=True,
            keep_headers_footers=True,
            target_pages=",".join(map(str, numbers)),
            page_orientation_corrections=sorted(turned.items()) or None,
        )
        try:
            result = parser.parse(self._data)
        except ParseError as error:
            said = f"{named(numbers)} not recognised ({str(error)[:120]})"
            self.warnings.append(said)
            return {}
        return {page.page_num: page for page in result.pages}


def named(numbers: Sequence[int]) -> str:
    """For example: page 3 was; pages 3-5, 9 were."""
    said = runs(numbers)
    if len(numbers) == 1:
        return f"page {said[0]} was"
    return f"pages {', '.join(said)} were"
