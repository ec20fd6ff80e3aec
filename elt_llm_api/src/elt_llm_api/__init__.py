"""The HTTP API and the page: `create_app(config)` returns an ASGI application.

It is imported on first use, because `elt-llm --help` must not wait for FastAPI.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elt_llm_api.app import create_app

__all__ = ["create_app"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from elt_llm_api.app import create_app  # noqa: PLC0415  # see above

    return create_app
