"""Errors of model servers."""

from collections.abc import Iterable

from elt_llm_core.errors.base_error import EltLlmError


class ModelError(EltLlmError):
    """The model server failed."""

    code = "MOD001"
    exit_code = 69
    status = 503


class ModelUnavailableError(ModelError):
    """No model server answers at the address."""

    code = "MOD002"

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            f"no model server answers at {url} ({reason})",
            "start it (ollama serve), or work without a model server: --profile "
            "default",
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
    """The server accepted the request and then sent nothing for too long."""

    code = "MOD004"

    def __init__(self, model: str, seconds: float) -> None:
        super().__init__(
            f"{model!r} sent nothing for {seconds:g} s",
            "use a smaller model or raise ollama.request_timeout",
        )


class PromptTruncatedError(ModelError):
    """The server truncated the prompt to its context window, so the answer is unusable.

    `room` is the number of tokens that the model reads, as far as known.
    """

    code = "MOD005"

    def __init__(self, model: str, sent: int, read: int) -> None:
        self.room = min(sent, read)
        super().__init__(
            f"{model!r} read {read} tokens of a prompt of about {sent}",
            "raise ollama.context_window or lower query.reranker_top_k",
        )


class OutOfTimeError(ModelError):
    """A question exceeded its time limit; models are not called any more."""

    code = "MOD006"

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the question took more than {seconds:g} s",
            "raise query.question_timeout, or use a smaller model",
        )


class EndlessAnswerError(ModelError):
    """A model server sent more tokens, or for longer, than was requested."""

    code = "MOD007"

    def __init__(self, url: str, amount: str) -> None:
        super().__init__(
            f"the model server at {url} does not stop generating ({amount})",
            "update the server: it must respect num_predict or max_tokens",
        )


class SilentServerError(ModelError):
    """Calls to a model server are suspended after repeated failures."""

    code = "MOD008"

    def __init__(self, url: str, seconds: float, reason: str) -> None:
        super().__init__(
            f"calls to the model server at {url} are suspended for "
            f"{max(seconds, 1):.0f} s ({reason})",
            "check the server's log, or work without a model server: --profile default",
        )


class ModelBusyError(ModelError):
    """A model server has reached its limit of concurrent calls.

    `seconds` is the time after which to retry; 0 if the server does not say.
    """

    code = "MOD009"
    status = 429

    def __init__(self, url: str, seconds: int, reason: str) -> None:
        when = f"in {seconds} s" if seconds else "later"
        super().__init__(
            f"the model server at {url} is busy ({reason})",
            f"try again {when}, with fewer requests at a time",
        )
        self.seconds = seconds


class RunnerDiedError(ModelError):
    """The process that runs the model crashed inside the server."""

    code = "MOD010"

    def __init__(self, model: str, message: str) -> None:
        super().__init__(
            f"the process that runs {model!r} crashed ({message})",
            "it may be out of memory: use a smaller model or a smaller context_window",
        )


class BrokenAnswerError(ModelError):
    """The connection closed before the answer was complete."""

    code = "MOD011"


class BudgetSpentError(ModelError):
    """The budget for model calls of a question, a job or a day is used up."""

    code = "MOD012"

    def __init__(
        self, account: str, unit: str, spent: str, limit: str, key: str = ""
    ) -> None:
        own = f"gateway.{account.partition(' ')[0]}_{unit}"
        super().__init__(
            f"the {account} exceeds its model budget ({spent} of {limit} {unit})",
            f"raise {key}" if key else f"raise {own}, or set it to 0 for no limit",
        )


class AnswerShapeError(ModelError):
    """A model was asked for JSON of a given schema and twice returned something else.

    `text` is its output, `faults` the validation errors.
    """

    code = "MOD013"

    def __init__(self, model: str, shape: str, text: str, faults: str) -> None:
        super().__init__(
            f"the answer of {model!r} does not match the schema {shape!r} ({faults})",
            "try again, or use another model",
        )
        self.text = text
        self.faults = faults
