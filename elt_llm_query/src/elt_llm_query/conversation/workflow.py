"""A turn as a LlamaIndex workflow: one typed event from each step to the next.

message           a greeting or thanks is answered politely, without the other steps
│ summarise       the older exchanges, if they are many
│ decompose       its parts, if it has several
│ contextualise   a question that can be understood alone, or what is asked back
│ clarify         asked back where it may mean several things
│ answer          each part by `answer_question`, by itself; a refused part again with
│                 other names of its things, if an alias file has them
│ check_subject   refused where the passages speak of something else, or where it
│                 is not certain what answers, after another question
│ join            one result, which is shown
▼ suggest         questions that may be asked next
TurnOutcome

A step that fails leaves the simpler path and a `Degradation`; each is a stage of the
trace. With `speculative`, summary, understanding, clarification and an answer to the
message as it is written begin together; what is not needed is stopped.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.conversation import Message
from elt_llm_core.errors import EltLlmError, MissingModelError, ModelError
from elt_llm_core.results import (
    Degradation,
    DegradationKind,
    QueryResult,
    ReplyKind,
    Status,
)
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.analysis.message_form import split_parts
from elt_llm_query.conversation.branch import Branch, BranchState
from elt_llm_query.conversation.contextualise import CONTEXTUALISERS, Contextualiser
from elt_llm_query.conversation.courtesy import (
    find_courtesy,
    reply_to,
    without_courtesy,
)
from elt_llm_query.conversation.exchanges import Exchange
from elt_llm_query.conversation.join import join_results
from elt_llm_query.conversation.later_parts import understand_part
from elt_llm_query.conversation.model_steps import ModelSteps
from elt_llm_query.conversation.subject_check import SubjectCheck
from elt_llm_query.conversation.turn_events import FollowUps
from elt_llm_query.conversation.turn_outcome import (
    Part,
    TurnOutcome,
    refuse,
    without_search,
)
from elt_llm_query.conversation.understood_message import Understood
from elt_llm_query.llm_calls import require_llm
from elt_llm_query.own_thread import run_in_own_thread
from elt_llm_query.step_events import TokenEvent, report, report_step
from elt_llm_query.trace import TraceLog
from elt_llm_query.transforms.aliases import exchange_names, read_rings

T = TypeVar("T")
MOST_NAMES = 3  # other names that are tried; each costs a search
Ask = Callable[[str], QueryResult]


class MessageEvent(StartEvent):
    """A message that begins a turn."""

    message: str


class QuestionEvent(Event):
    """The message without the greeting or thanks before its question."""

    message: str


class HistoryEvent(Event):
    """The message, and the part of the conversation that models read."""

    message: str
    history: tuple[Message, ...]


class PartsEvent(Event):
    """The parts of the message; `begun` answers the first one as written."""

    parts: tuple[Understood, ...]
    begun: Any = None


class AnswersEvent(Event):
    """The answers of the parts."""

    parts: tuple[Understood, ...]
    results: tuple[QueryResult, ...]


class CheckedEvent(AnswersEvent):
    """The same, refused if they are about another subject."""


class JoinedEvent(Event):
    """The outcome, after it was shown."""

    outcome: Any


@dataclass(frozen=True)
class TurnContext:
    """The inputs of the steps of a turn.

    Attributes:
        store: The data root.
        config: The settings; only the section `conversation` is used.
        models: The steps use the role `rewrite`.
        history: The messages before, oldest first.
        exchanges: The same as questions with the evidence of their answers.
        ask: Answers a question that can be understood alone.
        show: Receives the outcome as soon as it is checked.
    """

    store: Store
    config: RagConfig
    models: Models
    history: Sequence[Message]
    exchanges: Sequence[Exchange]
    ask: Ask
    show: Callable[[TurnOutcome], None] = lambda _: None


class TurnWorkflow(Workflow):
    """The steps of a turn."""

    def __init__(self, context: TurnContext) -> None:
        # The models and `question_timeout` have their own limits.
        super().__init__(timeout=None)
        self._context = context
        self._config = context.config
        self._settings = context.config.conversation
        self._contextualiser = _build_contextualiser(self._config, context.models)
        sure = self._settings.sure
        self._subjects = SubjectCheck(context.store, context.exchanges, sure)
        self._log = TraceLog()
        self._steps = self._build_steps()
        self._summary: Branch[Message] | None = None
        aliases = self._config.consumer.aliases
        self._rings = read_rings(aliases) if aliases else []

    def close(self) -> None:
        """Let go of the conversation after the run.

        A workflow and its steps refer to each other, so that only the garbage collector
        frees them. Without this it would have to scan and free every earlier message
        with each turn, while all threads wait.
        """
        for name in ("_context", "_subjects", "_contextualiser", "_steps", "_log"):
            delattr(self, name)

    @step
    async def begin(self, event: MessageEvent) -> QuestionEvent | JoinedEvent:
        """Reply to a greeting or thanks, which asks nothing; otherwise go on."""
        courtesy = find_courtesy(event.message)
        if courtesy is None:
            return QuestionEvent(message=without_courtesy(event.message))
        text = reply_to(courtesy)
        result = self._reply(event.message, text, ReplyKind.COURTESY)
        part = Part(question=event.message, status=result.status, answer=result.answer)
        outcome = TurnOutcome(result, (part,), courtesy=True)
        self._context.show(outcome)
        return JoinedEvent(outcome=outcome)

    @step
    async def summarise(self, event: QuestionEvent) -> HistoryEvent:
        """Keep the newest exchanges verbatim, and a summary of older ones."""
        history, window = tuple(self._context.history), self._settings.history_window
        older = history[: -2 * window] if window else ()
        newest = history[len(older) :]
        steps = self._steps if self._settings.summarise else None
        if not older or steps is None:
            return HistoryEvent(message=event.message, history=newest)
        if self._settings.speculative:
            self._summary = Branch(lambda: steps.summarise(older))
            return HistoryEvent(message=event.message, history=newest)
        summary = self._try("summarise", len(older), lambda: steps.summarise(older))
        kept = newest if summary is None else (summary, *newest)
        return HistoryEvent(message=event.message, history=kept)

    @step
    async def understand(self, event: HistoryEvent) -> PartsEvent:
        """Split the message into parts, and resolve each from the history."""
        texts: tuple[str, ...] = (event.message,)
        if self._settings.decompose:
            with self._log.stage("decompose", 1) as note:
                texts = split_parts(event.message)
                note.n_out = len(texts)
        if self._settings.speculative and len(texts) == 1:
            return await self._understand_ahead(event)
        self._end(self._summary)
        parts: list[Understood] = []
        with self._log.stage("contextualise", len(texts)) as note:
            for text in texts:
                parts.append(self._understand(text, parts, event.history))
            note.n_out = sum(not part.unclear for part in parts)
        clear = [self._clarify(part, event.history) for part in parts]
        return PartsEvent(parts=tuple(clear))

    async def _understand_ahead(self, event: HistoryEvent) -> PartsEvent:
        """Resolve a message while it is already answered as it is written.

        The answer is used if the message turns out to be complete; otherwise its branch
        is superseded. The summary is only waited for if the newest exchanges do not
        contain what the message refers to.
        """
        text, history = event.message, event.history
        begun: Branch[QueryResult] | None = Branch(lambda: self._context.ask(text))
        clarified = Branch(lambda: self._clarify(Understood(text), history))
        is_understood = False
        try:
            part = await self._understand_one(text, history)
            # Now, not after the clarification, because the call would end meanwhile.
            begun = self._keep(begun, part, text)
            if not part.unclear:
                verdict = await clarified.result()
                part = verdict if verdict.unclear else part
                begun = self._keep(begun, part, text)
            is_understood = True
        finally:
            self._end(clarified, self._summary, None if is_understood else begun)
        return PartsEvent(parts=(part,), begun=begun)

    def _keep(
        self, begun: Branch[QueryResult] | None, part: Understood, text: str
    ) -> Branch[QueryResult] | None:
        """Return the started answer, unless it answers another question."""
        if begun is None or (not part.unclear and part.question == text):
            return begun
        self._supersede(begun)
        return None

    async def _understand_one(
        self, text: str, history: tuple[Message, ...]
    ) -> Understood:
        """Resolve a message in a thread, with the summary if needed."""
        with self._log.stage("contextualise", 1) as note:
            part = await asyncio.to_thread(self._understand, text, (), history)
            if part.unclear and self._summary is not None:
                with suppress(ModelError):
                    longer = (await self._summary.result(), *history)
                    part = await asyncio.to_thread(self._understand, text, (), longer)
            note.n_out = int(not part.unclear)
        return part

    @step
    async def answer(self, event: PartsEvent) -> AnswersEvent:
        """Answer each part; for an unclear part, ask back instead."""
        results: list[QueryResult]
        if event.begun is not None:
            results = [await event.begun.result()]
        elif self._settings.speculative:
            branches = [Branch(partial(self._answer, part)) for part in event.parts]
            results = [await branch.result() for branch in branches]
        else:
            results = list(map(self._answer, event.parts))
        pairs = [
            self._answer_by_other_names(part, result)
            for part, result in zip(event.parts, results, strict=True)
        ]
        parts, results = [part for part, _ in pairs], [result for _, result in pairs]
        return AnswersEvent(parts=tuple(parts), results=tuple(results))

    def _answer_by_other_names(
        self, part: Understood, result: QueryResult
    ) -> tuple[Understood, QueryResult]:
        """Return a refused part with other names of its things, if that is answered."""
        if part.unclear or result.status not in {
            Status.INSUFFICIENT,
            Status.NO_SOURCES,
        }:
            return part, result
        for question in self._with_other_names(part.question):
            subject = next(self._with_other_names(part.subject), part.subject)
            other = replace(part, question=question, subject=subject)
            with self._log.stage("aliases", 1) as note:
                answered = self._answer(other)
                note.n_out = int(answered.status in {Status.ANSWERED, Status.PARTIAL})
            if note.n_out:
                return other, answered
        return part, result

    def _with_other_names(self, text: str) -> Iterator[str]:
        """Return a text with other names of its things, from the alias file."""
        return islice(exchange_names(text, self._rings), MOST_NAMES)

    def _answer(self, part: Understood) -> QueryResult:
        if part.unclear:
            return self._reply(part.question, part.unclear, ReplyKind.CLARIFICATION)
        report_step("answer", "begun", f"searching: {part.question}", n_in=1)
        return self._context.ask(part.question)

    @step
    async def check_subject(self, event: AnswersEvent) -> CheckedEvent:
        """Refuse an answer whose passages are not about the subject."""
        parts, results = list(event.parts), list(event.results)
        if self._settings.check_subject:
            with self._log.stage("check_subject", len(parts)) as note:
                for number, (part, result) in enumerate(
                    zip(event.parts, event.results, strict=True)
                ):
                    before = event.results[number - 1] if number else None
                    reply, words = self._subjects.find_fault(part, result, before)
                    if reply:
                        parts[number] = Understood(part.question, words=words)
                        results[number] = refuse(result, reply, words)
                    note.n_out += not reply
        return CheckedEvent(parts=tuple(parts), results=tuple(results))

    @step
    async def join(self, event: CheckedEvent) -> JoinedEvent:
        """Merge the results of the parts into one, and show it."""
        parts = tuple(
            Part(question=r.question, status=r.status, answer=r.answer)
            for r in event.results
        )
        unclear = next((part.words for part in event.parts if part.words), "")
        joined = self._with_log(join_results(event.results))
        outcome = TurnOutcome(joined, parts, unclear)
        self._context.show(outcome)
        self._log = TraceLog()  # the records so far are in the result
        return JoinedEvent(outcome=outcome)

    @step
    async def suggest(self, event: JoinedEvent) -> StopEvent:
        """Write questions that may be asked next, without delaying the answer."""
        outcome: TurnOutcome = event.outcome
        steps, count = self._steps, self._settings.follow_ups
        questions: tuple[str, ...] = ()
        if count and steps and outcome.result.sources and not outcome.unclear:
            result, history = outcome.result, self._context.history
            questions = (
                self._try(
                    "follow_ups",
                    count,
                    lambda: steps.follow_ups(result, history, count),
                )
                or ()
            )
        if questions:
            report(FollowUps(questions=questions))
        whole = self._with_log(outcome.result)
        return StopEvent(result=replace(outcome, result=whole, follow_ups=questions))

    def _build_steps(self) -> ModelSteps | None:
        """Return the model for steps; None and a degradation if there is none."""
        settings = self._settings
        wanted = {
            "conversation.summarise": settings.summarise,
            "conversation.clarify": settings.clarify,
            "conversation.follow_ups": settings.follow_ups,
        }
        names = [name for name, value in wanted.items() if value]
        if not names:
            return None
        try:
            return ModelSteps(require_llm(self._context.models, ", ".join(names)))
        except MissingModelError as error:
            self._leave_out(error)
            return None

    def _understand(
        self, text: str, before: Sequence[Understood], history: Sequence[Message]
    ) -> Understood:
        """Resolve a part, with the part before it as the last message."""
        if before:
            understood = understand_part(text, before[-1].question)
        else:
            understood = self._contextualise(text, history)
        for degradation in understood.degradations:
            self._log.degrade(degradation)
        return understood

    def _contextualise(self, text: str, history: Sequence[Message]) -> Understood:
        """Resolve a message, under another name of its thing if it is unclear."""
        exchanges = self._context.exchanges
        first = self._contextualiser.contextualise(text, history, exchanges)
        if not first.unclear:
            return first
        for other in self._with_other_names(text):
            understood = self._contextualiser.contextualise(other, history, exchanges)
            if not understood.unclear:
                return understood
        return first

    def _clarify(self, part: Understood, history: Sequence[Message]) -> Understood:
        """Return the part, or a clarifying question if there is a history."""
        steps = self._steps if self._settings.clarify else None
        if steps is None or part.unclear or not history:
            return part
        reply = self._try("clarify", 1, lambda: steps.clarify(part.question, history))
        return replace(part, unclear=reply, words=part.question) if reply else part

    def _try(self, name: str, n_in: int, work: Callable[[], T]) -> T | None:
        """Return the result of a model step; None and a degradation if it fails."""
        with self._log.stage(name, n_in) as note:
            try:
                brought = work()
            except ModelError as error:
                self._leave_out(error, f"{name}: ")
                return None
            note.n_out = int(bool(brought))
        return brought

    def _leave_out(self, error: EltLlmError, what: str = "") -> None:
        kind = DegradationKind.STAGE_LEFT_OUT
        self._log.degrade(Degradation(kind=kind, detail=f"left out: {what}{error}"))

    def _supersede(self, branch: Branch[QueryResult]) -> None:
        """Stop a started answer, and withdraw its tokens."""
        with self._log.stage("supersede", 1):
            branch.supersede()
        report(TokenEvent(text="", restart=True))

    @staticmethod
    def _end(*branches: Branch[Any] | None) -> None:
        """Stop a task that is no longer needed."""
        for branch in branches:
            if branch is not None and branch.state is BranchState.ACTIVE:
                branch.supersede()

    def _with_log(self, result: QueryResult) -> QueryResult:
        """Return the result with the stages and degradations of the turn."""
        stages = (*self._log.stages, *result.trace.stages)
        notes = dict.fromkeys([*self._log.degradations, *result.degradations])
        return result.model_copy(
            update={
                "degradations": tuple(notes),
                "trace": result.trace.model_copy(update={"stages": stages}),
            }
        )

    def _reply(self, question: str, text: str, kind: ReplyKind) -> QueryResult:
        config_hash = self._config.hash("models", "query", "conversation")
        return without_search(question, text, kind, config_hash)


def run_turn(workflow: TurnWorkflow, message: str) -> TurnOutcome:
    """Run the steps of a turn to the end.

    Args:
        workflow: The steps; they run only once.
        message: The message.

    Returns:
        The outcome.

    Raises:
        EltLlmError: The error of a step.
    """

    async def turn() -> TurnOutcome:
        try:
            outcome: TurnOutcome = await workflow.run(
                start_event=MessageEvent(message=message)
            )
        finally:
            workflow.close()
        return outcome

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(turn())
    # In a notebook a loop runs in this thread, so the turn gets a separate thread.
    return run_in_own_thread(lambda: asyncio.run(turn()), "elt-llm-turn")


def _build_contextualiser(config: RagConfig, models: Models) -> Contextualiser:
    section = config.conversation
    strategy = CONTEXTUALISERS.load(
        section.contextualiser_strategy,
        section.contextualiser_options,
        config.allowed_plugins(),
    )
    return strategy.build(models)
