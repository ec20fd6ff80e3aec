"""The configuration: a YAML file, a domain pack, a profile, then the environment.

Unknown keys are errors that name the known ones. Nothing is read from globals; the
configuration object is passed as an argument.
"""

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from elt_llm_core.config.domain_packs import Pack, find_pack, known_packs
from elt_llm_core.config.sections import RagConfig, RolesSection
from elt_llm_core.errors import (
    ConfigError,
    UnknownModelsError,
    UnknownProfileError,
    describe_yaml_error,
    suggest,
)
from elt_llm_core.points import points_of

__all__ = [
    "RagConfig",
    "known_profiles",
    "load_config",
    "model_choice",
    "profile_file",
    "reference_file",
    "with_models",
]

# The compiled loader, if available, reads a file in a tenth of the time.
SAFE_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# The file is written by hand, so both limits only stop damage and attacks.
MAX_CONFIG_BYTES = 1_000_000
MAX_DEPTH = 20
MAX_SHOWN = 80
ENV_PREFIX = "ELT_LLM_"
RESERVED_ENV = frozenset(
    {
        "ELT_LLM_CACHE_DIR",
        "ELT_LLM_DATA_DIR",
        "ELT_LLM_EVAL_DATA",
        "ELT_LLM_MODELS",
        "ELT_LLM_PASSWORD",
        "ELT_LLM_PROFILE",
        "ELT_LLM_REVIEWER",
    }
)


Layer = tuple[str, Mapping[str, Any]]  # the origin, and its values


def load_config(
    path: Path | None = None,
    profile: str | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    models: str | None = None,
) -> RagConfig:
    """Return the merged configuration of defaults, file, profile and environment.

    `path` is a YAML file; by default the reference file shipped with `elt_llm_ingest`,
    if that package is installed. `profile` is the name of a file in the `profiles`
    folder next to it (default `ELT_LLM_PROFILE`), or a path ending in .yaml. `environ`
    defaults to the process environment; `ELT_LLM_QUERY__NUM_QUERIES=3` sets
    `query.num_queries`. `models` selects the models independently of the profile
    (default `ELT_LLM_MODELS`); see `model_choice`. The pack is the one that
    `consumer.pack` names.

    Raises ConfigError with the file, the key, the value and the known keys.
    """
    environ = os.environ if environ is None else environ
    file = path or reference_file()
    explicit = _explicit(environ, models, overrides)
    layers: list[Layer] = [] if file is None else [(str(file), _read_yaml(file))]
    name = profile or environ.get("ELT_LLM_PROFILE")
    if name and name != "default":
        chosen = profile_file(name, file, _pack_of([*layers, *explicit]))
        layers.append((f"profile {name}", _read_yaml(chosen)))
    layers += explicit
    pack = _pack_of(layers)
    if pack is not None:
        layers.insert(0 if file is None else 1, (f"pack {pack.name}", pack.settings()))
        layers.append((f"pack {pack.name}", {"consumer": {"pack": _place(pack)}}))
    return _merge(layers, pack)


def _explicit(
    environ: Mapping[str, str],
    models: str | None,
    overrides: Mapping[str, Any] | None,
) -> list[Layer]:
    """Return the settings of the environment and the call; later ones win."""
    layers: list[Layer] = []
    if chosen := environ.get("ELT_LLM_MODELS"):
        layers.append(("ELT_LLM_MODELS", {"models": model_choice(chosen)}))
    layers.append(("the environment", _from_environment(environ)))
    if data_dir := environ.get("ELT_LLM_DATA_DIR"):
        layers.append(("ELT_LLM_DATA_DIR", {"stores": {"data_dir": data_dir}}))
    if models is not None:
        layers.append((f"models {models}", {"models": model_choice(models)}))
    if overrides:
        layers.append(("what the call sets", overrides))
    return layers


def _merge(layers: Sequence[Layer], pack: Pack | None) -> RagConfig:
    merged: dict[str, Any] = {}
    for _, layer in layers:
        merged = _deep_merge(merged, layer)
    if pack is not None:
        merged = pack.add_section_rules(merged)
    try:
        return RagConfig.model_validate(merged)
    except ValidationError as error:
        raise _readable(error, layers) from error


def _pack_of(layers: Sequence[Layer]) -> Pack | None:
    """The pack that the last layer with the key names."""
    for _, layer in reversed(layers):
        section = layer.get("consumer")
        if isinstance(section, Mapping) and isinstance(section.get("pack"), str):
            return find_pack(section["pack"]) if section["pack"] else None
    return None


def _place(pack: Pack) -> str:
    """How a process in another folder finds the pack again."""
    shipped = pack.folder in known_packs().values()
    return pack.name if shipped else str(pack.folder)


def with_models(config: RagConfig, models: str | None) -> RagConfig:
    """Return the configuration with other models.

    Args:
        config: The configuration.
        models: The choice of models, see `model_choice`; None keeps them.

    Returns:
        The configuration; a strategy that stays keeps its options.

    Raises:
        UnknownModelsError: If the choice is unknown.
    """
    if models is None:
        return config
    merged = _deep_merge(config.models.model_dump(), model_choice(models))
    section = type(config.models).model_validate(merged)
    return config.model_copy(update={"models": section, "roles": RolesSection()})


