"""The part of a catalogue to build, and texts written by a person beforehand."""

from collections.abc import Sequence
from pathlib import Path

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from elt_llm_consumer.context_fields import FIELDS
from elt_llm_consumer.definitions.terms import clean, normalise
from elt_llm_consumer.linking.model_entities import EntityModel
from elt_llm_consumer.linking.similarity import UNASSIGNED
from elt_llm_core.errors import ConfigError, UsageError, suggest
from elt_llm_core.records import Record


class CatalogScope(Record):
    """The part of a catalogue to build, and texts written by a person beforehand.

    `static` maps an entity to fields and texts that replace those of the handbook; a
    `forced` entity counts as named in the handbook.
    """

    domains: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    skip_relationships: bool = False
    skip_handbook: bool = False
    forced: tuple[str, ...] = ()
    static: dict[str, dict[str, str]] = Field(default_factory=dict)

    @property
    def is_partial(self) -> bool:
        """Return whether only some entities are selected, without terms."""
        return bool(self.domains or self.entities)

    def restrict(self, model: EntityModel) -> EntityModel:
        """Return the model with the selected entities; its relations stay.

        Raises:
            UsageError: If a domain or an entity is not in the model.
        """
        known = {normalise(one.domain or UNASSIGNED) for one in model.entities}
        names = {normalise(one.name) for one in model.entities}
        _require_known("domain", self.domains, known, model)
        every = (*self.entities, *self.forced, *self.static)
        _require_known("entity", every, names, model)
        domains, wanted = (
            set(map(normalise, self.domains)),
            set(map(normalise, self.entities)),
        )
        kept = tuple(
            one
            for one in model.entities
            if (not domains or normalise(one.domain or UNASSIGNED) in domains)
            and (not wanted or normalise(one.name) in wanted)
        )
        return model.model_copy(update={"entities": kept})


def _require_known(
    kind: str, given: Sequence[str], known: set[str], model: EntityModel
) -> None:
    for name in given:
        if normalise(name) not in known:
            values = {
                (one.domain or UNASSIGNED) if kind == "domain" else one.name
                for one in model.entities
            }
            raise UsageError(f"the model has no {kind} {name!r}", suggest(name, values))


def read_static_context(path: Path | None) -> dict[str, dict[str, str]]:
    """Read manually written texts for fields of entities.

    Args:
        path: A YAML file that maps an entity to fields and texts; None for none.

    Raises:
        ConfigError: If the file cannot be read or has another structure.
    """
    if path is None:
        return {}
    example = "write it as: Ground Lease: {governance_rules: kept by the registrar}"
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        static = TypeAdapter(dict[str, dict[str, str]]).validate_python(loaded)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError, ValidationError) as error:
        reason = clean(str(error))[:200]
        raise ConfigError(f"{path} is no static context: {reason}", example) from error
    for entity, fields in static.items():
        for name in fields:
            if name not in FIELDS:
                raise ConfigError(
                    f"{path}: {entity!r} has the field {name!r}", suggest(name, FIELDS)
                )
    return static
