"""A GGUF file run in this process by llama.cpp (package xllamacpp, extra `llm`)."""

import asyncio
import queue
import secrets
import threading
from collections.abc import AsyncGenerator, Generator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import xllamacpp
from llama_index.core.llms import LLM
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.errors import ConfigError, ModelError, PromptTruncatedError
from elt_llm_core.models.chat import ChatShaped, Json, error_text
from elt_llm_core.models.gateway.direct import DIRECT, Direct, Target
from elt_llm_core.models.gateway.kept_answers import Memo
from elt_llm_core.models.http import says_too_long
from elt_llm_core.models.minilm import available_cores
from elt_llm_core.models.token_count import Prompt
from elt_llm_core.patience import check_asker
from elt_llm_core.strategy import Models, Strategy

CACHE_MEGABYTES = 256
_SILENT = -1
# The models of this process share its cores, so they queue as for one local server.
HERE = "gguf://localhost"
HEAD_BYTES = 1 << 20  # the model's description and the first of its weights


def open_server(path: Path, context_window: int, threads: int) -> Any:
    """Return the engine with the model loaded. Raises ModelError if loading fails."""
    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.n_ctx = context_window
    settings.n_parallel = 1  # the window is divided by it
    settings.cpuparams.n_threads = threads
    settings.cpuparams_batch.n_threads = threads
    settings.cache_ram_mib = CACHE_MEGABYTES  # its default is 8 GB
    settings.warmup = False
    settings.verbosity = _SILENT
    # The engine always opens a local port that any web page can call. A random key
    # closes it; calls within the process need no key.
    settings.api_keys = [secrets.token_hex(32)]
    try:
        return xllamacpp.Server(settings)
    except (RuntimeError, ValueError) as error:
        raise ModelError(
            f"cannot load the model {path.name} ({error})",
            "check that the file is a complete GGUF file and fits into memory",
        ) from error


class GgufEngine:
    """The engine of one file, with the model loaded at first use."""

    def __init__(self, path: Path, context_window: int, threads: int) -> None:
        self.path = path
        self._open = partial(open_server, path, context_window, threads)
        self._lock = threading.Lock()
        self._server: Any = None

    def server(self) -> Any:
        """Return the engine. Raises ModelError if the model cannot be loaded."""
        with self._lock:
            if self._server is None:
                self._server = self._open()
            return self._server


class GgufLLM(ChatShaped):
    """A model in this process. Calls raise ModelError and its subclasses.

    One call runs at a time; the others wait for it. Copies share the engine.
    """

    _engine: GgufEngine = PrivateAttr()
    _gateway: Direct = PrivateAttr(default=DIRECT)

    def __init__(self, engine: GgufEngine, **fields: Any) -> None:
        super().__init__(**fields)
        self._engine = engine

    def use_gateway(self, gateway: Direct) -> None:
        """Make all calls through it."""
        self._gateway = gateway

    @property
    def model_digest(self) -> str:
        """Return the file's identity: its length, time and first megabyte.

        Hashing gigabytes of weights would take longer than an answer. Raises ModelError
        if the file cannot be read.
        """
        return _file_digest(self._engine.path)

    @override
    def _send(self, body: Json, prompt: Prompt) -> Json:
        return self._gateway.call(
            self._target, lambda: self._answer(body, prompt), self._memo(body)
        )

    @override
    async def _asend(self, body: Json, prompt: Prompt) -> Json:
        return await self._gateway.acall(
            self._target,
            lambda: asyncio.to_thread(self._answer, body, prompt),
            self._memo(body),
        )

    @override
    def _stream(self, body: Json, prompt: Prompt) -> Generator[Json, None, None]:
        return self._gateway.stream(self._target, lambda: self._parts(body, prompt))

    @override
    def _astream(self, body: Json, prompt: Prompt) -> AsyncGenerator[Json, None]:
        return self._gateway.astream(self._target, lambda: self._aparts(body, prompt))

    @property
    def _target(self) -> Target:
        return Target(HERE, self.model)

    def _memo(self, body: Json) -> Memo:
        return Memo(body, lambda: self.model_digest)

    def _answer(self, body: Json, prompt: Prompt) -> Json:
        server = self._engine.server()
        try:
            answer: Json = server.handle_chat_completions(body)
        except (RuntimeError, ValueError) as error:
            raise _failure(self.model, str(error)) from error
        return _require_answer(answer, prompt)

    def _parts(self, body: Json, prompt: Prompt) -> Generator[Json, None, None]:
        run = _Run(self._engine.server(), body, self.model)
        try:
            while (part := run.next()) is not None:
                check_asker()
                yield _require_answer(part, prompt)
        finally:
            run.close()

    async def _aparts(self, body: Json, prompt: Prompt) -> AsyncGenerator[Json, None]:
        server = await asyncio.to_thread(self._engine.server)
        run = _Run(server, body, self.model)
        try:
            while (part := await asyncio.to_thread(run.next)) is not None:
                check_asker()
                yield _require_answer(part, prompt)
        finally:
            await asyncio.to_thread(run.close)


