"""Errors of model servers."""

from collections.abc import Iterable

from elt_llm_core.errors.base_error import EltLlmError


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
    """The server cut the prompt to its window; its answer is not to be believed.

    `room` is the length in tokens that it may read, as far as is known.
    """

    code = "MOD005"

    def __init__(self, model: str, sent: int, read: int) -> None:
        self.room = min(sent, read)
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
    """A model server failed or kept silent a moment ago and is left alone for now."""

    code = "MOD008"

    def __init__(self, url: str, seconds: float, reason: str) -> None:
        super().__init__(
            f"the model server at {url} is left alone for {max(seconds, 1):.0f} s "
            f"({reason})",
            "look at the server's log, or do without: --profile default",
        )


class ModelBusyError(ModelError):
    """A model server has as many calls as it takes.

    `seconds` says when to ask again; 0 where the server does not say.
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
    """The process that runs the model ended inside the server."""

    code = "MOD010"

    def __init__(self, model: str, message: str) -> None:
        super().__init__(
            f"the process that ran {model!r} ended ({message})",
            "it may lack memory: use a smaller model or context_window",
        )


class BrokenAnswerError(ModelError):
    """The connection ended before the answer was whole."""

    code = "MOD011"


class BudgetSpentError(ModelError):
    """A question, a job or a day has spent what it may on models."""

    code = "MOD012"

    def __init__(self, account: str, unit: str, spent: str, limit: str) -> None:
        key = f"gateway.{account.partition(' ')[0]}_{unit}"
        super().__init__(
            f"the {account} has spent {spent} of {limit} {unit} of models",
            f"raise {key}, or set it to 0 for no limit",
        )


class AnswerShapeError(ModelError):
    """A model was asked for JSON of a schema and wrote something else, twice.

    `text` is what it wrote, `faults` what is wrong with it.
    """

    code = "MOD013"

    def __init__(self, model: str, shape: str, text: str, faults: str) -> None:
        super().__init__(
            f"{model!r} did not answer in the shape {shape!r} ({faults})",
            "try again, or use another model",
        )
        self.text = text
        self.faults = faults
