"""Public names of a package, imported at first use (PEP 562).

`elt-llm --help` takes only a fifth of a second because the packages can be imported
without LlamaIndex, which takes two seconds.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]]
) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    Args:
        package: The package's `__name__`.
        modules: Module below the package to the public names it defines; a module of
            another package of ours by its whole name.
    """
    module_of = {name: module for module, names in modules.items() for name in names}

    def load_name(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = module_of[name]
        path = module if module.startswith("elt_llm_") else f"{package}.{module}"
        return getattr(import_module(path), name)

    return load_name
