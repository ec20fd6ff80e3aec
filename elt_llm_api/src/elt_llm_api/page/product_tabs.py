"""The tabs for building products and for viewing tables."""

from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr

from elt_llm_api.job_registry import Job, JobRegistry
from elt_llm_api.page import list_html
from elt_llm_api.page.ask_tab import EVENT, Components
from elt_llm_api.problems import describe
from elt_llm_api.products import PRODUCTS, read_product
from elt_llm_api.services.job_runner import JobRunner
from elt_llm_api.services.stored_documents import find_table, list_tables
from elt_llm_core.errors import EltLlmError
from elt_llm_core.store import Store

POLL_SECONDS = 0.25  # often enough for progress to look continuous


def watch_job(job: Job) -> Iterator[str]:
    """Yield the progress of a job until it ends, then its outcome."""
    yield list_html.render_job_progress(job)
    while not job.finished.wait(POLL_SECONDS):
        yield list_html.render_job_progress(job)
    yield list_html.render_job_result(job)


class ProductsTab:
    """Builds a glossary, a catalogue or a coverage report, and shows it."""

    def __init__(self, runner: JobRunner, jobs: JobRegistry) -> None:
        self._runner = runner
        self._jobs = jobs

    def build(self) -> Components:
        """Lay the tab out.

        Returns:
            The choices of documents and of models, which follow the collections.
        """
        with gr.Column(elem_classes="sheet wide"):
            kind = gr.Radio(
                [(label, name) for name, label in PRODUCTS.items()],
                value="glossary",
                label="Product",
                info="A glossary of defined terms; a catalogue of the model's entities "
                "with what the documents say; how well the documents cover the model",
                elem_id="product-kind",
            )
            chosen = gr.CheckboxGroup([], label="Documents", info="Collections to read")
            model = gr.CheckboxGroup(
                [],
                label="Model",
                info="Collections that hold the entity model; optional for a glossary",
                elem_id="product-model",
            )
            button = gr.Button("Build", variant="primary", elem_id="build")
            state = gr.HTML(js_on_load=None, elem_id="product-state")
            rows = gr.HTML(js_on_load=None, elem_id="product")
        button.click(self._build, [kind, chosen, model], [state, rows], **EVENT)
        return [chosen, model]

    def _build(
        self, kind: str, chosen: Sequence[str], model: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        try:
            work = self._runner.product(kind, chosen, model)
            job = self._jobs.submit(kind, work)
        except EltLlmError as error:
            yield list_html.render_error(describe(error)), ""
            return
        for state in watch_job(job):
            yield state, ""
        yield (
            list_html.render_job_result(job),
            list_html.render_product(read_product(job)),
        )


class TablesTab:
    """The tables of a collection, one shown at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def build(self) -> gr.Dropdown:
        """Lay the tab out. Returns the choice of the collection."""
        with gr.Column(elem_classes="sheet wide"):
            collection = gr.Dropdown([], label="Collection", elem_id="tables-of")
            chosen = gr.Dropdown(
                [],
                label="Table",
                info="In the order of the documents; type to search",
                elem_id="table-choice",
            )
            words = gr.Textbox(
                label="Filter rows",
                info="Shows the rows of the whole table that contain all these words",
                max_length=200,
                visible=False,
                elem_id="table-filter",
            )
            shown = gr.HTML(js_on_load=None, elem_id="table-shown")
        collection.change(self._list, collection, [chosen, shown], **EVENT)
        chosen.change(self._open, [collection, chosen], [words, shown], **EVENT)
        # Gradio does not fire `input` for the first key or for pasted text.
        words.change(
            self._filter,
            [collection, chosen, words],
            shown,
            trigger_mode="always_last",
            **EVENT,
        )
        return collection

    def _list(self, collection: str | None) -> tuple[Any, str]:
        """Return the tables of the collection as choices; none is shown yet."""
        if not collection:
            return gr.update(choices=[], value=None), ""
        try:
            relations = list_tables(self._store, collection)
        except EltLlmError as error:
            return gr.update(choices=[], value=None), list_html.render_error(
                describe(error)
            )
        choices = [(list_html.relation_label(one), one.id) for one in relations]
        message = (
            "" if choices else list_html.render_note("This collection has no tables.")
        )
        return gr.update(choices=choices, value=None), message

    def _open(self, collection: str | None, table: str | None) -> tuple[Any, Any]:
        """Show a table with an empty filter, which is offered for many rows."""
        hidden = gr.update(value="", visible=False)
        if not (collection and table):
            return hidden, gr.skip()
        try:
            relation = find_table(self._store, collection, table)
        except EltLlmError as error:
            return hidden, list_html.render_error(describe(error))
        is_long = len(relation.rows) > list_html.ROWS_WITHOUT_FILTER
        words = gr.update(value="", visible=is_long)
        return words, list_html.render_relation(relation)

    def _filter(self, collection: str | None, table: str | None, words: str) -> Any:
        """Return the rows of the open table that contain all the words."""
        if not (collection and table):
            return gr.skip()
        try:
            relation = find_table(self._store, collection, table)
        except EltLlmError as error:
            return list_html.render_error(describe(error))
        return list_html.render_relation(relation, words)
