"""Text recognition, measured: scans made of known pages, compared with their text."""

import io
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pypdfium2
from PIL import Image, ImageFilter

from elt_llm_ingest.limits import Limits
from elt_llm_ingest.sandbox.worker import parse

DPI = 200
SKEW = 0.6  # degrees
NOISE = 12.0  # of 255
BLUR = 0.6  # pixels
LEAST = 100  # words of a page worth scanning
WORD = re.compile(r"\w+")


@dataclass
class ScanScore:
    """One page: shares 0 to 1 of its words that were found, and found in order."""

    name: str
    page: int
    angle: int
    words: int
    recall: float
    order: float
    seconds: float  # of processor time


@dataclass
class Scans:
    """All pages; the means weigh every word alike."""

    pages: list[ScanScore] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Share of the words that were found."""
        return self._mean([page.recall for page in self.pages])

    @property
    def order(self) -> float:
        """Share of the words that were found in the order of the page."""
        return self._mean([page.order for page in self.pages])

    @property
    def seconds(self) -> float:
        """Processor time for a page."""
        return sum(p.seconds for p in self.pages) / max(len(self.pages), 1)

    def _mean(self, values: Sequence[float]) -> float:
        total = sum(page.words for page in self.pages)
        weighed = zip(self.pages, values, strict=True)
        return sum(p.words * v for p, v in weighed) / total if total else 0.0


def run_scans(
    folder: Path, pages: int = 10, seed: int = 4, angles: Sequence[int] = (0,)
) -> Scans:
    """Scan pages of the folder's PDFs, at most `pages` of them, and read them again."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    files = sorted(folder.rglob("*.pdf"))
    chance.shuffle(files)
    scans = Scans()
    for path in files:
        if len(scans.pages) >= pages * len(angles):
            break
        for number, text, image in _page(path, chance):
            for angle in angles:
                scan = _scanned(image, angle, seed)
                scans.pages.append(_score(path, number, angle, text, scan))
    return scans


def _page(path: Path, chance: random.Random) -> Iterator[tuple[int, str, Image.Image]]:
    """One page of the file that says enough, as text and as a picture."""
    with pypdfium2.PdfDocument(path) as pdf:
        numbers = list(range(min(len(pdf), 50)))
        chance.shuffle(numbers)
        for number in numbers[:5]:
            page = pdf[number]
            text = page.get_textpage().get_text_range()
            if len(WORD.findall(text)) >= LEAST:
                yield (
                    number + 1,
                    text,
                    page.render(scale=DPI / 72).to_pil().convert("L"),
                )
                return


def _scanned(image: Image.Image, angle: int, seed: int) -> bytes:
    """The picture as a scanner sees it, in a PDF: askew, blurred, noisy, packed."""
    askew = image.rotate(SKEW, fillcolor=255, resample=Image.Resampling.BICUBIC)
    soft = askew.filter(ImageFilter.GaussianBlur(BLUR))
    noise = np.random.default_rng(seed).normal(0, NOISE, (soft.height, soft.width))
    grey = np.clip(np.asarray(soft, dtype=np.float64) + noise, 0, 255)
    turned = Image.fromarray(grey.astype(np.uint8)).rotate(-angle, expand=True)
    buffer = io.BytesIO()
    turned.save(buffer, "PDF", resolution=DPI, quality=80)
    return buffer.getvalue()


def _score(path: Path, number: int, angle: int, text: str, scan: bytes) -> ScanScore:
    began = time.process_time()
    _, documents = parse(Path("scan.pdf"), scan, Limits())
    seconds = time.process_time() - began
    wanted = WORD.findall(text.casefold())
    recognised = WORD.findall(documents[0].text.casefold())
    same = SequenceMatcher(
        None, wanted, recognised, autojunk=False
    ).get_matching_blocks()
    return ScanScore(
        name=path.name,
        page=number,
        angle=angle,
        words=len(wanted),
        recall=sum((Counter(wanted) & Counter(recognised)).values()) / len(wanted),
        order=sum(block.size for block in same) / len(wanted),
        seconds=round(seconds, 2),
    )
