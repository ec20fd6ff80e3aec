"""The command `elt-llm serve`, and running the server until it is interrupted."""

import gc
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from elt_llm_core.cli.common import CommandContext, common_options

if TYPE_CHECKING:
    from elt_llm_core.config.sections import RagConfig
    from elt_llm_core.store import Store

STOP_SECONDS = 3  # seconds; the page keeps streams open that never end
UNENCRYPTED = (
    "Other machines reach it by plain HTTP: tokens, questions and documents can be "
    "read on the way. Put a proxy that speaks HTTPS in front of it."
)
# Time slice of a thread that answers a question: the thread that reads requests waits
# for it once per system call and running question.
SWITCH_SECONDS = 0.0005
# Python's own intervals between scans of new objects. The command line sets longer ones
# for products; with these, a scan of the middle generation in fifty conversations took
# 240 to 350 ms, and collected 90,000 to 150,000 objects. Full collections are twenty
# times rarer than Python's: each scans the 24,000 objects of fifty turns at work, 20 to
# 60 ms with all threads stopped, and a turn leaves it about 20 objects to collect.
SCANS = (700, 10, 200)
OLDEST = 2  # the generation of objects that outlived two collections


def run(
    config: "RagConfig",
    open_store: "Callable[[], Store]",
    started: Callable[[str], None],
) -> None:
    """Serve until interrupted.

    Args:
        config: The configuration in force.
        open_store: Opens the data root, after the address has been checked.
        started: Called with the URL once the socket listens.

    Raises:
        ConfigError: If the address is not allowed or not on this machine.
        PortTakenError: If another program listens there.
    """
    from elt_llm_api.server.exposure import check_exposure, listen, server_url

    check_exposure(config.api)
    sock = listen(config.api.host, config.api.port)
    try:
        # After the checks, because loading all this takes seconds.
        import uvicorn

        from elt_llm_api.app import create_app
        from elt_llm_api.server.command_socket import serving_commands

        app = create_app(config, open_store())
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level=logging.getLevelName(config.logging.level),
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=STOP_SECONDS,
            )
        )
        with keep_answering(), serving_commands(app.state.context, app.state.queue):
            started(server_url(sock))
            server.run(sockets=[sock])
    finally:
        sock.close()


@contextmanager
def keep_answering() -> Iterator[None]:
    """Prevent questions from delaying the thread that reads requests, for the body.

    Python's garbage collector stops all threads while it scans every object: for those
    of the imported packages a quarter of a second each time, unless they are frozen.
    The first questions import packages and load models too, and caches fill later. So
    the first, second, fourth, eighth ... full collection freezes all that exists, which
    takes no time. That includes the questions at work and their garbage, less than a
    megabyte each time that is never freed.
    """
    fulls = 0

    def freeze(phase: str, info: Mapping[str, int]) -> None:
        # Not by the number of objects: `gc.get_objects` breaks tuples that another
        # thread is making.
        nonlocal fulls
        if phase == "start" and info["generation"] == OLDEST:
            fulls += 1
            if fulls.bit_count() == 1:
                gc.freeze()

    gc.collect()
    gc.freeze()
    gc.callbacks.append(freeze)
    scans = gc.get_threshold()
    gc.set_threshold(*SCANS)
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        gc.set_threshold(*scans)
        gc.callbacks.remove(freeze)


def announce(url: str, host: str) -> str:
    """Return the URL, with a warning if others can read the traffic.

    Args:
        url: The address of the page.
        host: The address that the server listens on.

    Returns:
        One line, or two beyond loopback.
    """
    from elt_llm_api.server.exposure import is_loopback

    line = f"elt_llm serves {url}  (Ctrl-C stops)"
    return line if is_loopback(host) else f"{line}\n{UNENCRYPTED}"


@click.command()
@click.option("--host", help="Address to listen on; beyond loopback needs a token.")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Port to listen on; 0: any free port."
)
@common_options
def serve(ctx: CommandContext, host: str | None, port: int | None) -> None:
    """Serve the HTTP API and the page.

    Exit code 69 if the port is in use, 78 for a non-loopback address without a token.
    """
    given = {"host": host, "port": port}
    api = ctx.config.api.model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )
    run(
        ctx.config.model_copy(update={"api": api}),
        lambda: ctx.store,
        lambda url: click.echo(announce(url, api.host), err=True),
    )
