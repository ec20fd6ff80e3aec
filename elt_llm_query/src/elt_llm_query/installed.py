"""A stage that looks at the installed packages once, not at every question."""

from functools import cached_property
from importlib.metadata import EntryPoint

from typing_extensions import override

from elt_llm_core.strategy import Stage, T


class InstalledStage(Stage[T]):
    """A stage whose strategies are read from the installed packages once.

    Reading them takes milliseconds, and a question loads three strategies.
    """

    @override
    def known(self) -> dict[str, EntryPoint]:
        return dict(self._known)

    @cached_property
    def _known(self) -> dict[str, EntryPoint]:
        return super().known()
