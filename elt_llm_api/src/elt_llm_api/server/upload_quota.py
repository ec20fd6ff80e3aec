"""A quota for uploads to the page, and removal of leftovers."""

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
    """A request that sends files: its start, and the largest size it may have."""

    began: float
    most: int


class UploadQuota:
    """Limits the size of all files that wait on the page.

    Gradio writes a file while it arrives, and keeps it even if the request is then
    refused; here it is deleted once no request can be writing it.
    """

    def __init__(self, app: ASGIApp, path: str, folder: Path, api: ApiSection) -> None:
        self.app = app
        self.path = f"{path}/"
        self.folder = folder
        self.most = api.max_upload_mb * MEGABYTE
        self.quota = api.max_waiting_mb * MEGABYTE
        self.running: set[RunningUpload] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 413 if the quota is used up."""
        if not self._sends_files(scope):
            await self.app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        most = int(announced) if announced.isdecimal() else self.most
        if self._waiting() + most > self.quota:
            error = TooLargeError(
                "the quota for files that were sent and not added yet is used up",
                "add those files first, or reload the page",
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
        """Bytes of the files that were received, and of those that may still arrive."""
        received = (p for p in self.folder.rglob("*") if p.is_file())
        return sum(_size(p) for p in received) + sum(one.most for one in self.running)

    def _sweep(self) -> None:
        """Delete files that no request writes and that Gradio has not moved."""
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
    except FileNotFoundError:  # moved or deleted since it was listed
        return 0
