"""A private view of a built Chroma folder, removed when it is no longer used."""

import shutil
from pathlib import Path

from elt_llm_core.files.scratch import Scratch

DATABASE = "chroma.sqlite3"


class View(Scratch):
    """A temporary folder: a copy of the (small) database, links to the graph files.

    Chroma writes to its database even when it is only opened, and two processes on one
    folder damage it. Reading never changes the graph files.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__("view")
        for entry in sorted(folder.iterdir()):
            if entry.name == DATABASE:
                shutil.copyfile(entry, self.path / DATABASE)
            else:
                (self.path / entry.name).symlink_to(entry.absolute())
