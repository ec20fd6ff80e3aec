"""Books: pages in reading order; nothing outside the archive; locks are named."""

from pathlib import Path

import pytest

import format_files
from elt_llm_core.errors import LoadError


def test_a_book(reading):
    data = format_files.zipped(format_files.BOOK)
    (document,) = reading.parse(Path("a.epub"), data)
    assert document.title == "The Harbour"
    assert format_files.texts(document) == [
        ("heading", "One"),
        ("paragraph", "First."),
        ("figure", "Figure 1. Map."),
        ("heading", "Two"),
        ("paragraph", "Second."),
    ]
    assert document.warnings == ("the page '../etc/passwd' is missing from the file",)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"META-INF/container.xml": "<container/>"}, "does not list its pages"),
        ({"OPS/book.opf": "<!DOCTYPE p [<!ENTITY a 'b'>]><p>&a;</p>"}, "entities"),
        ({"OPS/a.xhtml": "", "OPS/two b.xhtml": ""}, "no text"),
        (
            {"OPS/a.xhtml": "", "OPS/two b.xhtml": "", "META-INF/rights.xml": "<r/>"},
            "protected by DRM",
        ),
        ({"../../x": "y"}, "unsafe name"),
        ({"/etc/x": "y"}, "unsafe name"),
    ],
)
def test_books_that_are_refused(changed, reason, reading):
    data = format_files.zipped({**format_files.BOOK, **changed})
    with pytest.raises(LoadError, match=reason):
        reading.parse(Path("a.epub"), data)
