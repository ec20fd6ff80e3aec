"""Jobs, collections and glossaries as HTML."""

from collections.abc import Mapping, Sequence

from elt_llm_api.jobs import Job, JobState
from elt_llm_api.markup import Safe, el, esc, join
from elt_llm_api.schemas import file_url
from elt_llm_core.store import CollectionCard, DocumentRow

STATES = {
    JobState.RUNNING: ("", "Working"),
    JobState.SUCCEEDED: ("good", "✓ Done"),
    JobState.PARTIAL: ("near", "≈ Done, with failures"),
    JobState.FAILED: ("bad", "✗ Failed"),
}
ROWS_SHOWN = 500


def job_progress(job: Job) -> str:
    """How far a job is, as a progress bar with words."""
    share = min(1.0, job.done / job.total) if job.total else None
    label = f"{job.stage} {job.done} of {job.total}" if job.total else job.stage
    bar = el(
        "div",
        el("span", style=f"width:{share:.0%}" if share is not None else None),
        class_="bar" if share is not None else "bar unknown",
        role="progressbar",
        aria_valuemin="0",
        aria_valuemax="100",
        aria_valuenow=f"{share * 100:.0f}" if share is not None else None,
        aria_label=label,
    )
    return esc(
        el("div", el("p", label), bar, el("p", job.detail, class_="dim"), class_="job")
    )


def job_result(job: Job) -> str:
    """How a job ended: counts, files, what went wrong."""
    tone, text = STATES[job.state]
    counts = sorted(job.report.counts.items()) if job.report else []
    chips = join(
        (el("span", f"{n} {name}", class_="chip") for name, n in counts if n), " "
    )
    files = sorted(job.report.files) if job.report else []
    links = join(
        (
            el("a", f"Download {path.name}", href=file_url(job, name), download=True)
            for name in files
            if (path := job.file(name))
        ),
        " ",
    )
    notes = job.report.degradations if job.report else ()
    return esc(
        el(
            "div",
            el("p", el("span", text, class_=f"badge {tone}"), " ", chips),
            _problem(job),
            el("ul", join(el("li", note.detail) for note in notes)) if notes else None,
            el("p", links, class_="links") if files else None,
            class_="job",
        )
    )


def error(body: Mapping[str, object]) -> str:
    """A problem body for people: what happened, then the cure."""
    return esc(
        el(
            "div",
            el("strong", str(body["detail"])),
            el("span", str(body["hint"])) if body.get("hint") else None,
            class_="banner bad",
            role="alert",
        )
    )


def waiting(text: str) -> str:
    """Something is being done."""
    return esc(el("p", text, class_="waiting"))


def lacking(reasons: Mapping[str, str]) -> str:
    """The profiles that leave a stage out here, folded, by what they lack."""
    if not reasons:
        return ""
    count = _count(len(reasons), "profile")
    items = (
        el("li", el("strong", ", ".join(n for n in reasons if reasons[n] == why)), why)
        for why in dict.fromkeys(reasons.values())
    )
    told = el("summary", f"{count} with a stage left out here"), el("ul", join(items))
    return esc(el("details", *told, class_="lacking"))


def empty() -> str:
    """There are no collections yet, and what to do about it."""
    return esc(
        el(
            "div",
            el("h2", "No documents yet"),
            el("p", "Add your own under “Add files”, or try it with the sample:"),
            el("p", el("code", "elt-llm demo")),
            class_="empty",
        )
    )


def collections(
    cards: Sequence[CollectionCard], documents: Mapping[str, Sequence[DocumentRow]]
) -> str:
    """Each collection with its documents folded under it."""
    if not cards:
        return empty()
    return esc(join(_collection(card, documents.get(card.name, ())) for card in cards))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a caption that tells how many rows there are."""
    shown = rows[:ROWS_SHOWN]
    more = f", the first {ROWS_SHOWN} shown" if len(rows) > ROWS_SHOWN else ""
    return esc(
        el(
            "div",
            el(
                "table",
                el("caption", f"{_count(len(rows), 'row')}{more}"),
                _head(header),
                el("tbody", join(_row(row) for row in shown)),
            ),
            class_="table-wrap",
            tabindex="0",
        )
    )


def _collection(card: CollectionCard, rows: Sequence[DocumentRow]) -> Safe:
    facts = (
        _count(card.documents, "document"),
        _count(card.chunks, "chunk"),
        f"embedder {card.embedder}, {card.dimension} dimensions",
        f"chunker {card.chunker.partition(' ')[0]}",
    )
    header = ("Document", "Pages", "Chunks", "Warnings")
    body = (
        (row.name, str(row.page_count or ""), str(row.nodes), "; ".join(row.warnings))
        for row in rows
    )
    return el(
        "article",
        el("h3", card.name),
        el("p", join((el("span", fact, class_="chip") for fact in facts), " ")),
        el("details", el("summary", "Documents"), Safe(table(header, list(body)))),
        class_="collection",
    )


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _problem(job: Job) -> Safe | None:
    return Safe(error(job.problem)) if job.problem else None


def _head(header: Sequence[str]) -> Safe:
    cells = join(el("th", title, scope="col") for title in header)
    return el("thead", el("tr", cells))


def _row(row: Sequence[str]) -> Safe:
    return el("tr", join(el("td", cell) for cell in row))
