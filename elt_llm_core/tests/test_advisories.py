"""Versions of Ollama with known holes."""

import pytest

from elt_llm_core.doctor.machine import _ollama_version
from elt_llm_core.doctor.report import Level
from elt_llm_core.models.ollama.advisories import holes_of, read_advisories


def test_every_advisory_has_an_id_and_a_readable_version():
    known = read_advisories()
    assert known.advisories
    for one in known.advisories:
        assert one.id.startswith(("CVE-", "GO-", "GHSA-"))
        assert one in holes_of("0.0.1")
        assert one not in holes_of(one.fixed)


@pytest.mark.parametrize(
    ("version", "ids"),
    [
        ("0.1.46", {"CVE-2024-45436", "CVE-2026-7482"}),
        ("v0.17.0", {"CVE-2026-7482"}),
        ("0.17.1", set()),
        ("0.17.1-rc0", set()),
        ("0.100.0", set()),
        ("1.0.0", set()),
        ("0.0.0", set()),  # a build without a version
        ("main", set()),
        ("", set()),
    ],
)
def test_a_version_has_the_holes_that_a_later_one_mends(version, ids):
    assert {one.id for one in holes_of(version)} == ids


def test_doctor_warns_of_a_version_with_holes_and_tells_the_day_of_the_list():
    check = _ollama_version("0.1.40")
    assert check.level is Level.WARN
    assert "CVE-2026-7482" in check.detail
    assert read_advisories().checked.isoformat() in check.detail
    assert check.fix == "install Ollama 0.17.1 or newer"
    assert _ollama_version("0.17.1").level is Level.OK
