"""A turn as a LlamaIndex workflow: one typed event from each step to the next.

message
│ contextualise   a question that can be understood alone, or what is asked back
│ decompose       its parts, if it has several
│ answer          each part by `query_collections`, by itself
│ check_subject   refused where the passages speak of something else
▼ join            one result
TurnOutcome

A step that fails leaves the simpler path and a `Degradation`; each is a stage of the
trace.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial

from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.conversation import Message
from elt_llm_core.identifiers import item_key
from elt_llm_core.records import Record
from elt_llm_core.results import (
    QueryResult,
    QueryTrace,
    Statement,
    Status,
    Support,
)
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.analysis.follow_up import (
    NamedThing,
    names_a_thing,
    split_parts,
    telling_stems,
)
from elt_llm_query.conversation.contextualise import (
    CONTEXTUALISERS,
    Contextualiser,
    Exchange,
    Understood,
    count_mentions,
    exchanges_of,
    is_about,
    last_answered,
    named_things,
    understand_part,
)
from elt_llm_query.conversation.join import join_results
from elt_llm_query.trace import TraceLog

Ask = Callable[[str], QueryResult]
Tell = Callable[[str], None]

NO_SUBJECT = "No passage that was found answers this of {subject} for sure."
OTHER_SUBJECT = (
    "The question does not say whether it is about {subject}, and what was found is "
    "about something else. Name what it is about."
)
# A document that has a thing so often is about it: five, as a passing mention in a list
# of references or of exceptions comes once or twice.
OFTEN = 5


class MessageEvent(StartEvent):
    """A message begins a turn."""

    message: str


class PartsEvent(Event):
    """What the message asks, part by part."""

    parts: tuple[Understood, ...]


class AnswersEvent(Event):
    """The answers of the parts."""

    parts: tuple[Understood, ...]
    results: tuple[QueryResult, ...]


class CheckedEvent(AnswersEvent):
    """The same, refused where they are about something else."""


class Part(Record):
    """One question of a message, and how it ended."""

    question: str
    status: Status
    answer: str


@dataclass(frozen=True)
class TurnOutcome:
    """What a turn ends with.

    Attributes:
        result: The answer of all parts; its question is as it was searched.
        parts: Each part by itself; one for most messages.
        unclear: The words that the reply asks about, if it asks back.
    """

    result: QueryResult
    parts: tuple[Part, ...]
    unclear: str = ""


class TurnWorkflow(Workflow):
    """The steps of a turn. `ask` answers a question that can be understood alone."""

    def __init__(
        self,
        *,
        store: Store,
        config: RagConfig,
        models: Models,
        history: Sequence[Message],
        ask: Ask,
        tell: Tell | None = None,
    ) -> None:
        # The models and `question_timeout` have their own limits.
        super().__init__(timeout=None)
        self._store = store
        self._config = config
        self._history = history
        self._ask = ask
        self._tell = tell or _stay_silent
        self._contextualiser = _build_contextualiser(config, models)
        self._exchanges: list[Exchange] = exchanges_of(history, store)
        self._log = TraceLog()

    @step
    async def understand(self, event: MessageEvent) -> PartsEvent:
        """Cut the message into parts, each understood by what was said before it."""
        texts: tuple[str, ...] = (event.message,)
        if self._config.conversation.decompose:
            with self._log.stage("decompose", 1) as note:
                texts = split_parts(event.message)
                note.n_out = len(texts)
        parts: list[Understood] = []
        with self._log.stage("contextualise", len(texts)) as note:
            self._tell("reading the question")
            for text in texts:
                understood = self._understand(text, parts)
                for degradation in understood.degradations:
                    self._log.degrade(degradation)
                parts.append(understood)
            note.n_out = sum(not part.unclear for part in parts)
        return PartsEvent(parts=tuple(parts))

    @step
    async def answer(self, event: PartsEvent) -> AnswersEvent:
        """Answer each part; what is unclear is asked back instead."""
        results = []
        for part in event.parts:
            if part.unclear:
                results.append(self._reply(part.question, part.unclear))
                continue
            self._tell(f"searching: {part.question}")
            results.append(self._ask(part.question))
        return AnswersEvent(parts=event.parts, results=tuple(results))

    @step
    async def check_subject(self, event: AnswersEvent) -> CheckedEvent:
        """Refuse an answer whose passages do not speak of what is asked about."""
        parts, results = list(event.parts), list(event.results)
        if self._config.conversation.check_subject:
            self._tell("checking what the answer is about")
            with self._log.stage("check_subject", len(parts)) as note:
                for number, (part, result) in enumerate(
                    zip(event.parts, event.results, strict=True)
                ):
                    reply, words = self._fault(part, result)
                    if reply:
                        parts[number] = Understood(part.question, words=words)
                        results[number] = self._refuse(result, reply)
                    note.n_out += not reply
        return CheckedEvent(parts=tuple(parts), results=tuple(results))

    @step
    async def join(self, event: CheckedEvent) -> StopEvent:
        """Make one result of those of the parts."""
        joined = join_results(event.results)
        trace = joined.trace
        stages = (*self._log.stages, *trace.stages)
        notes = dict.fromkeys([*self._log.degradations, *joined.degradations])
        result = joined.model_copy(
            update={
                "degradations": tuple(notes),
                "trace": trace.model_copy(update={"stages": stages}),
            }
        )
        parts = tuple(
            Part(question=r.question, status=r.status, answer=r.answer)
            for r in event.results
        )
        unclear = next((part.words for part in event.parts if part.words), "")
        return StopEvent(result=TurnOutcome(result, parts, unclear))

    def _understand(self, text: str, before: Sequence[Understood]) -> Understood:
        """A part, with the part before it as the last thing that was said."""
        if before:
            return understand_part(text, before[-1].question)
        return self._contextualiser.contextualise(text, self._history, self._exchanges)

    def _fault(self, part: Understood, result: QueryResult) -> tuple[str, str]:
        """Why an answer is about something else, and the words that left it open."""
        if result.status not in {Status.ANSWERED, Status.PARTIAL}:
            return "", ""
        if part.subject and not self._is_about(result, part.subject):
            return NO_SUBJECT.format(subject=part.subject), ""
        subject = "" if part.subject else self._left_subject(part.question, result)
        return (
            (OTHER_SUBJECT.format(subject=subject), part.question)
            if subject
            else ("", "")
        )

    def _left_subject(self, question: str, result: QueryResult) -> str:
        """What was spoken of before, where the answer may have left it unasked.

        "What is the maximum dose?", asked after one medicine, must not be answered from
        the leaflet of another. A question with a name of its own, or one of which the
        documents spoken of know little, begins another matter.
        """
        last = last_answered(self._exchanges)
        documents = {citation.document_id for citation in result.citations}
        if last is None or not documents or documents & {*last.documents}:
            return ""
        rows = [row for d in sorted(documents) if (row := self._store.document(d))]
        titles = [part for row in rows for part in (row.title, row.name)]
        if names_a_thing(question, titles):
            return ""
        telling = telling_stems(question)
        known = sum(1 for one in telling if last.mentions(one))
        if not telling or known < len(telling) / 2:
            return ""
        things = [t for t in named_things(last) if not t.owner]
        return next((t.text for t in things if self._is_left(t, last, documents)), "")

    def _is_left(self, thing: NamedThing, last: Exchange, now: set[str]) -> bool:
        """Whether the documents before are about a thing, and those of now are not."""
        before = min(map(last.mentions, thing.stems))
        count = partial(count_mentions, self._store, sorted(now))
        return before >= OFTEN and min(map(count, thing.stems)) * OFTEN <= before

    def _is_about(self, result: QueryResult, subject: str) -> bool:
        texts = {source.label: source.text for source in result.sources}
        for citation in result.citations:
            row = self._store.document(citation.document_id)
            titles = f"{row.title} {row.name}" if row else ""
            text = texts.get(citation.label, citation.quote)
            if not is_about(citation, text, titles, subject):
                return False
        return True

    def _reply(self, question: str, text: str) -> QueryResult:
        """A result that asks back; nothing was searched."""
        config_hash = self._config.hash("models", "query", "conversation")
        return QueryResult(
            question=question,
            status=Status.INSUFFICIENT,
            answer=text,
            statements=(_notice(text),),
            trace=QueryTrace(
                query_id=item_key(question, config_hash)[:16], config_hash=config_hash
            ),
        )

    @staticmethod
    def _refuse(result: QueryResult, text: str) -> QueryResult:
        """The result without its answer; its quotes are the nearest passages."""
        return result.model_copy(
            update={
                "status": Status.INSUFFICIENT,
                "answer": text,
                "statements": (_notice(text),),
                "citations": (),
                "conflicts": (),
                "nearest": result.citations,
            }
        )


def run_turn(workflow: TurnWorkflow, message: str) -> TurnOutcome:
    """Run the steps of a turn to the end.

    Args:
        workflow: The steps; they are run once.
        message: The message.

    Returns:
        The outcome.

    Raises:
        EltLlmError: As the step that raised it.
    """

    async def turn() -> TurnOutcome:
        outcome: TurnOutcome = await workflow.run(
            start_event=MessageEvent(message=message)
        )
        return outcome

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(turn())
    # In a notebook a loop runs in this thread: the turn gets a thread of its own.
    outcomes: list[TurnOutcome | BaseException] = []
    context = copy_context()

    def run() -> None:
        try:
            outcomes.append(context.run(asyncio.run, turn()))
        except BaseException as error:  # noqa: BLE001 - raised again below
            outcomes.append(error)

    thread = threading.Thread(target=run, name="elt-llm-turn")
    thread.start()
    thread.join()
    (outcome,) = outcomes
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _stay_silent(_: str) -> None:
    """Nobody watches the steps."""


def _build_contextualiser(config: RagConfig, models: Models) -> Contextualiser:
    section = config.conversation
    strategy = CONTEXTUALISERS.load(
        section.contextualiser_strategy,
        section.contextualiser_options,
        config.allowed_plugins(),
    )
    return strategy.build(models)


def _notice(text: str) -> Statement:
    return Statement(text=text, start=0, end=len(text), verdict=Support.NOTICE)
