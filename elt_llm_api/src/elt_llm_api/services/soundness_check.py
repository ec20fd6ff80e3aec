"""Whether the database is sound, as the health checks ask."""

from elt_llm_core.store import Store
from elt_llm_core.store.maintenance.health import require_sound


class SoundnessCheck:
    """Checks the database until it was once sound, because a check reads all of it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sound = False

    def run(self) -> None:
        """Raise UnusableDatabaseError if the database is damaged."""
        if not self._sound:
            require_sound(self._store.data_dir)
            self._sound = True
