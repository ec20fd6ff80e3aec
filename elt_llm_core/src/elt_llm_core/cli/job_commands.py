"""`elt-llm jobs`: list, watch, cancel and retry jobs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from elt_llm_core.cli.common import CommandContext, common_options
from elt_llm_core.cli.failures import PARTIAL
from elt_llm_core.cli.terminal import escape_line, text_table

if TYPE_CHECKING:
    from elt_llm_core.job_records import JobRecord
    from elt_llm_core.jobs import JobReport

STATES = (
    *("queued", "running", "succeeded", "partial"),
    *("failed", "cancelled", "interrupted"),
)


@click.group()
def jobs() -> None:
    """List, watch and cancel jobs, and retry those that failed or were interrupted.

    A job is a run of a product, a report or topics, on the command line or over HTTP,
    and an ingest over HTTP. Finished items are kept: a retry processes the rest.
    """


@jobs.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only jobs in this state.")
@common_options
def list_jobs(ctx: CommandContext, state: str | None) -> None:
    """List the jobs, the newest first."""
    ctx.require_named_data()
    records = [r for r in ctx.store.jobs.all() if state in (None, r.state.value)]

    def human() -> str:
        if not records:
            return "There are no jobs."
        head = ("id", "job", "state", "progress", "begun", "about")
        return text_table(head, [_row(record) for record in records])

    ctx.emit({"jobs": [_brief(record) for record in records]}, human)


@jobs.command()
@click.argument("job_id")
@common_options
def show(ctx: CommandContext, job_id: str) -> None:
    """Show one job: its progress with the time left, its outcome and what failed."""
    record = ctx.store.jobs.get(job_id)
    ctx.emit(record, lambda: ctx.hint(_text(record)))


@jobs.command()
@click.argument("job_id")
@common_options
def cancel(ctx: CommandContext, job_id: str) -> None:
    """Ask a running job to stop; a model call in progress ends at once."""
    record = ctx.store.jobs.get(job_id)
    if record.state.has_ended:
        ctx.emit(_brief(record), f"{job_id} is {record.state.value} already.")
        return
    ctx.emit(
        _brief(ctx.store.jobs.ask_to_stop(job_id)),
        f"{job_id} will stop within a second. "
        + ctx.hint(f"Check: elt-llm jobs show {job_id}"),
    )


@jobs.command()
@click.argument("job_id", required=False)
@click.option(
    "--failed", is_flag=True, help="Retry every job that failed or was interrupted."
)
@common_options
def retry(ctx: CommandContext, job_id: str | None, failed: bool) -> None:
    """Run a job again: failed and missing items are processed, finished ones reused.

    With --failed a job that cannot run again is told, and the next one is run.

    Exit codes: 0 done, 2 items or jobs failed again, 64 no job is given, 65 no such
    job; with a job: that of its error.
    """
    if bool(job_id) == failed:
        raise click.UsageError("name a job, or pass --failed")
    reports: list[JobReport] = []
    problems: list[dict[str, str]] = []
    if job_id:
        reports.append(run_job_command(ctx, ctx.store.jobs.get(job_id).again()))
    else:
        _retry_all(ctx, reports, problems)

    def human() -> str:
        lines = [
            f"{p['job']} {escape_line(p['label'])}: {p['code']}: "
            + escape_line(p["detail"])
            for p in problems
        ]
        return (
            "\n".join([*map(report_text, reports), *lines]) or "No job needs a retry."
        )

    listed = [report.model_dump(mode="json") for report in reports]
    ctx.emit({"reports": listed, "problems": problems}, human)
    codes = [report.exit_code for report in reports]
    ctx.exit(max([*codes, PARTIAL if problems else 0], default=0))


def _retry_all(
    ctx: CommandContext, reports: list["JobReport"], problems: list[dict[str, str]]
) -> None:
    """Run every unfinished job again; an error of one does not keep the others.

    A job whose options are wrong, such as one about a domain that is gone, fails each
    time.
    """
    from elt_llm_core.errors import AbandonedError, EltLlmError

    for record in _find_unfinished(ctx):
        try:
            reports.append(run_job_command(ctx, record.again()))
            if reports[-1].stopped:  # by Ctrl-C
                return
        except AbandonedError:
            raise
        except EltLlmError as error:
            problems.append(
                {
                    "job_id": record.job_id,
                    "job": record.kind,
                    "label": record.label,
                    "code": error.code,
                    "detail": error.message,
                }
            )


def report_text(report: "JobReport") -> str:
    """Format the counts of a job, its files and its problems."""
    counts = ", ".join(f"{value} {name}" for name, value in report.counts.items())
    lines = [f"{report.job}: {counts}"]
    lines += [f"  {name:<20} {path}" for name, path in sorted(report.files.items())]
    lines += [f"  {d.kind.value}: {escape_line(d.detail)}" for d in report.degradations]
    return "\n".join(lines)


def run_job_command(ctx: CommandContext, record: "JobRecord") -> "JobReport":
    """Run a job of the command line: stored in the database, ended by Ctrl-C."""
    from dataclasses import replace

    from elt_llm_core.cli.interrupt import stop_on_signals
    from elt_llm_core.job_runs import run_recorded_job
    from elt_llm_core.jobs import JOBS
    from elt_llm_core.models.factory import LateModels

    strategy = JOBS.load(record.kind, record.options, ctx.config.allowed_plugins())
    with stop_on_signals() as stop:
        context = replace(ctx.job_context, stopped=stop)
        return run_recorded_job(context, record, strategy.build(LateModels(ctx.config)))


def _find_unfinished(ctx: CommandContext) -> list["JobRecord"]:
    """Return the newest resumable run of each job, the oldest first."""
    newest: dict[str, JobRecord] = {}
    for record in ctx.store.jobs.all():
        newest.setdefault(record.work_key, record)
    return [record for record in reversed(newest.values()) if record.state.resumable]


def _brief(record: "JobRecord") -> dict[str, Any]:
    fields = {"job_id", "kind", "state", "label", "progress", "created", "changed"}
    return record.model_dump(mode="json", include=fields)


def _row(record: "JobRecord") -> tuple[str, ...]:
    return (
        record.job_id,
        record.kind,
        record.state.value,
        " ".join(_progress(record)),
        record.created,
        escape_line(record.label),
    )


def _progress(record: "JobRecord") -> Iterable[str]:
    from elt_llm_core.jobs import format_duration

    progress = record.progress
    of = "" if progress.total is None else f" of {progress.total}"
    yield f"{progress.stage} {progress.done}{of}"
    if not record.state.has_ended and progress.seconds_left is not None:
        yield f"(about {format_duration(progress.seconds_left)} left)"


def _text(record: "JobRecord") -> str:
    lines = [
        f"{record.job_id}  {record.kind}  {record.state.value}",
        f"  about     {escape_line(record.label)}",
        f"  begun     {record.created}, changed {record.changed}",
        f"  progress  {' '.join(_progress(record))}",
    ]
    if record.report is not None:
        lines += ["", report_text(record.report)]
        failed = [item for item in record.report.items if item.outcome == "failed"]
        lines += [
            f"  failed: {escape_line(i.name)}: {escape_line(i.detail)}" for i in failed
        ]
    if record.problem:
        lines += [
            "",
            f"  {record.problem['code']}: {escape_line(record.problem['detail'])}",
        ]
    if record.state.resumable:
        lines += ["", f"Resume: elt-llm jobs retry {record.job_id}"]
    return "\n".join(lines)
