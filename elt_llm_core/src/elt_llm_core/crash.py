"""Named places where a test can end the process, as a power cut would.

`ELT_CRASH_AT=document.half` kills the process the first time it gets there,
`ELT_CRASH_AT=document.half:3` the third time. Without the variable nothing happens.
Every step that changes a data root has a point of its own: the crash tests go through
all of them, so a step without one cannot hide.
"""

import os
import signal
from collections import Counter
from enum import StrEnum

VARIABLE = "ELT_CRASH_AT"


class CrashPoint(StrEnum):
    """Where a run can be cut off, in the order a run gets there."""

    SCANNED = "ingest.scanned"
    PARSED = "ingest.parsed"
    CHUNKED = "ingest.chunked"
    EMBED_BATCH = "embed.batch"
    EMBEDDED = "embed.done"
    DOCUMENT_BEGUN = "document.begun"
    DOCUMENT_HALF = "document.half"
    DOCUMENT_WRITTEN = "document.written"
    DOCUMENT_STORED = "document.stored"
    DOCUMENT_REMOVED = "document.removed"
    BUILD_BEGUN = "build.begun"
    BUILD_DENSE = "build.dense"
    BUILD_KEYWORDS = "build.keywords"
    BUILT = "build.done"
    VERIFIED = "verify.done"
    SEALED = "publish.sealed"
    RENAMED = "publish.renamed"
    PUBLISHED = "publish.manifest"
    COLLECTING = "publish.collecting"


_passed: Counter[str] = Counter()


def crash_point(point: CrashPoint) -> None:
    """Kill this process (SIGKILL) where `ELT_CRASH_AT` says so; else nothing."""
    wanted = os.environ.get(VARIABLE)
    if wanted is None:
        return
    name, _, count = wanted.partition(":")
    if name == point:
        _passed[point] += 1
        if _passed[point] >= int(count or 1):
            os.kill(os.getpid(), signal.SIGKILL)
