"""An agent that chooses what else to look up before the answer is written.

LlamaIndex's `FunctionAgent` for models that call tools, its `ReActAgent` for others. It
only collects passages; its own text is never shown. The answer is written from passages
and proven like that of any question.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms import LLM
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import AsyncBaseTool
from llama_index.core.workflow import WorkflowRuntimeError
from pydantic import Field
from typing_extensions import override

from elt_llm_core.errors import (
    BudgetSpentError,
    EltLlmError,
    ModelError,
    OutOfTimeError,
)
from elt_llm_core.models.gateway.spending import limit_calls
from elt_llm_core.models.native_tools import find_tool_caller
from elt_llm_core.models.structured import without_thoughts
from elt_llm_core.models.token_count import token_counter
from elt_llm_core.patience import Patience, current
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.grounding.labels import LabelSources
from elt_llm_query.llm_calls import fence, require_llm, with_short_answers
from elt_llm_query.own_thread import run_in_own_thread
from elt_llm_query.prompts import AGENT, AGENT_TASK
from elt_llm_query.sufficiency.agent_tools import PassageTools
from elt_llm_query.sufficiency.gap_rounds import FoundSources, Nodes, SufficiencyStep

Protocol = Literal["auto", "function", "react"]

SETTING = "query.sufficiency_options.most_"
TOKENS = 300  # limit of one response: a thought and a call
_CITED = re.compile(r"\[(\d{1,3})\]")
_OBSERVATION = re.compile(r"\n\s*Observation:.*", re.DOTALL)


class ToolAgent(FunctionAgent):
    """Calls its model in a thread; a disconnected client ends the call."""

    @override
    async def _get_response(
        self, current_llm_input: list[ChatMessage], tools: Sequence[AsyncBaseTool]
    ) -> ChatResponse:
        answer: ChatResponse = await asyncio.to_thread(
            self.llm.chat_with_tools,  # type: ignore[attr-defined]
            tools=tools,
            chat_history=current_llm_input,
        )
        return answer


class ThinkingAgent(ReActAgent):
    """Like `ToolAgent`, without tool results that a model invents."""

    @override
    async def _get_response(self, current_llm_input: list[ChatMessage]) -> ChatResponse:
        answer = await asyncio.to_thread(self.llm.chat, current_llm_input)
        text = without_thoughts(answer.message.content or "")
        message = ChatMessage(
            role=answer.message.role, content=_OBSERVATION.sub("", text).strip()
        )
        return ChatResponse(message=message, raw=answer.raw)


class AgentStep(SufficiencyStep):
    """Lets a model look up missing information, within a budget.

    The passages that it names at its end come first, then all retrieved ones, ordered
    by the question. The number of passages stays the same.
    """

    def __init__(self, llm: LLM, options: "AgentOptions") -> None:
        self._llm = with_short_answers(llm, TOKENS)
        self._options = options

    @override
    def complete(self, sources: FoundSources) -> Nodes:
        options = self._options
        tools = PassageTools(sources, options.result_tokens, token_counter(self._llm))
        task = AGENT_TASK.format(
            question=fence(sources.question), passages=tools.show(sources.nodes)
        )
        with sources.log.stage("agent", len(sources.nodes)) as note:
            first = len(tools.passages)
            closing = self._look_up(sources, tools, task)
            fresh = tools.passages[first:]
            note.n_out = len(fresh)
        return (
            self._merge(sources, tools.passages, fresh, closing)
            if fresh
            else sources.nodes
        )

    def _look_up(self, sources: FoundSources, tools: PassageTools, task: str) -> str:
        """Return the agent's last response; empty if its budget is spent.

        Raises:
            ModelError: If the model fails.
        """
        options = self._options
        limits = {
            "calls": options.most_calls,
            "tokens": options.most_tokens,
            "seconds": options.most_seconds,
        }
        try:
            with limit_calls("agent", SETTING, limits), _at_most(options.most_seconds):
                return run_agent(self._make(tools), task, options.most_calls)
        except BudgetSpentError as error:
            kind = DegradationKind.STAGE_LEFT_OUT
            detail = f"the agent was stopped, what it found is used: {error}"
            sources.log.degrade(Degradation(kind=kind, detail=detail))
            return ""

    def _make(self, tools: PassageTools) -> BaseWorkflowAgent:
        protocol = self._options.protocol
        caller = None if protocol == "react" else find_tool_caller(self._llm)
        if caller is None and protocol == "function":
            raise ModelError(
                f"{self._llm.metadata.model_name!r} does not call tools",
                "set query.sufficiency_options.protocol to react or auto",
            )
        kind = ThinkingAgent if caller is None else ToolAgent
        return kind(
            llm=caller or self._llm,
            tools=tools.tools(),
            system_prompt=AGENT,
            streaming=False,
        )

    def _merge(
        self, sources: FoundSources, shown: Nodes, fresh: Nodes, closing: str
    ) -> Nodes:
        """Return as many passages as before: those the agent names, then the best."""
        numbers = [int(number) for number in _CITED.findall(closing)]
        named = [shown[n - 1] for n in numbers if 1 <= n <= len(shown)]
        best = sources.order([*sources.nodes, *fresh])
        merged: dict[str, NodeWithScore] = {}
        for hit in (*named, *best):
            merged.setdefault(hit.node.node_id, hit)
        most = max(len(sources.nodes), len(best))
        return LabelSources().postprocess_nodes(list(merged.values())[:most])


class AgentOptions(Strategy[SufficiencyStep | None]):
    """Let an agent look up what the passages lack, with tools of its choice."""

    protocol: Protocol = Field(
        default="auto",
        description="function: the model calls tools; react: it writes its calls; "
        "auto: function where the model can",
    )
    most_calls: int = Field(default=6, ge=1, le=50, description="maximum model calls")
    most_tokens: int = Field(
        default=20_000, ge=0, description="maximum tokens read and written; 0: no limit"
    )
    most_seconds: float = Field(
        default=60.0, gt=0, description="time limit of all its calls and searches"
    )
    result_tokens: int = Field(
        default=1000,
        ge=100,
        description="maximum tokens of the passages that one tool call returns",
    )

    @override
    def build(self, models: Models) -> SufficiencyStep:
        return AgentStep(require_llm(models, "query.sufficiency_strategy: agent"), self)


def run_agent(agent: BaseWorkflowAgent, task: str, most_calls: int) -> str:
    """Run an agent to its end in a separate thread, and return its last response.

    Args:
        agent: The agent, with its tools.
        task: Its first message.
        most_calls: Maximum number of model calls; a gateway counts them too.

    Raises:
        BudgetSpentError: If it does not finish within its budget.
        ModelError: If its model fails, or LlamaIndex cannot parse its responses.
        AbandonedError: If the answer is no longer needed.
    """

    async def run() -> str:
        # One more round, because LlamaIndex discards the response of the last one.
        return str(await agent.run(user_msg=task, max_iterations=most_calls + 1))

    try:
        return run_in_own_thread(lambda: asyncio.run(run()), "elt-llm-agent")
    except EltLlmError:
        raise
    except Exception as error:
        if isinstance(error, WorkflowRuntimeError) and "Max iter" in str(error):
            raise _spent("calls", most_calls) from error
        raise ModelError(
            f"the answers of the agent's model cannot be used ({error})",
            "use another model, or another query.sufficiency_strategy",
        ) from error


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Limit the time of the question inside. Raises BudgetSpentError after it."""
    outer = current()
    left = outer.seconds_left() if outer else None
    own = seconds if left is None else min(seconds, left)
    try:
        with Patience(own, outer).apply():
            yield
    except OutOfTimeError as error:
        if left is not None and left <= seconds:
            raise
        raise _spent("seconds", seconds) from error


def _spent(unit: str, limit: float) -> BudgetSpentError:
    return BudgetSpentError(
        "agent", unit, f"{limit:g}", f"{limit:g}", f"{SETTING}{unit}"
    )
