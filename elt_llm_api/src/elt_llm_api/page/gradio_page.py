"""The page: Gradio for input and events, our own HTML for output."""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import gradio as gr
from fastapi import FastAPI
from pydantic import SecretStr
from starlette.datastructures import QueryParams

from elt_llm_api.api_context import ApiContext
from elt_llm_api.job_registry import Job, JobRegistry
from elt_llm_api.page import list_html
from elt_llm_api.page.addresses import PageAddress
from elt_llm_api.page.ask_tab import EVENT, AskTab
from elt_llm_api.page.product_tabs import ProductsTab, TablesTab, watch_job
from elt_llm_api.page.rendering import render
from elt_llm_api.page.workspace_pages import PAGES
from elt_llm_api.page_boxes import MAX_BOXES
from elt_llm_api.problems import describe
from elt_llm_api.server.question_queue import QuestionQueue
from elt_llm_api.services.collection_edits import check_writable
from elt_llm_api.services.stored_documents import has_page_images
from elt_llm_api.uploads import Upload, check_upload_names, move_uploads
from elt_llm_core.errors import EltLlmError, UsageError
from elt_llm_core.identifiers import collection_id
from elt_llm_core.results import Box
from elt_llm_ingest import SUFFIXES

CACHE_SECONDS = 3600  # after which Gradio deletes files that were sent and never added
FONTS = ("system-ui", "Segoe UI", "Roboto", "Helvetica Neue", "Arial", "sans-serif")
MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace")


def mount(app: FastAPI, page: "GradioPage", path: str) -> None:
    """Mount the page under `path` of `app`."""
    blocks = page.build()
    blocks.queue(default_concurrency_limit=2, max_size=32)
    gr.mount_gradio_app(
        app,
        blocks,
        path=path,
        allowed_paths=[],
        show_error=False,
        max_file_size=f"{page.max_upload_mb}mb",
        footer_links=[],
        run_history=False,
        ssr_mode=False,
        mcp_server=False,
        enable_monitoring=False,
        theme=_theme(),
        css=_static("page.css"),
        js=_static("page.js"),
    )


