"""Small PDFs that ask for endless work end with the reason; honest ones are read.

What each costs is measured by `benchmarks/pdf_bombs.py`.
"""

import resource
from pathlib import Path

import pytest

from elt_llm_core.errors import LoadError
from elt_llm_ingest import quota
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf.document import parse
from elt_llm_ingest.sandbox.client import ReadingProcess
from elt_llm_ingest.sandbox.guard import Guard
from pdf_bombs import BOMBS, LINE, THRICE, packed, with_content
from pdf_pages import PAGES, long_pdf
from raw_pdf import stream

pytestmark = pytest.mark.usefixtures("cold_children")

READ = "A berth costs 600 pounds a year."
OVERLOAD = "far more than a PDF of"
OVERLOADS = (
    "self_calling_form", "nested_forms", "one_flate", "three_flates", "words_only",
    "packed_objects", "packed_map", "huge_pattern", "many_pages", "many_references",
)  # fmt: skip
HARMLESS = ("giant_page", "endless_page", "empty_objects")
BARE = ("deep_page_tree", "page_tree_loop", "outline_loop", "huge_image", "wide_map")


@pytest.mark.parametrize("name", OVERLOADS)
def test_a_pdf_that_asks_for_endless_work_is_refused_as_that(name, reading):
    with pytest.raises(LoadError, match=OVERLOAD) as caught:
        reading.parse(Path("a.pdf"), BOMBS[name]())
    assert "parse_timeout" not in caught.value.hint
    assert "print it to a new PDF" in caught.value.hint


@pytest.mark.parametrize("name", HARMLESS)
def test_a_pdf_that_only_says_absurd_things_is_read(name, reading):
    (document,) = reading.parse(Path("a.pdf"), BOMBS[name]())
    assert document.text == READ


def test_a_picture_of_absurd_size_is_not_decoded(reading):
    with pytest.raises(LoadError, match="more than 1,000 megapixels"):
        reading.parse(Path("a.pdf"), BOMBS["huge_lone_image"]())


@pytest.mark.parametrize("name", BARE)
def test_an_absurd_pdf_ends_with_text_or_a_reason(name, reading):
    found, hint = "", ""
    try:
        (document,) = reading.parse(Path("a.pdf"), BOMBS[name]())
        found = document.text
    except LoadError as error:
        found, hint = error.reason, error.hint
    assert found
    assert "parse_timeout" not in hint


def test_the_next_file_is_read_after_a_bomb(reading):
    with pytest.raises(LoadError, match=OVERLOAD):
        reading.parse(Path("a.pdf"), BOMBS["self_calling_form"]())
    (document,) = reading.parse(Path("b.pdf"), with_content(stream(LINE)))
    assert document.text == READ


def test_a_file_of_ordinary_contents_may_be_packed_thrice(reading):
    data = with_content(stream(packed(b" ", 65_536, 3), THRICE))
    with pytest.raises(LoadError, match="no text: its pages are empty"):
        reading.parse(Path("a.pdf"), data)


def test_memory_grows_with_the_file_and_its_pages_up_to_what_is_configured():
    limits = Limits()
    assert quota.memory_mb(4_000, 1, limits) <= 512
    assert quota.memory_mb(4_000, 10_000, limits) > 4000
    assert quota.memory_mb(10_000_000, 1, limits) > 1000
    assert quota.memory_mb(10**9, 1, limits) == limits.memory_mb
    assert quota.memory_mb(10**9, 1, Limits(memory_mb=300)) == 300


@pytest.fixture
def cpu_limits(monkeypatch) -> list[int]:
    """What is asked for as a limit of processor time, and never set."""
    asked: list[int] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: asked.append(pair[0]))
    monkeypatch.setattr(quota, "_cpu_seconds", lambda: 10.0)
    monkeypatch.setattr(quota, "_Time", type("_Time", (quota._Time,), {}))
    return asked


def test_time_grows_with_what_is_done_up_to_what_is_configured(cpu_limits):
    quota.allow_more_time(5)
    assert cpu_limits == [], "a process that is not confined has no limit"
    quota.limit_time(60)
    quota.begin(1_000_000)
    quota.allow_more_time(7)
    quota.allow_more_time(100)
    assert cpu_limits == [70, 53, 60, 70]


def test_pages_that_are_done_earn_time_and_memory(tmp_path, cpu_limits):
    told: list[int] = []
    path = long_pdf(tmp_path / "long.pdf")
    data = path.read_bytes()
    quota.limit_time(1000, told.append)
    quota.begin(len(data))
    parse(path, data, Limits())
    assert told == [PAGES]
    assert cpu_limits == sorted(cpu_limits, key=lambda s: (s != 1010, s))
    most = PAGES * (quota.SECONDS_AHEAD + quota.SECONDS_DONE)
    assert cpu_limits[-1] >= 10 + quota.SECONDS + most
    guard = Guard(0, data, Limits())
    before = str(guard.too_much())
    guard.allow(1000)
    assert str(guard.too_much()) != before


def test_a_process_that_does_not_start_is_told_of(monkeypatch):
    monkeypatch.setattr("elt_llm_ingest.sandbox.client.sys.executable", "/bin/false")
    with ReadingProcess() as process, pytest.raises(LoadError, match="does not start"):
        process.parse(Path("a.pdf"), with_content(stream(LINE)))