class _Run:
    """One streamed call: the engine pushes parts from a thread, `next` returns them."""

    def __init__(self, server: Any, body: Json, model: str) -> None:
        self._parts: queue.Queue[Json | ModelError | None] = queue.Queue()
        self._left = threading.Event()
        self._worker = threading.Thread(
            target=self._work, args=(server, body, model), name="gguf", daemon=True
        )
        self._worker.start()

    def next(self) -> Json | None:
        """Return the next part, or None after the last. Raises ModelError."""
        part = self._parts.get()
        if isinstance(part, ModelError):
            raise part
        return part

    def close(self) -> None:
        """Stop the engine at its next token and wait for it."""
        self._left.set()
        self._worker.join()

    def _work(self, server: Any, body: Json, model: str) -> None:
        try:
            refused = server.handle_chat_completions(body, self._take)
            if isinstance(refused, dict):
                self._parts.put(refused)
            self._parts.put(None)
        except (RuntimeError, ValueError) as error:
            self._parts.put(_failure(model, str(error)))

    def _take(self, part: Json) -> bool:
        self._parts.put(part)
        return self._left.is_set()  # True stops the engine


class Gguf(Strategy[LLM | None]):
    """Answers from your own GGUF file, without a server."""

    model_path: Path
    context_window: int = Field(
        default=4096, gt=0, description="tokens, prompt + answer"
    )
    num_predict: int = Field(
        default=1024, gt=0, description="maximum tokens of an answer"
    )
    temperature: float = Field(default=0.0, ge=0)
    threads: int | None = Field(default=None, ge=1, description="None: all cores")

    @override
    def build(self, models: Models | None = None) -> GgufLLM:
        """Return the model, loaded at its first call. Raises ConfigError."""
        if not self.model_path.is_file():
            raise ConfigError(
                f"there is no model file {self.model_path}",
                "set model_path to a .gguf file",
            )
        threads = self.threads or available_cores()
        return GgufLLM(
            GgufEngine(self.model_path, self.context_window, threads),
            model=self.model_path.name,
            context_window=self.context_window,
            num_predict=self.num_predict,
            temperature=self.temperature,
        )


def _file_digest(path: Path) -> str:
    try:
        about = path.stat()
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise ModelError(
            f"cannot read the model file {path} ({error.strerror})",
            "set model_path to a .gguf file that this user may read",
        ) from error
    digest = sha256(f"{about.st_size} {about.st_mtime_ns}\n".encode())
    digest.update(head)
    return digest.hexdigest()


def _require_answer(part: Json, prompt: Prompt) -> Json:
    if "error" not in part:
        return part
    message = error_text(part)
    if says_too_long(int((part["error"] or {}).get("code", 0)), message):
        raise PromptTruncatedError(prompt.model, prompt.likely, prompt.window)
    raise _failure(prompt.model, message)


def _failure(model: str, message: str) -> ModelError:
    return ModelError(
        f"{model!r} failed ({message})", "a smaller model or context_window may help"
    )
