"""Build the application: context, routes, page, and the middleware around them."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from importlib.resources import files

from anyio import CapacityLimiter
from fastapi import FastAPI, Response
from fastapi.responses import RedirectResponse
from starlette.routing import Route

from elt_llm_api import problems
from elt_llm_api.api_context import ApiContext, build_context
from elt_llm_api.chat_turns import ChatTurns
from elt_llm_api.job_registry import JobRegistry
from elt_llm_api.mcp_server.http_endpoint import PATH as MCP_PATH
from elt_llm_api.mcp_server.http_endpoint import McpEndpoint
from elt_llm_api.routes import routers
from elt_llm_api.routes.dependencies import problems as problem_replies
from elt_llm_api.server.exposure import check_exposure
from elt_llm_api.server.question_queue import QuestionQueue
from elt_llm_api.server.security import (
    BodyLimit,
    HostCheck,
    OriginCheck,
    RemoteFiles,
    SecurityHeaders,
    TokenCheck,
)
from elt_llm_api.server.upload_quota import UploadQuota
from elt_llm_api.uploads import Workspace
from elt_llm_core.config.sections import ApiSection, RagConfig
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.conversation.turn import LOCAL

PAGE_PATH = "/ui"
HEALTH_THREADS = 2  # of their own, so that health is answered while all others are busy


def create_app(
    config: RagConfig, store: Store | None = None, models: Models | None = None
) -> FastAPI:
    """Build the HTTP API with the page at /ui.

    Args:
        config: The configuration in force.
        store: The data root; by default the configured one.
        models: The models; by default the configured ones, loaded by the first
            question.

    Returns:
        An ASGI application. Its lifespan deletes uploads and stops questions.

    Raises:
        ConfigError: If the address can be reached from other machines and no token is
            set.
    """
    check_exposure(config.api)
    context = build_context(config, store, models)
    jobs = JobRegistry()
    queue = QuestionQueue(config.api.questions_at_once, config.api.questions_waiting)
    app = _api(context, jobs, queue)
    _mount_page(app, context, jobs, queue)
    _guard(app, config.api, jobs.workspace)
    return app


def _api(context: ApiContext, jobs: JobRegistry, queue: QuestionQueue) -> FastAPI:
    mcp = McpEndpoint(context, queue)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        app.state.health = CapacityLimiter(HEALTH_THREADS)
        async with mcp.serving():
            yield
        queue.close()
        jobs.close()

    # FastAPI's pages /docs and /redoc load scripts from other servers, so they are off.
    app = FastAPI(
        title="elt_llm",
        version=version("elt-llm-api"),
        description="Answers from your documents, with proof.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.context = context
    app.state.jobs = jobs
    app.state.queue = queue
    app.state.turns = ChatTurns(queue)
    problems.install_handlers(app)
    for router in routers():
        app.include_router(router, responses=problem_replies(400, 401, 403, 413, 429))

    # All methods, so that unsupported ones get the SDK's 405.
    app.router.routes.append(Route(MCP_PATH, endpoint=mcp))
    app.add_api_route("/", _root, include_in_schema=False)
    app.add_api_route("/favicon.ico", _icon, include_in_schema=False)
    return app


def _root() -> RedirectResponse:
    return RedirectResponse("/workspace")


def _icon() -> Response:
    icon = (files("elt_llm_api.page") / "static" / "favicon.svg").read_bytes()
    return Response(icon, media_type="image/svg+xml")


def _mount_page(
    app: FastAPI, context: ApiContext, jobs: JobRegistry, queue: QuestionQueue
) -> None:
    # Gradio reads these when it is imported: no telemetry, no model hub.
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    # The folder of uploads to the page; Gradio reads it for every file.
    os.environ["GRADIO_TEMP_DIR"] = str(jobs.workspace.sent)
    from elt_llm_api.page.gradio_page import GradioPage, mount  # noqa: PLC0415  # after the lines above

    async def mount_page() -> None:
        mount(app, GradioPage(context, jobs, queue), PAGE_PATH)

    # Outside a running event loop Gradio creates a dozen loops and closes none.
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(mount_page())
    else:
        mount(app, GradioPage(context, jobs, queue), PAGE_PATH)


def _guard(app: FastAPI, api: ApiSection, workspace: Workspace) -> None:
    """Add the middleware, innermost first: Host is checked before all else."""
    app.add_middleware(RemoteFiles, path=PAGE_PATH)
    app.add_middleware(UploadQuota, path=PAGE_PATH, folder=workspace.sent, api=api)
    app.add_middleware(BodyLimit, upload_mb=api.max_upload_mb)
    tokens = dict(api.users)
    if api.token.get_secret_value():
        tokens[LOCAL] = api.token
    if tokens:
        app.add_middleware(TokenCheck, tokens=tokens)
    app.add_middleware(OriginCheck)
    app.add_middleware(HostCheck, allowed=api.allowed_hosts)
    app.add_middleware(SecurityHeaders)
