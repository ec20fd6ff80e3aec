"""Files on their way to the page: a bound on all of them, and no left-overs."""

import logging
from dataclasses import dataclass
from pathlib import Path
from time import time

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from elt_llm_api.problems import problem
from elt_llm_core.config.sections import ApiSection
from elt_llm_core.errors import TooLargeError

logger = logging.getLogger(__name__)

MEGABYTE = 1_000_000


@dataclass(eq=False)
class RunningUpload:
    """A request that sends files: when it began, and the most it may bring."""

    began: float
    most: int


class UploadQuota:
    """Watches the requests that send files to the page.

    Gradio writes a file as it arrives and keeps it where the request is refused on the
    way; here it is removed as soon as no request can be writing it.
    """

    def __init__(self, app: ASGIApp, path: str, folder: Path, api: ApiSection) -> None:
        self.app = app
        self.path = f"{path}/"
        self.folder = folder
        self.most = api.max_upload_mb * MEGABYTE
        self.quota = api.max_waiting_mb * MEGABYTE
        self.running: set[RunningUpload] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 413 where too much waits already."""
        if not self._sends_files(scope):
            await self.app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        most = int(announced) if announced.isdecimal() else self.most
        if self._waiting() + most > self.quota:
            error = TooLargeError(
                "the files that were sent and not added yet fill the room for them",
                "add or leave those first",
            )
            reply = problem(error, extra={"instance": scope["path"]})
            reply.headers["connection"] = "close"
            await reply(scope, receive, send)
            return
        upload = RunningUpload(time(), most)
        self.running.add(upload)
        try:
            await self.app(scope, receive, send)
        finally:
            self.running.discard(upload)
            self._sweep()

    def _sends_files(self, scope: Scope) -> bool:
        if scope["type"] != "http" or not scope["path"].startswith(self.path):
            return False
        kind = Headers(scope=scope).get("content-type", "")
        return kind.startswith("multipart/form-data")

    def _waiting(self) -> int:
        """Bytes of the files that were sent, and of those that are under way."""
        there = (p for p in self.folder.rglob("*") if p.is_file())
        return sum(_size(p) for p in there) + sum(one.most for one in self.running)

    def _sweep(self) -> None:
        """Remove files that no request has moved to their place or still writes."""
        oldest = min((one.began for one in self.running), default=float("inf"))
        for path in self.folder.glob("*"):
            try:
                if path.is_file() and path.stat().st_mtime < oldest:
                    path.unlink(missing_ok=True)
            except OSError as error:
                logger.warning("cannot remove %s: %s", path, error)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # moved or removed since it was listed
        return 0
