"""Words of a PDF that we lost or moved, against Poppler's `pdftotext`."""

import re
import shutil
import subprocess
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import LoadError, UsageError

WORD = re.compile(r"[^\W_]+")
TIMEOUT = 120
SHORT = 3  # letters; a shorter word is looked for with its neighbour


class LostWords(NamedTuple):
    """Words of pdftotext, those we lack, and of the comparable those out of order."""

    words: int
    lost: int
    comparable: int
    moved: int
    examples: tuple[str, ...] = ()

    def plus(self, other: "LostWords") -> "LostWords":
        """Both counts together; examples of the first few."""
        return LostWords(
            self.words + other.words,
            self.lost + other.lost,
            self.comparable + other.comparable,
            self.moved + other.moved,
            (*self.examples, *other.examples)[:20],
        )


def count_lost_words(pdf: Path, document: ParsedDocument) -> LostWords:
    """What we lost page by page.

    A word is lost if our text of the page has it less often and does not hold it cut
    otherwise. Words that both say once are compared in order: all that are not in the
    longest run that keeps pdftotext's order are moved. Raises UsageError without
    pdftotext, LoadError if it fails.
    """
    total = LostWords(0, 0, 0, 0)
    theirs = page_texts(pdf)
    for page in document.pages:
        text = " ".join(document.text[word[0] : word[1]] for word in page.words)
        if page.number <= len(theirs):
            total = total.plus(compare_words(text, theirs[page.number - 1]))
    return total


def page_texts(pdf: Path) -> list[str]:
    """What pdftotext reads on each page.

    Raises UsageError without pdftotext, LoadError if it fails.
    """
    program = shutil.which("pdftotext")
    if program is None:
        raise UsageError(
            "pdftotext is not installed", "install it: apt-get install poppler-utils"
        )
    done = subprocess.run(
        [program, "-enc", "UTF-8", str(pdf), "-"],
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
    )
    if done.returncode:
        raise LoadError(pdf.name, f"pdftotext ends with {done.returncode}")
    return done.stdout.decode("utf-8", "replace").split("\f")[:-1]


def compare_words(ours: str, theirs: str) -> LostWords:
    """Our text of a page against pdftotext's."""
    mine, others = words_in(ours), words_in(theirs)
    have = Counter(mine)
    dense = "".join(mine)
    missing = []
    for index, word in enumerate(others):
        if have[word]:
            have[word] -= 1
        elif not _is_there(dense, others, index):
            missing.append(word)
    once = {w for w, n in Counter(mine).items() if n == 1}
    order = [w for w, n in Counter(others).items() if n == 1 and w in once]
    place = {word: index for index, word in enumerate(order)}
    kept = _longest([place[word] for word in mine if word in place])
    return LostWords(
        len(others), len(missing), len(order), len(order) - kept, tuple(missing[:3])
    )


def words_in(text: str) -> list[str]:
    """The words of a text, for comparison: without marks, case and ligatures."""
    plain = unicodedata.normalize(
        "NFKC", text.replace("\xad", "").replace("\ufffe", "")
    )
    return WORD.findall(plain.casefold())


def _is_there(dense: str, words: Sequence[str], index: int) -> bool:
    """Whether a word is in our text, only cut into words otherwise."""
    if len(words[index]) > SHORT and words[index] in dense:
        return True
    near = words[max(index - 1, 0) : index + 2]
    return len(near) > 1 and "".join(near) in dense


def _longest(places: Sequence[int]) -> int:
    """The length of the longest rising subsequence."""
    ends: list[int] = []
    for place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
    return len(ends)
