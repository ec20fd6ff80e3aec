"""Running the application until it is told to stop."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from elt_llm_api.binding import address, check_exposure, listen
from elt_llm_core.config.sections import RagConfig

if TYPE_CHECKING:
    from elt_llm_core.store import Store

STOP_SECONDS = 3  # the page keeps streams open that would never end by themselves


def run(
    config: RagConfig,
    open_store: "Callable[[], Store]",
    started: Callable[[str], None],
) -> None:
    """Serve until interrupted. `started` hears the URL once the socket listens."""
    check_exposure(config.api)
    sock = listen(config.api.host, config.api.port)
    try:
        # After the checks, because loading all this takes seconds.
        import uvicorn  # noqa: PLC0415

        from elt_llm_api.app import create_app  # noqa: PLC0415
        from elt_llm_api.commands import serving_commands  # noqa: PLC0415

        app = create_app(config, open_store())
        started(address(sock))
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level=logging.getLevelName(config.logging.level),
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=STOP_SECONDS,
            )
        )
        with serving_commands(app.state.service, app.state.gate):
            server.run(sockets=[sock])
    finally:
        sock.close()
