"""The command `elt-llm mcp`: the tools on standard input and output."""

import os
import signal
from importlib.util import find_spec
from typing import Any

import click

from elt_llm_core.cli.common import CommandContext, common_options


@click.command("mcp")
@common_options
def mcp_command(ctx: CommandContext) -> None:
    """Serve the documents to an MCP client on standard input and output.

    A client such as an editor or a chat program starts it; logs go to stderr. Exits 78
    if the extra mcp is not installed.
    """
    import anyio

    from elt_llm_api.mcp_server.http_endpoint import missing_sdk

    if find_spec("mcp") is None:
        raise missing_sdk()
    from elt_llm_api.api_context import build_context
    from elt_llm_api.mcp_server.tool_server import build_server
    from elt_llm_api.server.question_queue import QuestionQueue

    config = ctx.config
    queue = QuestionQueue(config.api.questions_at_once, config.api.questions_waiting)
    server = build_server(build_context(config, ctx.store), queue)
    signal.signal(signal.SIGINT, _leave)
    try:
        anyio.run(server.run_stdio_async)
    finally:
        queue.close()


def _leave(*_: Any) -> None:
    """Exit at once, because the SDK's thread waits for input; nothing is lost."""
    from elt_llm_core.jobs import INTERRUPTED

    os._exit(INTERRUPTED)
