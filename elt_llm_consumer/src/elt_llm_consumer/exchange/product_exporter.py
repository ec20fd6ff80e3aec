"""All formats for a server: lists them, and writes to memory instead of a file."""

from typing import Any

from pydantic_core import PydanticUndefined
from typing_extensions import override

from elt_llm_consumer.exchange.exporting import ExportOptions, convert_product
from elt_llm_consumer.exchange.glossary_format import FORMATS, load_format
from elt_llm_consumer.exchange.glossary_terms import TermStatus
from elt_llm_core.errors import MissingExtraError, UsageError
from elt_llm_core.product_exports import (
    ExportedFile,
    Exporter,
    ExportRequest,
    FormatNote,
    FormatOption,
)
from elt_llm_core.store import Store

_MEDIA_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".ttl": "text/turtle; charset=utf-8",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".yml": "application/yaml",
}


class ProductExporter(Exporter):
    """The formats of the stage `formats` over the products of this package."""

    @override
    def formats(self, allow: frozenset[str]) -> list[FormatNote]:
        return [_note(name, allow) for name in FORMATS.known()]

    @override
    def export(
        self, store: Store, request: ExportRequest, allow: frozenset[str]
    ) -> ExportedFile:
        cls: Any = FORMATS.strategy_class(request.format, allow)
        for option in request.options:
            # A server must not open a file that a request names.
            if option in cls.local_options:
                raise UsageError(
                    f"the option {option!r} is a file on this machine",
                    "use it with `elt-llm export` on that machine",
                )
        chosen = load_format(request.format, request.options, allow)
        written, report = convert_product(
            chosen,
            ExportOptions(
                format=request.format,
                collections=request.collections,
                product=request.product,
                name=request.name,
                statuses=tuple(map(_status, request.statuses)),
                leave_out=request.leave_out,
            ),
            store,
        )
        stem = f"{request.product}_{'+'.join(request.collections)}_{request.format}"
        return ExportedFile(
            file_name=f"{stem}{chosen.ending}",
            media_type=_media_type(chosen.ending),
            content=written.content,
            report=report,
        )


def _note(name: str, allow: frozenset[str]) -> FormatNote:
    try:
        cls: Any = FORMATS.strategy_class(name, allow)
    except MissingExtraError as error:
        return FormatNote(
            name=name, title="", ending="", media_type="", holds=(), needs=error.hint
        )
    options = [
        FormatOption(
            name=option,
            description=field.description or "",
            default=None if field.default is PydanticUndefined else field.default,
        )
        for option, field in cls.model_fields.items()
        if option not in cls.local_options
    ]
    return FormatNote(
        name=name,
        title=cls.title,
        ending=cls.ending,
        media_type=_media_type(cls.ending),
        holds=tuple(sorted(cls.holds)),
        options=tuple(options),
    )


def _media_type(ending: str) -> str:
    return _MEDIA_TYPES.get(ending, "application/octet-stream")


def _status(name: str) -> TermStatus:
    try:
        return TermStatus(name.upper())
    except ValueError:
        known = ", ".join(TermStatus)
        raise UsageError(f"{name!r} is not a status", f"known: {known}") from None
