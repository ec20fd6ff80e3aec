"""Messages in the format of chat completions: tool calls and pictures.

Models call tools by their own protocol, for LlamaIndex's `FunctionAgent`.

Whether a model does is reported by the server (Ollama) or configured (others): a server
that was not started for it refuses such requests, or answers them in prose.
"""

import json
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ImageBlock,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms import LLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool
from typing_extensions import override

from elt_llm_core.errors import ModelError

Json = dict[str, Any]


@runtime_checkable
class TakesTools(Protocol):
    """A model that reports whether it calls tools."""

    def with_tools(self) -> LLM | None:
        """Return the model configured to call tools; None if it does not."""


def find_tool_caller(llm: LLM) -> LLM | None:
    """Return the model configured to call tools natively; None if it does not.

    Args:
        llm: Any model; for a model of another package, its metadata decide.

    Raises:
        ModelError: If a server must be asked, and fails.
    """
    if isinstance(llm, TakesTools):
        return llm.with_tools()
    return llm if llm.metadata.is_function_calling_model else None


def read_tool_calls(message: Json) -> list[ToolCallBlock]:
    """Return the calls of an answer in the format of chat completions.

    Arguments that are not a JSON object stay text, and the tool reports the error.

    Raises:
        KeyError, TypeError, AttributeError: For another format.
    """
    return [
        ToolCallBlock(
            tool_call_id=str(call.get("id") or call["function"]["name"]),
            tool_name=call["function"]["name"],
            tool_kwargs=_read_arguments(call["function"].get("arguments") or "{}"),
        )
        for call in message.get("tool_calls") or ()
    ]


def write_message(message: ChatMessage) -> Json:
    """Return a message in the format of chat completions, with its tool calls."""
    written: Json = {"role": message.role.value, "content": _write_content(message)}
    calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if calls:
        written["tool_calls"] = [_write_call(call) for call in calls]
    if answered := message.additional_kwargs.get("tool_call_id"):
        written["tool_call_id"] = answered
    return written


def _write_content(message: ChatMessage) -> str | list[Json]:
    """Return the text, or the parts of a message with pictures."""
    if not has_picture(message):
        return message.content or ""
    parts: list[Json] = []
    for block in message.blocks:
        if isinstance(block, ImageBlock):
            picture = {"url": block.inline_url()}
            parts.append({"type": "image_url", "image_url": picture})
        elif isinstance(block, TextBlock):
            parts.append({"type": "text", "text": block.text})
    return parts


def has_picture(message: ChatMessage) -> bool:
    """Return whether a message has a picture."""
    return any(isinstance(block, ImageBlock) for block in message.blocks)


def refuse_pictures(model: str) -> ModelError:
    """Return the error of a model that reads no pictures."""
    return ModelError(
        f"{model!r} reads no pictures",
        "choose a model with vision in roles.vision, for example "
        "{strategy: ollama, options: {llm_model: qwen2.5vl:7b}}",
    )


class ToolCallingLLM(FunctionCallingLLM):
    """Tool calls in the format of chat completions."""

    native_tools: bool = False

    def with_tools(self) -> LLM | None:
        """Return itself if its server was configured to support tools."""
        return self if self.native_tools else None

    @override
    def _prepare_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> Json:
        asked = ChatMessage(content=user_msg) if isinstance(user_msg, str) else user_msg
        return {
            "messages": [*(chat_history or ()), *([asked] if asked else ())],
            "tools": [tool.metadata.to_openai_tool() for tool in tools],
            "tool_choice": "required" if tool_required else "auto",
            "parallel_tool_calls": allow_parallel_tool_calls,
            **kwargs,
        }

    @override
    def get_tool_calls_from_response(
        self,
        response: ChatResponse,
        error_on_no_tool_call: bool = True,
        **kwargs: Any,
    ) -> list[ToolSelection]:
        """Return the calls of an answer. Raises ValueError for none, if requested."""
        blocks = response.message.blocks
        calls = [block for block in blocks if isinstance(block, ToolCallBlock)]
        if error_on_no_tool_call and not calls:
            raise ValueError("the model called no tool")
        return [
            ToolSelection(
                tool_id=call.tool_call_id or call.tool_name,
                tool_name=call.tool_name,
                tool_kwargs=call.tool_kwargs,
            )
            for call in calls
        ]


def _read_arguments(given: Any) -> Json | str:
    if isinstance(given, dict):
        return given
    try:
        read = json.loads(given)
    except json.JSONDecodeError:
        return str(given)
    return read if isinstance(read, dict) else str(given)


def _write_call(call: ToolCallBlock) -> Json:
    given = call.tool_kwargs
    arguments = given if isinstance(given, str) else json.dumps(given)
    function = {"name": call.tool_name, "arguments": arguments}
    return {"id": call.tool_call_id, "type": "function", "function": function}
