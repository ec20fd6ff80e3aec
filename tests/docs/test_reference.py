"""The documentation says what the code does."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    p for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if p.name != "CLAUDE.md"
)


def test_the_reference_is_as_the_code_says() -> None:
    script = ROOT / "scripts" / "reference.py"
    done = subprocess.run(
        [sys.executable, script, "--check"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    missing = [t for t in targets if not (page.parent / t).exists()]
    assert not missing


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_to_a_section_name_a_heading(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s:]*(?:\.md)?)#([^)\s]+)\)", text)
    missing = [
        f"{target}#{section}"
        for target, section in links
        if section not in anchors(page.parent / target if target else page)
    ]
    assert not missing


def test_comments_name_headings_of_the_measurements() -> None:
    measurements = ROOT / "docs" / "explanation" / "measurements"
    missing = []
    for file in ROOT.glob("elt_llm_*/src/**/*.py"):
        text = re.sub(r"\s+(# )?", " ", file.read_text(encoding="utf-8"))
        for name in re.findall(r"measurements/([\w-]+\.md)", text):
            assert (measurements / name).exists(), f"{file}: {name}"
        for title, name in re.findall(r'"([^"]+)" in measurements/([\w-]+\.md)', text):
            headings = (measurements / name).read_text(encoding="utf-8")
            if f"# {title}\n" not in headings:
                missing.append(f"{file}: {title}")
        if re.search(r"(?<!/)\bmeasurements\.md", text):
            missing.append(f"{file}: names no page")
    assert not missing


def test_the_readme_shows_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "uv run elt-llm demo" in text
    assert "scripts/test" in text
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "\nscripts/test\n" in gate


def test_all_versions_are_one_and_the_changelog_knows_it() -> None:
    files = [ROOT / "pyproject.toml", *ROOT.glob("elt_llm_*/pyproject.toml")]
    texts = [p.read_text(encoding="utf-8") for p in files]
    versions = {tomllib.loads(text)["project"]["version"] for text in texts}
    assert len(versions) == 1
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    assert newest is not None
    assert newest.group(1) in versions


def test_the_readme_asks_what_the_sample_answers() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (gold,) = ROOT.glob("elt_llm_consumer/src/elt_llm_consumer/packs/*/gold.json")
    asked = set(re.findall(r'"([A-Z][^"\n]+\?)"', text))
    assert asked
    assert all(question in gold.read_text(encoding="utf-8") for question in asked)


def test_every_fault_in_the_table_names_tests_that_exist() -> None:
    page = (ROOT / "docs" / "explanation" / "findings.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")][1:]
    missing = [row for row in rows if "::" not in row.split("|")[3]]
    for path, name in re.findall(r"`([\w/]+\.py)::(\w+)", page):
        file = ROOT / path
        if not file.exists() or f"def {name}(" not in file.read_text(encoding="utf-8"):
            missing.append(f"{path}::{name}")
    assert not missing
