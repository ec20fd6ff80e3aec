"""Runs the server until it is interrupted."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from elt_llm_api.server.listening import check_exposure, listen, server_url
from elt_llm_core.config.sections import RagConfig

if TYPE_CHECKING:
    from elt_llm_core.store import Store

STOP_SECONDS = 3  # seconds; the page keeps streams open that never end by themselves


def run(
    config: RagConfig,
    open_store: "Callable[[], Store]",
    started: Callable[[str], None],
) -> None:
    """Serve until interrupted.

    Args:
        config: The configuration in force.
        open_store: Opens the data root, after the address has been checked.
        started: Is called with the URL once the socket listens.

    Raises:
        ConfigError: If the address is not allowed or not on this machine.
        PortTakenError: If another program listens there.
    """
    check_exposure(config.api)
    sock = listen(config.api.host, config.api.port)
    try:
        # After the checks, because loading all this takes seconds.
        import uvicorn  # noqa: PLC0415

        from elt_llm_api.app import create_app  # noqa: PLC0415
        from elt_llm_api.server.command_socket import serving_commands  # noqa: PLC0415

        app = create_app(config, open_store())
        started(server_url(sock))
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level=logging.getLevelName(config.logging.level),
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=STOP_SECONDS,
            )
        )
        with serving_commands(app.state.service, app.state.queue):
            server.run(sockets=[sock])
    finally:
        sock.close()
