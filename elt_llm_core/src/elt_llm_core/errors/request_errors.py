"""Errors of HTTP requests."""

from elt_llm_core.errors.base_error import EltLlmError


class RequestError(EltLlmError):
    """A request that cannot be parsed or does not match the schema."""

    code = "API002"
    exit_code = 64
    status = 422


class ForeignHostError(RequestError):
    """The `Host` header of the request is not in `api.allowed_hosts`."""

    code = "API003"
    status = 400

    def __init__(self, host: str) -> None:
        super().__init__(
            f"this server does not serve the host {host[:80]!r}",
            "use a host listed in api.allowed_hosts",
        )


class TokenNeededError(RequestError):
    """The server requires a token, and the request has none or a wrong one."""

    code = "API004"
    status = 401

    def __init__(self) -> None:
        super().__init__(
            "this server requires a token", "send it as Authorization: Bearer TOKEN"
        )


class ForeignSiteError(RequestError):
    """A page of another site sent the request from the user's browser."""

    code = "API005"
    status = 403

    def __init__(self) -> None:
        super().__init__(
            "requests from other sites are not served",
            "open the page of this server, or send the request from a program",
        )


class NothingThereError(RequestError):
    """There is no route, document, page or job at that address."""

    code = "API006"
    status = 404


class MethodError(RequestError):
    """The route does not support this method."""

    code = "API007"
    status = 405


class TooLargeError(RequestError):
    """The body of the request exceeds the limit."""

    code = "API008"
    status = 413


class BusyError(RequestError):
    """The queue of questions or jobs is full."""

    code = "API009"
    status = 429

    def __init__(self, seconds: int, work: str = "answering as many questions") -> None:
        super().__init__(f"the server is {work} as it can", f"ask again in {seconds} s")
        self.seconds = seconds


class TooManyGuessesError(RequestError):
    """One address sent too many wrong tokens."""

    code = "API010"
    status = 429

    def __init__(self, seconds: int) -> None:
        super().__init__("this address sent too many wrong tokens", f"wait {seconds} s")
        self.seconds = seconds


class RevisionNeededError(RequestError):
    """A decision names no revision and could overwrite a newer decision."""

    code = "API011"
    status = 428

    def __init__(self) -> None:
        super().__init__(
            "a decision requires the header If-Match",
            'send the ETag of the item you read, for example If-Match: "3"',
        )
