"""A private view of a built Chroma folder, gone when nobody looks any more."""

import shutil
from pathlib import Path

from elt_llm_core.files.scratch import Scratch

DATABASE = "chroma.sqlite3"


class View(Scratch):
    """A temporary folder: a copy of the (small) database, links to the graph files.

    Chroma writes to its database when it is merely opened, and two processes on one
    folder damage it. The graph files are never touched by reading.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__("view")
        for entry in sorted(folder.iterdir()):
            if entry.name == DATABASE:
                shutil.copyfile(entry, self.path / DATABASE)
            else:
                (self.path / entry.name).symlink_to(entry.absolute())