class GradioPage:
    """The tabs and their events."""

    def __init__(
        self, context: ApiContext, jobs: JobRegistry, queue: QuestionQueue
    ) -> None:
        self.max_upload_mb = context.config.api.max_upload_mb
        self._store = context.store
        self._runner = context.runner
        self.jobs = jobs
        self.ask = AskTab(context, queue, self._page_url)
        self.products = ProductsTab(context.runner, jobs)
        self.tables = TablesTab(context.store)

    def build(self) -> gr.Blocks:
        """The whole page."""
        with gr.Blocks(
            title="elt_llm",
            analytics_enabled=False,
            delete_cache=(CACHE_SECONDS, CACHE_SECONDS),
        ) as page:
            header = render("header", pages=PAGES)
            gr.HTML(header, js_on_load=None, elem_id="top")
            with gr.Tabs():
                with gr.Tab("Ask"):
                    self.ask.build()
                with gr.Tab("Add files"):
                    ingested = self._ingest_tab()
                with gr.Tab("Products"):
                    product = self.products.build()
                with gr.Tab("Tables"):
                    tables_of = self.tables.build()
                with gr.Tab("Collections") as shown:
                    listing = gr.HTML(js_on_load=None, elem_id="collections")
                    # The page's script presses it when it removed or renamed something.
                    changed = gr.Button("Refresh", elem_id="changed")
            known = gr.State([])
            choices = [known, self.ask.chosen, *product, tables_of, listing]
            opened = page.load(
                self._fill, None, [*choices, *self.ask.filled_components], **EVENT
            )
            self.ask.resume(opened)
            selected = [known, self.ask.chosen]
            shown.select(self._refresh, selected, choices, **EVENT)
            changed.click(self._refresh, selected, choices, **EVENT)
            ingested.then(self._refresh, selected, choices, **EVENT)
            page.unload(self._leave)
        blocks: gr.Blocks = page
        return blocks

    def _ingest_tab(self) -> Any:
        with gr.Column(elem_classes="sheet"):
            sent = gr.File(
                label="Files",
                file_count="multiple",
                file_types=sorted(SUFFIXES),
                elem_id="files",
            )
            name = gr.Textbox(
                label="Collection",
                info="A new one, or one to add to: lower-case letters, digits, - and _",
                placeholder="handbook",
                max_length=63,
                elem_id="collection",
            )
            password = gr.Textbox(
                label="Password",
                info="Only for protected PDFs. It is not kept.",
                type="password",
                max_length=500,
                html_attributes=gr.InputHTMLAttributes(autocomplete="new-password"),
                elem_id="password",
            )
            button = gr.Button("Add documents", variant="primary", elem_id="ingest")
            state = gr.HTML(js_on_load=None, elem_id="ingest-state")
        inputs = [sent, name, password]
        return button.click(self._ingest, inputs, [state, sent, password], **EVENT)

    def _fill(self, request: gr.Request) -> list[Any]:
        """Fill the page as its address says."""
        address = PageAddress.of(QueryParams(str(request.query_params)))
        opened = self.ask.fill(address)
        return [*self._refresh([], address.collections), *opened]

    def _refresh(self, known: Sequence[str], chosen: Sequence[str]) -> list[Any]:
        """Update the known collections, the choices and the list.

        Collections that were not `known` yet are selected too.
        """
        try:
            cards = self._store.collections()
            rows = {c.name: self._store.documents(c.name) for c in cards}
        except EltLlmError as error:
            failed = list_html.render_error(describe(error))
            return [*[gr.skip()] * 5, failed]
        names = [card.name for card in cards]
        asked = [n for n in names if n in chosen or (known and n not in known)]
        labels = [(f"{c.label} ({c.documents})", c.name) for c in cards]
        models = [(card.label, card.name) for card in cards]
        return [
            names,
            gr.update(choices=labels, value=asked or names),
            gr.update(choices=labels, value=names),
            gr.update(choices=models, value=[]),
            gr.update(choices=models),
            list_html.render_collections(cards, rows),
        ]

    def _leave(self, request: gr.Request) -> None:
        """Stop the question of a browser tab that was closed."""
        self.ask.leave(str(request.session_hash))

    def _ingest(
        self, sent: Sequence[str] | None, name: str, password: str
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the progress; at the end the form is emptied, password included."""
        kept = gr.skip(), gr.skip()
        try:
            job = self._start_ingest(sent or (), name, SecretStr(password or ""))
        except EltLlmError as error:
            yield list_html.render_error(describe(error)), *kept
            return
        for state in watch_job(job):
            yield state, *kept
        yield list_html.render_job_result(job), None, ""

    def _start_ingest(self, sent: Sequence[str], name: str, password: SecretStr) -> Job:
        collection = (name or "").strip()
        collection_id(collection)
        if not sent:
            raise UsageError("choose at least one file first")
        paths = [Path(path).resolve() for path in sent]
        if not all(path.is_relative_to(self.jobs.workspace.sent) for path in paths):
            raise UsageError("only files that were sent to this page can be added")
        names = check_upload_names([path.name for path in paths])
        uploads = [Upload(n, path) for n, path in zip(names, paths, strict=True)]
        check_writable(self._store)
        return self.jobs.submit(
            "ingest",
            lambda folder, progress: self._runner.ingest(
                collection, move_uploads(uploads, folder), progress, password
            ),
        )

    def _page_url(
        self, document_id: str, page: int, boxes: Sequence[Box]
    ) -> str | None:
        if not has_page_images(self._store, document_id):
            return None
        shown = boxes[:MAX_BOXES]
        marks = ";".join(f"{b.left},{b.top},{b.right},{b.bottom}" for b in shown)
        path = f"/v1/documents/{quote(document_id, safe='')}/pages/{page}.jpg"
        return f"{path}?scale=2&boxes={quote(marks, safe=',;')}"


def _static(name: str) -> str:
    return (files("elt_llm_api.page") / "static" / name).read_text(encoding="utf-8")


def _theme() -> gr.themes.Base:
    return gr.themes.Base(
        primary_hue=gr.themes.colors.teal,
        neutral_hue=gr.themes.colors.slate,
        font=FONTS,
        font_mono=MONO,
        radius_size=gr.themes.sizes.radius_md,
    )