def model_choice(name: str) -> dict[str, str]:
    """Return the strategies of a choice of models.

    Args:
        name: `EMBEDDER+LLM`, such as `embedded+ollama`; or one name, which is used for
            both if possible: `embedded` has no language model, `gguf` uses the embedded
            embedder.

    Returns:
        `embedder_strategy` and `llm_strategy` of the section `models`.

    Raises:
        UnknownModelsError: If there is no strategy of that name.
    """
    known = {
        kind: [point.name for point in points_of(f"elt_llm.{kind}s")]
        for kind in ("embedder", "llm")
    }
    first, plus, second = (part.strip() for part in name.partition("+"))
    chosen = {"embedder": first, "llm": second}
    if not plus:
        chosen["embedder"] = first if first in known["embedder"] else "embedded"
        chosen["llm"] = first if first in known["llm"] else "none"
    alone = not plus and not any(first in names for names in known.values())
    if alone or any(chosen[kind] not in known[kind] for kind in known):
        raise UnknownModelsError(name, known["embedder"], known["llm"])
    return {f"{kind}_strategy": one for kind, one in chosen.items()}


def reference_file() -> Path | None:
    """Return the shipped rag_config.yaml, or None without elt_llm_ingest."""
    spec = find_spec("elt_llm_ingest")
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / "config" / "rag_config.yaml"
    return path if path.is_file() else None


def known_profiles(file: Path | None = None, pack: str = "") -> dict[str, Path]:
    """Return profile names with files, sorted, without 'default'."""
    file = file or reference_file()
    folder = file.parent / "profiles" if file else None
    files = sorted(folder.glob("*.yaml")) if folder and folder.is_dir() else []
    return {p.stem: p for p in files} | (find_pack(pack).profile_files if pack else {})


def profile_file(name: str, file: Path | None = None, pack: Pack | None = None) -> Path:
    """Return the file of a profile name or path. Raises UnknownProfileError."""
    known = {**known_profiles(), **known_profiles(file)}
    known |= pack.profile_files if pack else {}
    if name in known:
        return known[name]
    if name.endswith((".yaml", ".yml")) and Path(name).is_file():
        return Path(name)
    raise UnknownProfileError(name, ["default", *known])


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_CONFIG_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    if len(data) > MAX_CONFIG_BYTES:
        raise ConfigError(f"{path} is larger than the maximum size of a configuration")
    loaded = parse_yaml(data, str(path))
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ConfigError(f"{path} must contain sections, not {type(loaded).__name__}")
    return loaded


def parse_yaml(text: str | bytes, origin: str) -> Any:
    """Return the value of a YAML text without aliases and deep nesting.

    Args:
        text: The YAML text.
        origin: The name to use in errors.

    Raises:
        ConfigError: If it is not valid, has aliases or is nested too deep.
    """
    depth = 0
    try:
        for event in yaml.parse(text, Loader=SAFE_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            # A few lines of aliases can expand to more than fits into memory.
            if isinstance(event, yaml.AliasEvent) or depth > MAX_DEPTH:
                raise ConfigError(f"{origin} uses YAML aliases or is nested too deeply")
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        detail = describe_yaml_error(error)
        raise ConfigError(f"{origin} is not valid YAML: {detail}") from error


def _deep_merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge `over` into `base`; options of another strategy are dropped."""
    other = (
        key
        for key, value in over.items()
        if str(key).endswith("strategy")
        and isinstance(value, str)
        and base.get(key, value) != value
    )
    stale = {key.replace("strategy", "options") for key in other}
    merged = {key: value for key, value in base.items() if key not in stale}
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            merged[key] = _deep_merge(below, value)
        else:
            merged[key] = value
    return merged


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for name, text in sorted(environ.items()):
        if not name.startswith(ENV_PREFIX) or name in RESERVED_ENV:
            continue
        section, separator, key = name[len(ENV_PREFIX) :].lower().partition("__")
        if not separator:
            raise ConfigError(
                f"the environment variable {name} names no key",
                f"write it as {ENV_PREFIX}SECTION__KEY, or use another name; "
                + suggest(name, RESERVED_ENV),
            )
        settings.setdefault(section, {})[key] = _value(section, key, text, name)
    return settings


def _value(section: str, key: str, text: str, name: str) -> Any:
    """Return a variable's text in the type of the key: as text, or parsed as YAML."""
    model = RagConfig.model_fields.get(section)
    fields = getattr(model.annotation, "model_fields", {}) if model else {}
    plain = key in fields and fields[key].annotation in (str, SecretStr, Path)
    return text if plain or not text else parse_yaml(text, name)


def _readable(error: ValidationError, layers: Sequence[Layer]) -> ConfigError:
    """Return the first error as one sentence with place, value and hint."""
    first = error.errors()[0]
    where = [str(part) for part in first["loc"]]
    origin = next(
        (o for o, layer in reversed(layers) if _says(layer, where)), "defaults"
    )
    if first["type"] != "extra_forbidden":
        shown = ".".join(where)
        value = "its value" if _is_secret(where) else repr(first["input"])
        reason = plain_reason(first["msg"])
        return ConfigError(f"{shown} = {value[:MAX_SHOWN]} in {origin}: {reason}")
    known = _fields(where[:-1])
    return ConfigError(
        f"unknown key {'.'.join(where)!r} in {origin}", suggest(where[-1], known)
    )


def plain_reason(message: str) -> str:
    """Return a validator's message in the terms of YAML."""
    reason = message.removeprefix("Value error, ")
    return reason.replace("valid tuple", "list").replace("valid dictionary", "mapping")


def _says(layer: Any, where: Sequence[str]) -> bool:
    """Return whether a layer contains the key, or a list that contains it."""
    for part in where:
        if not isinstance(layer, Mapping):
            return True
        if part not in layer:
            return False
        layer = layer[part]
    return True


def _is_secret(where: list[str]) -> bool:
    field = _fields(where[:-1]).get(where[-1])
    return field is not None and field.annotation is SecretStr


def _fields(where: list[str]) -> dict[str, FieldInfo]:
    """Return the keys of the section at `where`."""
    section: type[BaseModel] = RagConfig
    for part in where:
        annotation = section.model_fields[part].annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            section = annotation
    return section.model_fields
