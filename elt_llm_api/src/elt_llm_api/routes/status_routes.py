"""Health checks, and the state of the server for people."""

import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, cast

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Request
from fastapi.responses import PlainTextResponse

from elt_llm_api.problems import redact_config_error
from elt_llm_api.routes.dependencies import (
    Check,
    Config,
    Data,
    Jobs,
    Profiles,
    problems,
)
from elt_llm_api.schemas import CollectionOut, Health, JobOut, StatusOut
from elt_llm_api.services.stored_documents import open_collections
from elt_llm_core.models.gateway.spending import TOTALS
from elt_llm_core.results import ModelCost

router = APIRouter(tags=["health"])

METRICS_TYPE = "text/plain; version=0.0.4"


async def _limiter(request: Request) -> CapacityLimiter:
    return cast("CapacityLimiter", request.app.state.health)


# Separate threads, so that health checks never wait for questions.
Own = Annotated[CapacityLimiter, Depends(_limiter)]


@router.get("/livez", operation_id="livez")
async def livez() -> Health:
    """Answers while the process is alive; checks nothing."""
    return Health(status="ok")


@router.get("/readyz", operation_id="readyz", responses=problems(500))
async def readyz(check: Check, store: Data, limiter: Own) -> Health:
    """Answers while the data is readable and was found sound."""

    def look() -> Health:
        check.run()
        return Health(status="ok", collections=len(store.collections()))

    return await to_thread.run_sync(look, limiter=limiter)


@router.get("/healthz", operation_id="healthz", responses=problems(500))
async def healthz(check: Check, store: Data, limiter: Own) -> Health:
    """The same as /readyz."""
    return await readyz(check, store, limiter)


@router.get("/v1/status", operation_id="status")
def status(config: Config, store: Data, profiles: Profiles, jobs: Jobs) -> StatusOut:
    """Versions, models, free disk, collections and the last job."""
    models = profiles.models()
    latest = jobs.all()[:1]
    missing = profiles.incomplete()
    return StatusOut(
        version=version("elt-llm-api"),
        profiles=profiles.names(),
        incomplete={name: redact_config_error(missing[name]) for name in missing},
        embedder=models.embedder.model_name,
        llm=models.llm.metadata.model_name if models.llm else None,
        disk_free_mb=_free_mb(config.stores.data_dir),
        collections=[CollectionOut.of(c) for c in open_collections(store)],
        last_job=JobOut.of(latest[0]) if latest else None,
    )


@router.get("/metrics", operation_id="metrics", response_class=PlainTextResponse)
async def metrics() -> PlainTextResponse:
    """Model calls, tokens and seconds, in the format of Prometheus."""
    return PlainTextResponse(model_metrics(TOTALS.rows()), media_type=METRICS_TYPE)


def model_metrics(rows: list[tuple[str, str, ModelCost]]) -> str:
    """Return counters of this process in Prometheus' text format.

    Args:
        rows: Model, outcome (`ok`, `left` or the code of an error), usage.
    """
    series = {
        "elt_model_calls_total": [(r, "", r[2].calls) for r in rows],
        "elt_model_tokens_total": [
            (r, f',kind="{kind}"', getattr(r[2], kind))
            for r in rows
            for kind in ("read", "written")
        ],
        "elt_model_seconds_total": [(r, "", r[2].seconds) for r in rows],
        "elt_model_answers_cut_total": [(r, "", r[2].cut) for r in rows],
    }
    lines = []
    for name, values in series.items():
        lines.append(f"# TYPE {name} counter")
        for (model, outcome, _), more, value in values:
            quoted = model.replace("\\", r"\\").replace('"', r"\"")
            labels = f'model="{quoted}",outcome="{outcome}"{more}'
            lines.append(f"{name}{{{labels}}} {value:g}")
    return "\n".join(lines) + "\n"


def _free_mb(folder: Path) -> int:
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    return shutil.disk_usage(there).free // 1_000_000
