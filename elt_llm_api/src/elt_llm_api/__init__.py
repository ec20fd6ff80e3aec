"""HTTP API and page: `create_app(config)` is an ASGI application.

It is loaded when first used, so that a command line that prints its help need not wait.
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
