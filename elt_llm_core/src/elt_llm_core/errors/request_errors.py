"""Errors of HTTP requests."""

from elt_llm_core.errors.base_error import EltLlmError


class RequestError(EltLlmError):
    """A request whose fields are not as the schema asks, or cannot be read."""

    code = "API002"
    exit_code = 64
    status = 422


class ForeignHostError(RequestError):
    """The request names a host that this server does not answer for."""

    code = "API003"
    status = 400

    def __init__(self, host: str) -> None:
        super().__init__(
            f"the host {host[:80]!r} is not served here",
            "ask at a host that api.allowed_hosts names",
        )


class TokenNeededError(RequestError):
    """The server asks for a token, and this is none or another."""

    code = "API004"
    status = 401

    def __init__(self) -> None:
        super().__init__("a token is needed", "send it as Authorization: Bearer TOKEN")


class ForeignSiteError(RequestError):
    """A page of another site asks, in a browser of ours."""

    code = "API005"
    status = 403

    def __init__(self) -> None:
        super().__init__(
            "requests from other sites are not served",
            "open the page of this server itself, or ask from a program",
        )


class NothingThereError(RequestError):
    """No route, document, page or job of that address."""

    code = "API006"
    status = 404


class MethodError(RequestError):
    """The route is there, and does not take this method."""

    code = "API007"
    status = 405


class TooLargeError(RequestError):
    """The body is larger than the server takes."""

    code = "API008"
    status = 413


class BusyError(RequestError):
    """More questions or jobs wait than the server lets wait."""

    code = "API009"
    status = 429

    def __init__(self, seconds: int, work: str = "answering as many questions") -> None:
        super().__init__(f"the server is {work} as it can", f"ask again in {seconds} s")
        self.seconds = seconds


class TooManyGuessesError(RequestError):
    """Too many wrong tokens came from one address."""

    code = "API010"
    status = 429

    def __init__(self, seconds: int) -> None:
        super().__init__(
            "too many wrong tokens came from this address", f"wait {seconds} s"
        )
        self.seconds = seconds


class RevisionNeededError(RequestError):
    """A decision names no revision, and could replace one that nobody saw."""

    code = "API011"
    status = 428

    def __init__(self) -> None:
        super().__init__(
            "a decision needs the header If-Match",
            'send the ETag of the item that was seen, such as If-Match: "3"',
        )
