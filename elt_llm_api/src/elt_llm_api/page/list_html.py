"""Jobs, collections, profiles, products and tables as HTML."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from elt_llm_api.job_registry import Job
from elt_llm_api.page.rendering import render
from elt_llm_api.products import ProductTable
from elt_llm_api.schemas import file_url
from elt_llm_core.cli.terminal import count_of
from elt_llm_core.job_records import JobState
from elt_llm_core.profile_notes import ProfileNote
from elt_llm_core.store import CollectionCard, DocumentRow
from elt_llm_core.tables import Relation

STATES = {
    JobState.RUNNING: ("", "Working"),
    JobState.SUCCEEDED: ("good", "✓ Done"),
    JobState.PARTIAL: ("near", "≈ Done, with failures"),
    JobState.FAILED: ("bad", "✗ Failed"),
    JobState.QUEUED: ("", "Waiting"),
    JobState.CANCELLED: ("near", "■ Cancelled"),
    JobState.INTERRUPTED: ("near", "■ Interrupted"),
}
DOCUMENT_COLUMNS = ("Document", "Pages", "Chunks", "Warnings", "Change")
# Chosen by eye: more rows make the page slow to scroll.
ROWS_SHOWN = 500
ROWS_WITHOUT_FILTER = 10  # as many as can be seen at a glance


def render_job_progress(job: Job) -> str:
    """Render a progress bar with the stage, the steps done and a detail."""
    return render(
        "job_progress",
        label=f"{job.stage} {job.done} of {job.total}" if job.total else job.stage,
        share=min(1.0, job.done / job.total) if job.total else None,
        detail=job.detail,
    )


def render_job_result(job: Job) -> str:
    """Render the outcome of a job: counts, problems, links to its files."""
    tone, text = STATES[job.state]
    counts = sorted(job.report.counts.items()) if job.report else []
    names = sorted(job.report.files) if job.report else []
    files = [(path.name, file_url(job, n)) for n in names if (path := job.file(n))]
    return render(
        "job_result",
        tone=tone,
        text=text,
        counts=[(name.replace("_", " "), number) for name, number in counts if number],
        problem=job.problem,
        notes=job.report.degradations if job.report else (),
        files=files,
    )


def render_error(problem: Mapping[str, object]) -> str:
    """Render the body of a problem document: the error, then the hint."""
    return render("error", problem=problem)


def render_waiting(text: str) -> str:
    """Render a line about the current step."""
    return render("waiting", text=text)


def render_missing(names: Sequence[str]) -> str:
    """Render a note that the page's address names collections that do not exist."""
    return render("missing", names=names)


def render_empty() -> str:
    """Render instructions while there are no collections."""
    return render("empty")


def render_examples(questions: Sequence[str]) -> str:
    """Render questions to begin with as buttons; empty if there are none."""
    return render("examples", questions=questions) if questions else ""


def render_profiles(
    notes: Sequence[ProfileNote], chosen: str, lacking: Mapping[str, str]
) -> str:
    """Render the chosen profile's description, then all of them, collapsed.

    Args:
        notes: What each profile does and needs.
        chosen: The name of the chosen one.
        lacking: The reasons for skipped stages, by profile name.

    Returns:
        HTML; empty if there is only one profile.
    """
    if len(notes) <= 1:
        return ""
    now = next((note for note in notes if note.name == chosen), None)
    return render("profiles", notes=notes, now=now, lacking=lacking)


def render_collections(
    cards: Sequence[CollectionCard], documents: Mapping[str, Sequence[DocumentRow]]
) -> str:
    """Render each collection with its documents collapsed below it.

    Args:
        cards: The collections.
        documents: The documents of each collection, by its id.
    """
    if not cards:
        return render_empty()
    collections = [
        {
            "card": card,
            "chunker": card.chunker.partition(" ")[0],
            "actions": _collection_actions(card),
            "table": _table_values("", DOCUMENT_COLUMNS, rows),
            "documents": [
                (row, _document_actions(card, row)) for row in rows[:ROWS_SHOWN]
            ],
        }
        for card in cards
        for rows in (documents.get(card.name, ()),)
    ]
    return render("collections", collections=collections)


