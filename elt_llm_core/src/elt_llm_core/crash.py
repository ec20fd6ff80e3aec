"""Named points at which a test can kill the process, as a power cut would.

`ELT_CRASH_AT=document.half` kills the process the first time it reaches the point,
`ELT_CRASH_AT=document.half:3` the third time. `ELT_CRASH_LOG=file` appends a line with
process and point for each that is passed. Without the variables nothing happens. Every
step that changes a data root has its own point, and the crash tests cover all of them,
so no step can be missed.
"""

import os
import signal
from collections import Counter
from enum import StrEnum

VARIABLE = "ELT_CRASH_AT"
LOG = "ELT_CRASH_LOG"


class CrashPoint(StrEnum):
    """A point at which a run can be killed, in the order a run reaches them."""

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
    COLLECTION_DROPPED = "collection.dropped"
    BUILD_BEGUN = "build.begun"
    BUILD_DENSE = "build.dense"
    BUILD_KEYWORDS = "build.keywords"
    BUILT = "build.done"
    VERIFIED = "verify.done"
    SEALED = "publish.sealed"
    RENAMED = "publish.renamed"
    PUBLISHED = "publish.manifest"
    COLLECTING = "publish.collecting"
    BACKUP_WRITTEN = "backup.written"
    BACKED_UP = "backup.done"
    BACKUP_PRUNED = "backup.pruned"
    MIGRATION_BACKED_UP = "migration.backed_up"
    MIGRATION_HALF = "migration.half"
    MIGRATED = "migration.done"
    RESTORE_READY = "restore.ready"
    RESTORE_ASIDE = "restore.aside"
    RESTORE_BARE = "restore.bare"
    RESTORED = "restore.done"
    PURGE_FORGOTTEN = "purge.forgotten"
    PURGE_REBUILT = "purge.rebuilt"
    PURGE_VACUUMED = "purge.vacuumed"
    PURGED = "purge.done"
    TURN_BEGUN = "turn.begun"
    TURN_HALF = "turn.half"
    TURN_STORED = "turn.stored"
    CONVERSATION_DELETED = "turn.conversation_deleted"
    FILES_PLANNED = "files.planned"
    FILE_ASIDE = "files.aside"
    FILES_ASIDE = "files.all_aside"
    FILE_REPLACED = "files.replaced"
    FILES_PUBLISHED = "files.done"
    REVIEWS_HALF = "reviews.half"
    REVIEWS_WRITTEN = "reviews.done"
    JOB_BEGUN = "job.begun"
    JOB_DONE = "job.done"
    ITEM_DONE = "job.item"
    VERSION_WRITTEN = "version.written"


_passed: Counter[str] = Counter()


def crash_point(point: CrashPoint) -> None:
    """Kill this process (SIGKILL) if `ELT_CRASH_AT` names this point."""
    if log := os.environ.get(LOG):
        _note(log, point)
    name, _, count = os.environ.get(VARIABLE, "").partition(":")
    if name == point:
        _passed[point] += 1
        if _passed[point] >= int(count or 1):
            os.kill(os.getpid(), signal.SIGKILL)


def _note(log: str, point: CrashPoint) -> None:
    """Append one short line, which is atomic also among several processes."""
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, f"{os.getpid()} {point}\n".encode())
    finally:
        os.close(handle)
