"""Errors of model servers."""

from collections.abc import Iterable

from elt_llm_core.errors.base import EltLlmError


class ModelError(EltLlmError):
    """The model server failed."""

    code = "MOD001"
    exit_code = 69
    status = 503


class ModelUnavailableError(ModelError):
    """Nobody answers at the model server's address."""

    code = "MOD002"

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            f"no model server answers at {url} ({reason})",
            "start it (ollama serve), or do without: --profile default",
        )


class ModelMissingError(ModelError):
    """The server runs but does not have the model."""

    code = "MOD003"

    def __init__(self, model: str, known: Iterable[str]) -> None:
        names = ", ".join(sorted(known)) or "none"
        super().__init__(
            f"the model server has no model {model!r} (it has: {names})",
            f"fetch it: ollama pull {model}",
        )


class ModelTimeoutError(ModelError):
    """The server accepted the request and then said nothing for too long."""

    code = "MOD004"

    def __init__(self, model: str, seconds: float) -> None:
        super().__init__(
            f"{model!r} sent nothing for {seconds:g} s",
            "use a smaller model or raise ollama.request_timeout",
        )


class PromptTruncatedError(ModelError):
    """The server cut the prompt to its window; its answer is not to be believed."""

    code = "MOD005"

    def __init__(self, model: str, sent: int, read: int) -> None:
        super().__init__(
            f"{model!r} read {read} tokens of a prompt of about {sent}",
            "raise ollama.context_window or lower query.reranker_top_k",
        )


class OutOfTimeError(ModelError):
    """A question has used up its time; what its models would still say is left out."""

    code = "MOD006"

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the question took more than {seconds:g} s",
            "raise query.question_timeout, or use a smaller model",
        )


class EndlessAnswerError(ModelError):
    """A model server sent more, or for longer, than it was asked for."""

    code = "MOD007"

    def __init__(self, url: str, amount: str) -> None:
        super().__init__(
            f"the answer of the model server at {url} does not end ({amount})",
            "update the server: it must keep to num_predict or max_tokens",
        )


class SilentServerError(ModelError):
    """A model server kept silent a moment ago and is not asked again yet."""

    code = "MOD008"

    def __init__(self, url: str, seconds: float) -> None:
        super().__init__(
            f"the model server at {url} did not answer in time and is left alone "
            f"for {max(seconds, 1):.0f} s",
            "look at the server's log, or do without: --profile default",
        )
