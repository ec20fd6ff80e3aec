"""Topics of documents: from a file, from the seeds of a pack, or their sections."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from elt_llm_consumer.writing.report_template import MOST_BYTES, make_slug
from elt_llm_core.config.domain_packs import find_pack
from elt_llm_core.config.loader import parse_yaml
from elt_llm_core.errors import ConfigError, UsageError, suggest
from elt_llm_core.provenance import read
from elt_llm_core.records import Record
from elt_llm_core.store import Store

BETWEEN = " > "  # levels of a section path


class Topic(Record):
    """The subject of a summary. With `section` only passages of that section."""

    id: str = Field(min_length=1, max_length=80)
    name: str = Field(min_length=1, max_length=300)
    description: str = Field(default="", max_length=8000)
    category: str = Field(default="", max_length=300)
    section: str = ""
    document_id: str = ""

    @property
    def where(self) -> dict[str, Any]:
        """Return the filter of its passages; empty for a topic found by search."""
        if not self.section:
            return {}
        return {"document_id": self.document_id, "section": self.section}


def find_topics(
    store: Store,
    collections: Sequence[str],
    file: Path | None = None,
    pack: str = "",
) -> tuple[Topic, ...]:
    """Return the topics of a file or a pack, or the main sections of documents.

    Raises:
        ConfigError: If the file contains no topics.
        UsageError: If there is no such pack, or no topics are found.
    """
    if pack:
        topics = seed_topics(find_pack(pack).seed_topics)
    elif file is not None:
        topics = read_topics(file)
    else:
        topics = section_topics(store, collections)
    if not topics:
        raise UsageError(
            "there are no topics: the documents have no sections",
            "write them into a YAML file (--file), or choose a pack (--pack)",
        )
    return topics


def choose_topics(topics: Sequence[Topic], names: Sequence[str]) -> tuple[Topic, ...]:
    """Return the topics with these ids or names, or all without names.

    Raises:
        UsageError: If a topic does not exist.
    """
    known = {topic.id: topic for topic in topics}
    known |= {topic.name.casefold(): topic for topic in topics}
    chosen = []
    for name in names:
        topic = known.get(name) or known.get(name.casefold())
        if topic is None:
            hint = suggest(name, [one.id for one in topics])
            raise UsageError(f"no topic {name!r}", hint)
        chosen.append(topic)
    return tuple(dict.fromkeys(chosen)) or tuple(topics)


def seed_topics(names: Iterable[str]) -> tuple[Topic, ...]:
    """Return topics made from names, as in packs."""
    return tuple(Topic(id=key, name=name) for key, name in _number_names(names))


def read_topics(path: Path) -> tuple[Topic, ...]:
    """Read a list of topics: names, or records of name, id, description, category.

    Raises:
        ConfigError: If the file cannot be read or is not such a list.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ConfigError(f"{path} exceeds the maximum size of a topics file")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error
    loaded = parse_yaml(text, str(path))
    if isinstance(loaded, dict):
        loaded = loaded.get("topics")
    if not isinstance(loaded, list) or not loaded:
        raise ConfigError(f"{path} contains no topics", "write a list of names")
    records = [one if isinstance(one, dict) else {"name": one} for one in loaded]
    names = [str(one.get("id") or one.get("name") or "") for one in records]
    try:
        topics = [
            Topic.model_validate({**one, "id": key})
            for one, (key, _) in zip(records, _number_names(names), strict=True)
        ]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{path}: a topic's {where}: {first['msg']}") from error
    return tuple(topics)


def section_topics(store: Store, collections: Sequence[str]) -> tuple[Topic, ...]:
    """Return the first level of sections of each document, in reading order.

    A level with only one section, such as the title, is skipped.
    """
    topics: list[Topic] = []
    for collection in collections:
        paths: dict[str, list[tuple[str, ...]]] = {}
        names: dict[str, str] = {}
        for node in store.nodes(collection):
            place = read(node)
            names[place.document_id] = place.document
            if place.section:
                path = tuple(place.section.split(BETWEEN))
                paths.setdefault(place.document_id, []).append(path)
        for document_id, several in paths.items():
            name = names[document_id]
            topics += _main_sections(document_id, name, several)
    ids = _number_names(topic.name for topic in topics)
    return tuple(
        topic.model_copy(update={"id": key})
        for topic, (key, _) in zip(topics, ids, strict=True)
    )


def _main_sections(
    document_id: str, document: str, paths: Sequence[tuple[str, ...]]
) -> list[Topic]:
    """Return the sections at the first level that has several."""
    deepest = max(map(len, paths))
    for level in range(1, deepest + 1):
        sections = list(dict.fromkeys(path[:level] for path in paths))
        # A section without subsections at this level is a topic itself.
        if len(sections) > 1 or level == deepest:
            return [
                Topic(
                    id="-",
                    name=_bare_name(path[-1])[:300],
                    category=document[:300],
                    section=BETWEEN.join(path),
                    document_id=document_id,
                )
                for path in sections
            ]
    return []


def _bare_name(heading: str) -> str:
    """Return a heading without its number."""
    name = heading.strip()
    head, _, rest = name.partition(" ")
    numbered = rest and head.strip(".()").replace(".", "").isdigit()
    return (rest.lstrip(" -\u2013\u2014") or name) if numbered else name


def _number_names(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return a unique id for each name."""
    taken: set[str] = set()
    pairs = []
    for name in names:
        base = make_slug(str(name))[:70]
        key, number = base, 1
        while key in taken:
            number += 1
            key = f"{base}-{number}"
        taken.add(key)
        pairs.append((key, str(name)))
    return pairs
