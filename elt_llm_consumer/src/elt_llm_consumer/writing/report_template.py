"""Templates of reports: sections with guidance, as YAML, JSON or Markdown.

    title: Safety review
    sections:
      - heading: Equipment
        guidance: |
          What must every flyer carry?
          Who inspects the equipment?

In Markdown `# ` is the title, each further heading a section, and the text below it its
guidance. Each line or sentence of a guidance asks for one thing.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from elt_llm_consumer.definitions.terms import clean
from elt_llm_core.config.domain_packs import known_packs
from elt_llm_core.config.loader import parse_yaml
from elt_llm_core.errors import ConfigError, UsageError, suggest
from elt_llm_core.language.sentences import sentence_spans
from elt_llm_core.records import Record

MOST_BYTES = 1_000_000  # of a template; files written by hand are far smaller
ENDINGS = (".yaml", ".yml", ".json", ".md")
MOST_SECTIONS = 500  # of a template with those below them: each is a job's item
DEEPEST = 6  # levels of headings in Markdown, HTML and Word
_SLUG = re.compile(r"[^a-z0-9]+")
_BULLET = re.compile(r"^\s*(?:[-*+\u2022]|\d+[.)])\s+")
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")


class TemplateSection(Record):
    """A section as its template describes it."""

    heading: str = Field(min_length=1, max_length=300)
    guidance: str = Field(default="", max_length=8000)
    id: str = Field(default="", max_length=80, description="by default of the heading")
    subsections: tuple["TemplateSection", ...] = ()

    @property
    def requirements(self) -> tuple[str, ...]:
        """Return the requirements of the guidance, one for each line or sentence."""
        return tuple(dict.fromkeys(_requirements(self.guidance)))


class ReportTemplate(Record):
    """The content of a report template."""

    title: str = Field(min_length=1, max_length=300)
    description: str = Field(default="", max_length=8000)
    id: str = Field(default="", max_length=80, description="by default of the title")
    sections: tuple[TemplateSection, ...] = Field(min_length=1, max_length=200)

    @property
    def subject(self) -> str:
        """Return the id under which versions of a report are stored."""
        return make_slug(self.id or self.title)

    def outline(self) -> str:
        """Return the whole template as shown to the writing model."""
        lines = [self.title, self.description]
        for placed in self.placed_sections():
            lines.append(f"{'#' * placed.level} {placed.section.heading}")
            lines.append(placed.section.guidance)
        return "\n".join(line for line in lines if line)

    def placed_sections(self) -> tuple["PlacedSection", ...]:
        """Return all sections in order, each with its level and a unique id."""
        placed: list[PlacedSection] = []
        taken: set[str] = set()
        for section, level in _walk(self.sections, 1):
            base = section.id or make_slug(section.heading)
            names = (base if n == 1 else f"{base}-{n}" for n in count(1))
            key = next(name for name in names if name not in taken)
            taken.add(key)
            placed.append(PlacedSection(id=key, level=level, section=section))
        return tuple(placed)


class PlacedSection(Record):
    """A section at its place in the report."""

    id: str
    level: int
    section: TemplateSection


def make_slug(text: str) -> str:
    """Return an id derived from a name: lower case, digits and hyphens."""
    slug = _SLUG.sub("-", text.casefold()).strip("-")[:80].strip("-")
    return slug or "untitled"


def known_templates() -> dict[str, Path]:
    """Return the templates of the shipped packs, by name."""
    files = [
        file
        for folder in known_packs().values()
        for file in sorted((folder / "templates").glob("*"))
        if file.suffix in ENDINGS
    ]
    return {file.stem: file for file in files}


def find_template(name: str) -> ReportTemplate:
    """Read a shipped template by its name, or a file.

    Raises:
        UsageError: If there is no such template.
        ConfigError: If the file is not a template.
    """
    known = known_templates()
    path = known.get(name, Path(name))
    if path.suffix not in ENDINGS or not path.is_file():
        raise UsageError(
            f"no template {name!r}",
            f"{suggest(name, known)}; or pass a file that ends with "
            f"{', '.join(ENDINGS)}",
        )
    if path.stat().st_size > MOST_BYTES:
        raise ConfigError(f"{path} exceeds the maximum size of a template")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error
    return parse_template(text, path.suffix, str(path))


def parse_template(
    text: str, ending: str, name: str = "the template"
) -> ReportTemplate:
    """Read the text of a template.

    Args:
        text: YAML, JSON or Markdown.
        ending: The file extension, with or without the dot: `.yaml`, `.yml`, `.json`,
            `.md` or `.markdown`.
        name: The name to use in errors.

    Raises:
        ConfigError: If it is not a template.
    """
    kind = ending.removeprefix(".")
    try:
        if kind in {"md", "markdown"}:
            loaded: Any = _parse_markdown(text)
        else:
            loaded = json.loads(text) if kind == "json" else parse_yaml(text, name)
        template = ReportTemplate.model_validate(loaded)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ConfigError(f"{name} cannot be read: {clean(str(error))}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        fault = f"{where}: {first['msg']}" if where else first["msg"]
        raise ConfigError(
            f"{name} is not a template: {fault}",
            "it must have a title and sections with heading and guidance",
        ) from error
    sections = sum(1 for _ in _walk(template.sections, 1))
    if sections > MOST_SECTIONS:
        raise ConfigError(
            f"{name} has {sections:,} sections", f"at most {MOST_SECTIONS} are allowed"
        )
    return template


def _parse_markdown(text: str) -> dict[str, Any]:
    """Parse title and sections of Markdown; deeper headings are subsections."""
    root: dict[str, Any] = {"sections": []}
    path: list[tuple[int, dict[str, Any]]] = []
    body: list[str] = []

    def close() -> None:
        field = "guidance" if path else "description"
        target = path[-1][1] if path else root
        if content := "\n".join(body).strip():
            target[field] = content
        body.clear()

    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading is None:
            body.append(line)
            continue
        close()
        level, title = len(heading[1]), heading[2]
        if level == 1 and "title" not in root:
            root["title"] = title
            continue
        path = [one for one in path if one[0] < level]
        own: dict[str, Any] = {"heading": title}
        parent = path[-1][1].setdefault("subsections", []) if path else root["sections"]
        parent.append(own)
        path.append((level, own))
    close()
    return root


def _walk(
    sections: Sequence[TemplateSection], level: int
) -> Iterator[tuple[TemplateSection, int]]:
    for section in sections:
        yield section, min(level, DEEPEST)
        yield from _walk(section.subsections, level + 1)


def _requirements(guidance: str) -> Iterator[str]:
    """Return the bullets and sentences of a guidance."""
    for line in guidance.splitlines():
        bare = " ".join(_BULLET.sub("", line).split())
        for start, end in sentence_spans(bare) if bare else ():
            sentence = bare[start:end].strip()
            if any(character.isalnum() for character in sentence):
                yield sentence
