"""The tab for questions."""

from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr

from elt_llm_api.api_context import ApiContext
from elt_llm_api.page import answer_html, list_html
from elt_llm_api.page.addresses import PageAddress, RecentAnswer, RecentAnswers
from elt_llm_api.problems import describe, redact_config_error
from elt_llm_api.server.question_queue import QuestionQueue, Ticket
from elt_llm_api.services.derived_views import collection_states
from elt_llm_api.services.profile_registry import DEFAULT_PROFILE
from elt_llm_api.services.redacted_answers import answer_question
from elt_llm_core.errors import EltLlmError
from elt_llm_core.results import QueryResult

EVENT: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
Components = list[gr.components.Component]
Shown = tuple[Any, Any, Any]
"""HTML below the question: how to begin, the answer, the sources."""


class AskTab:
    """Question, collections, profile, answer and sources."""

    def __init__(
        self, context: ApiContext, queue: QuestionQueue, page_url: answer_html.PageUrl
    ) -> None:
        self._config = context.config
        self._store = context.store
        self._profiles = context.profiles
        self._views = context.views
        self.queue = queue
        self._page_url = page_url
        self._asking: dict[str, Ticket] = {}
        self._kept = RecentAnswers()

    def build(self) -> None:
        """Lay the tab out; its components become attributes."""
        with gr.Row(elem_id="ask"):
            with gr.Column(scale=0, min_width=230, elem_id="side"):
                self._build_side()
            with gr.Column(scale=1, elem_id="main"):
                with gr.Row(elem_id="question-row"):
                    self.question = gr.Textbox(
                        label="Question",
                        placeholder="Ask your documents…",
                        autofocus=True,
                        max_length=4000,
                        scale=1,
                        elem_id="question",
                    )
                    button = gr.Button(
                        "Ask", variant="primary", scale=0, elem_id="ask-button"
                    )
                self.start = gr.HTML(js_on_load=None, elem_id="start")
                self.answer = gr.HTML(js_on_load=None, elem_id="answer")
                self.sources = gr.HTML(js_on_load=None, elem_id="sources")
        self._asked = [self.question, self.chosen, self.profile]
        self._shown = [self.start, self.answer, self.sources]
        self._again = gr.State(value=False)
        gr.on(
            [button.click, self.question.submit],
            self._ask,
            self._asked,
            self._shown,
            concurrency_limit=self._config.api.questions_at_once,
            **EVENT,
        )
        self.chosen.input(self._examples, self.chosen, self.start, **EVENT)
        self.profile.change(self._about, self.profile, self.about, **EVENT)

    def _build_side(self) -> None:
        self.chosen = gr.CheckboxGroup([], label="Collections", elem_id="chosen")
        self.profile = gr.Radio(
            [DEFAULT_PROFILE],
            value=DEFAULT_PROFILE,
            label="Profile",
            visible=False,
            elem_id="profile",
        )
        self.about = gr.HTML(js_on_load=None, elem_id="about")

    @property
    def filled_components(self) -> Components:
        """The components that `fill` gives values to, except the collections."""
        profile = [self.question, self.profile, self.about]
        return [*profile, *self._shown, self._again]

    def fill(self, address: PageAddress) -> list[Any]:
        """Return the values for an address: its recent answer, or its question.

        A question without a cached answer is asked again if no language model is
        needed; otherwise it is only filled in.
        """
        able = self._profiles.names()
        kept = self._fresh(address.answer)
        if kept is not None:
            address = _address(kept, address.answer)
        wrong = address.profile not in ("", *able)
        profile = DEFAULT_PROFILE if wrong else address.profile or DEFAULT_PROFILE
        shown = gr.update(choices=able, value=profile, visible=len(able) > 1)
        again = bool(kept is None and address.question and not wrong)
        again = again and self._costs_nothing(profile)
        # A question that was typed or asked in the meantime stays.
        skipped = gr.skip(), gr.skip()
        answer = self._answer(kept, address.search) if kept else skipped
        question = address.question or gr.skip()
        start = "" if kept else self._beginning(address, wrong)
        about = self._about(profile)
        return [question, shown, about, start, *answer, again]

    def resume(self, opened: Any) -> None:
        """Ask the question of the page's address if `fill` requested it."""
        opened.then(
            self._ask_again,
            [self._again, *self._asked],
            self._shown,
            concurrency_limit=self._config.api.questions_at_once,
            **EVENT,
        )

    def leave(self, session: str) -> None:
        """Stop the question of a session whose page was closed."""
        ticket = self._asking.pop(session, None)
        if ticket is not None:
            ticket.leave()

    def _beginning(self, address: PageAddress, wrong: bool) -> str:
        """Render what the page shows before a question is asked."""
        try:
            known = {card.name for card in self._store.collections()}
        except EltLlmError as error:
            return list_html.render_error(describe(error))
        lost = [name for name in address.collections if name not in known]
        lost += [f"profile {address.profile}"] if wrong else []
        note = list_html.render_missing(lost) if lost else ""
        return note + self._examples([n for n in address.collections if n in known])

    def _examples(self, chosen: Sequence[str]) -> str:
        """Render questions to begin with, or how to add documents if there are none."""
        try:
            if not self._store.collections():
                return list_html.render_empty()
            return list_html.render_examples(self._views.examples(chosen))
        except EltLlmError as error:
            return list_html.render_error(describe(error))

    def _about(self, profile: str) -> str:
        """Render what each profile does, needs and lacks, the chosen one first."""
        missing = self._profiles.incomplete()
        lacking = {name: redact_config_error(missing[name]) for name in missing}
        return list_html.render_profiles(self._profiles.notes(), profile, lacking)

    def _costs_nothing(self, profile: str) -> bool:
        return self._profiles.config_of(profile).models.llm_strategy == "none"

    def _fresh(self, key: str) -> RecentAnswer | None:
        """Return the recent answer, unless one of its collections has changed."""
        kept = self._kept.get(key) if key else None
        if kept is None:
            return None
        states = collection_states(self._store, tuple(kept.states))
        return kept if kept.states == states else None

    def _ask_again(
        self,
        again: bool,
        question: str,
        chosen: Sequence[str],
        profile: str,
        request: gr.Request,
    ) -> Iterator[Shown]:
        if not again:
            yield gr.skip(), gr.skip(), gr.skip()
            return
        yield from self._ask(question, chosen, profile, request)

    def _ask(
        self,
        question: str,
        chosen: Sequence[str],
        profile: str,
        request: gr.Request,
    ) -> Iterator[Shown]:
        if not question.strip():
            yield "", list_html.render_waiting("Write a question first."), ""
            return
        yield "", list_html.render_waiting("Looking through the documents…"), ""
        try:
            known = {card.name for card in self._store.collections()}
            # If all are chosen, none is named, so another embedder's collection is left
            # out.
            names = () if known <= {*chosen} else tuple(chosen)
            kept = self._query(question.strip(), names, profile, request)
        except Exception as error:  # noqa: BLE001  # the edge of the page: shown there
            yield "", list_html.render_error(describe(error)), ""
            return
        yield "", *self._answer(kept, _address(kept, self._kept.put(kept)).search)

    def _query(
        self, question: str, names: tuple[str, ...], profile: str, request: gr.Request
    ) -> RecentAnswer:
        query = self._profiles.config_of(profile).query
        states = collection_states(self._store, names)

        def work() -> QueryResult:
            return answer_question(self._profiles.library(profile), question, names)

        ticket, outcome = self.queue.submit(work, query.question_timeout)
        session = str(request.session_hash)
        self._asking[session] = ticket
        try:
            result = outcome.result()
        finally:
            self._asking.pop(session, None)
        return RecentAnswer(result, query.citation_policy, names, profile, states)

    def _answer(self, kept: RecentAnswer, search: str) -> tuple[str, str]:
        """Render the answer, with its address for the browser, and the sources."""
        text = answer_html.render_answer(
            kept.result, kept.policy, self._page_url, search
        )
        return text, answer_html.render_sources(kept.result, self._page_url)


def _address(kept: RecentAnswer, key: str) -> PageAddress:
    """Return the address of an answer; the default profile is left out."""
    profile = kept.profile if kept.profile != DEFAULT_PROFILE else ""
    return PageAddress(kept.result.question, kept.collections, profile, key)
