"""What a Word or PowerPoint file holds that is not plainly on its pages."""

import re
import zipfile
from collections.abc import Iterator

# Word writes these as elements around the runs; the text of a deletion is w:delText.
INSERTED = re.compile(rb"<w:ins\s[^>]*>(?!\s*</w:ins>)")
DELETED = re.compile(rb"<w:delText[\s>]")
CHARTS = re.compile(r"(?:word|ppt)/charts/chart[^/]*\.xml$")
DIAGRAMS = re.compile(r"(?:word|ppt)/diagrams/data[^/]*\.xml$")
SLIDE = re.compile(r"ppt/slides/slide\d+\.xml$")
HIDDEN_SLIDE = re.compile(rb"<p:sld\s[^>]*\bshow=\"(?:0|false)\"")
TEXT_PARTS = re.compile(
    r"word/(?:document|header\d*|footer\d*|footnotes|endnotes|comments)\.xml$"
)


def remarks(archive: zipfile.ZipFile) -> Iterator[str]:
    """One sentence for each kind of thing that a reader of the text should know."""
    counts = dict.fromkeys(("inserted", "deleted", "slides"), 0)
    parts = archive.namelist()
    for part in parts:
        if TEXT_PARTS.search(part):
            data = archive.read(part)
            counts["inserted"] += len(INSERTED.findall(data))
            counts["deleted"] += len(DELETED.findall(data))
        elif SLIDE.match(part):
            counts["slides"] += bool(HIDDEN_SLIDE.search(archive.read(part)))
    charts = sum(1 for part in parts if CHARTS.match(part))
    diagrams = sum(1 for part in parts if DIAGRAMS.match(part))
    for count, what in (
        (counts["inserted"], "tracked insertions, which were read"),
        (counts["deleted"], "tracked deletions, which were left out"),
        (counts["slides"], "hidden slides, which were read"),
        (charts, "charts, which were not read"),
        (diagrams, "SmartArt diagrams, which were not read; export it as PDF for them"),
    ):
        if count:
            yield f"it has {what}: {count}"
