"""Jobs, collections, products and tables as HTML."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from elt_llm_api.jobs import Job, JobState
from elt_llm_api.markup import Child, Safe, el, esc, join
from elt_llm_api.products import ProductTable
from elt_llm_api.schemas import file_url
from elt_llm_core.profile_notes import ProfileNote
from elt_llm_core.store import CollectionCard, DocumentRow
from elt_llm_core.tables import Relation

STATES = {
    JobState.RUNNING: ("", "Working"),
    JobState.SUCCEEDED: ("good", "✓ Done"),
    JobState.PARTIAL: ("near", "≈ Done, with failures"),
    JobState.FAILED: ("bad", "✗ Failed"),
}
ROWS_SHOWN = 500
ROWS_WITHOUT_FILTER = 10  # as many as one sees at a glance


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
        (
            el("span", f"{n} {name.replace('_', ' ')}", class_="chip")
            for name, n in counts
            if n
        ),
        " ",
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


def profiles(
    notes: Sequence[ProfileNote], chosen: str, lacking: Mapping[str, str]
) -> str:
    """The chosen profile in words, then all of them, folded.

    Args:
        notes: What each profile does and needs.
        chosen: The name of the chosen one.
        lacking: Why a stage of a profile is left out here, by its name.
    """
    if len(notes) < 2:  # noqa: PLR2004 - there is nothing to choose
        return ""
    told = [(note, _profile(note, lacking.get(note.name, ""))) for note in notes]
    items = (el("li", el("strong", note.name), *lines) for note, lines in told)
    now = next((lines for note, lines in told if note.name == chosen), ())
    count = f"; {len(lacking)} with a stage left out here" if lacking else ""
    summary = el("summary", f"All {len(notes)} profiles{count}")
    return esc(
        el(
            "div",
            el("div", *now, class_="now", role="status"),
            el("details", summary, el("ul", join(items))),
            class_="profiles",
        )
    )


def _profile(note: ProfileNote, why: str) -> tuple[Safe | None, ...]:
    """What a profile does, needs and lacks, a line each."""
    left_out = el("p", f"A stage is left out here: {why}", class_="lack")
    return el("p", note.does), el("p", note.needs), left_out if why else None


def examples(questions: Sequence[str]) -> str:
    """Questions to begin with; a click asks one."""
    if not questions:
        return ""
    buttons = (
        el("li", el("button", one, type="button", data_question=one))
        for one in questions
    )
    heading = el("h2", "Questions to begin with")
    return esc(el("section", heading, el("ul", join(buttons)), class_="examples"))


def lost(names: Sequence[str]) -> str:
    """The address of the page names what is not here."""
    text = f"This address names what is not here any more: {', '.join(names)}"
    return esc(el("div", el("span", text), class_="banner warn", role="status"))


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


def product(shown: Sequence[ProductTable]) -> str:
    """The tables of a product, each under its title."""
    return esc(
        join(
            join([el("h3", one.title), Safe(table(one.header, one.rows))])
            for one in shown
        )
    )


def relation_label(relation: Relation) -> str:
    """What a table is called in a list: its title, document and page."""
    page = f", p. {relation.page}" if relation.page else ""
    title = relation.title or relation.section or "Table"
    return f"{title} ({relation.document}{page})"


def relation(shown: Relation) -> str:
    """A table of a document with the page of each row, and why it is not clean."""
    paged = any(row.page for row in shown.rows)
    header = [
        f"{one.header} ({one.unit})" if one.unit else one.header
        for one in shown.columns
    ]
    rows = [
        [
            *(field.text if field else "" for field in row.fields),
            *([str(row.page or "")] if paged else []),
        ]
        for row in shown.rows
    ]
    problems = el(
        "div",
        el("strong", "Not asked for answers, since it is not clean"),
        el("span", "; ".join(shown.problems)),
        class_="banner warn",
    )
    return esc(
        join(
            [
                el("h3", relation_label(shown)),
                problems if shown.problems else None,
                Safe(table([*header, *(["Page"] if paged else [])], rows)),
            ]
        )
    )


def note(text: str) -> str:
    """A sentence that is neither good nor bad."""
    return esc(el("p", text, class_="dim"))


def table(header: Sequence[str], rows: Sequence[Sequence[Child]]) -> str:
    """A table with a caption that tells how many rows there are."""
    shown = rows[:ROWS_SHOWN]
    more = f", the first {ROWS_SHOWN} shown" if len(rows) > ROWS_SHOWN else ""
    filtered = el(
        "input",
        type="search",
        class_="filter",
        placeholder="Filter rows",
        aria_label="Filter rows",
    )
    return esc(
        el(
            "div",
            filtered if len(shown) > ROWS_WITHOUT_FILTER else None,
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
    header = ("Document", "Pages", "Chunks", "Warnings", "Change")
    body = [_document(card, row) for row in rows]
    name = el("span", card.name, class_="id") if card.title else None
    return el(
        "article",
        el("h3", card.label, " ", name),
        el("p", join((el("span", fact, class_="chip") for fact in facts), " ")),
        el("p", _collection_actions(card), class_="actions"),
        el("details", el("summary", "Documents"), Safe(table(header, body))),
        class_="collection",
    )


def _document(card: CollectionCard, row: DocumentRow) -> Sequence[Child]:
    title = el("div", row.title, class_="title") if row.title else None
    part = f", {row.part}" if row.part else ""
    return (
        join([title, el("div", f"{row.name}{part}")]),
        str(row.page_count or ""),
        str(row.nodes),
        "; ".join(row.warnings),
        _document_actions(card, row),
    )


def _collection_actions(card: CollectionCard) -> Safe:
    path = f"/v1/collections/{quote(card.name, safe='')}"
    size = f"{_count(card.documents, 'document')} and {_count(card.chunks, 'chunk')}"
    return _actions(
        path,
        card.label,
        f"What the collection “{card.label}” is called. Its id stays {card.name}.",
        f"The collection “{card.label}” goes, with {size}, its index and the files "
        "that were kept with it. This cannot be undone.",
    )


def _document_actions(card: CollectionCard, row: DocumentRow) -> Safe:
    pages = f"{_count(row.page_count, 'page')}, " if row.page_count else ""
    return _actions(
        f"/v1/documents/{quote(row.document_id, safe='')}",
        row.title or row.name,
        f"The title of {row.name} in “{card.label}”, until the file changes.",
        f"{row.name} ({pages}{_count(row.nodes, 'chunk')}) goes from the collection "
        f"“{card.label}”, and the file that was kept of it. This cannot be undone.",
    )


def _actions(path: str, label: str, renaming: str, removal: str) -> Safe:
    """Buttons that the page's script makes requests of, after asking."""
    rename = el(
        "button",
        "Rename",
        type="button",
        data_method="PATCH",
        data_path=path,
        data_value=label,
        data_told=renaming,
        aria_label=f"Rename {label}",
    )
    remove = el(
        "button",
        "Remove",
        type="button",
        data_method="DELETE",
        data_path=path,
        data_told=removal,
        aria_label=f"Remove {label}",
    )
    return join([rename, remove], " ")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _problem(job: Job) -> Safe | None:
    return Safe(error(job.problem)) if job.problem else None


def _head(header: Sequence[str]) -> Safe:
    cells = join(el("th", title, scope="col") for title in header)
    return el("thead", el("tr", cells))


def _row(row: Sequence[Child]) -> Safe:
    return el("tr", join(el("td", cell) for cell in row))