def render_product(tables: Sequence[ProductTable]) -> str:
    """Render the tables of a product, each under its title."""
    return render(
        "tables",
        tables=[_table_values(one.title, one.header, one.rows) for one in tables],
    )


def relation_label(relation: Relation) -> str:
    """The title, document and page of a table in a document."""
    page = f", p. {relation.page}" if relation.page else ""
    title = relation.title or relation.section or "Table"
    return f"{title} ({relation.document}{page})"


def render_relation(relation: Relation, words: str = "") -> str:
    """Render a table of a document with the page of each row, and its problems.

    Args:
        relation: The table.
        words: Only rows that contain all these words are shown, whatever their case.
    """
    has_pages = any(row.page for row in relation.rows)
    header = [
        f"{one.header} ({one.unit})" if one.unit else one.header
        for one in relation.columns
    ]
    rows = [
        [
            *(field.text if field else "" for field in row.fields),
            *([str(row.page or "")] if has_pages else []),
        ]
        for row in relation.rows
    ]
    titles = [*header, *(["Page"] if has_pages else [])]
    matches = _filter_rows(rows, words)
    caption = count_of(len(rows), "row")
    if len(matches) < len(rows):
        caption = f"{len(matches)} of {caption}"
    if len(matches) > ROWS_SHOWN:
        caption += f", the first {ROWS_SHOWN} shown; filter to see others"
    table = {
        "title": relation_label(relation),
        "header": titles,
        "rows": matches[:ROWS_SHOWN],
        "caption": caption,
        "filter": "",  # the tab also has one for the rows that are not shown
        "problems": relation.problems,
    }
    return render("tables", tables=[table])


def _filter_rows(rows: Sequence[Sequence[str]], words: str) -> list[Sequence[str]]:
    """Return the rows that contain every word, in their order."""
    wanted = words.casefold().split()
    return [
        row for row in rows if all(word in "\n".join(row).casefold() for word in wanted)
    ]


def render_note(text: str) -> str:
    """Render a neutral sentence."""
    return render("note", text=text)


class _Actions(NamedTuple):
    """The buttons "Rename" and "Remove", and their confirmations."""

    path: str
    label: str
    rename_effect: str
    remove_effect: str


def _collection_actions(card: CollectionCard) -> _Actions:
    size = (
        f"{count_of(card.documents, 'document')} and {count_of(card.chunks, 'chunk')}"
    )
    return _Actions(
        f"/v1/collections/{quote(card.name, safe='')}",
        card.label,
        f"What the collection “{card.label}” is called. Its id stays {card.name}.",
        f"The collection “{card.label}” is removed, with {size}, its index and the "
        "files that were kept with it. This cannot be undone.",
    )


def _document_actions(card: CollectionCard, row: DocumentRow) -> _Actions:
    pages = f"{count_of(row.page_count, 'page')}, " if row.page_count else ""
    return _Actions(
        f"/v1/documents/{quote(row.document_id, safe='')}",
        row.title or row.name,
        f"The title of {row.name} in “{card.label}”, until the file changes.",
        f"{row.name} ({pages}{count_of(row.nodes, 'chunk')}) is removed from the "
        f"collection “{card.label}”, with the file that was kept of it. This cannot be "
        "undone.",
    )


def _table_values(
    title: str, header: Sequence[str], rows: Sequence[object]
) -> dict[str, object]:
    """Return the values for the macro `frame`: the first rows and a caption."""
    is_cut = len(rows) > ROWS_SHOWN
    more = f", the first {ROWS_SHOWN} shown" if is_cut else ""
    label = "Filter the rows shown" if is_cut else "Filter rows"
    return {
        "title": title,
        "header": header,
        "rows": rows[:ROWS_SHOWN],
        "caption": f"{count_of(len(rows), 'row')}{more}",
        "filter": label if len(rows) > ROWS_WITHOUT_FILTER else "",
        "problems": (),
    }
