"""Exports: products as files for other catalogues, with the latest decisions."""

from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from elt_llm_api.routes.dependencies import Config, Data, problems
from elt_llm_api.schemas import Wire
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import (
    ConfigError,
    ExchangeError,
    NothingThereError,
    UnknownStrategyError,
    UsageError,
)
from elt_llm_core.product_exports import (
    ExchangeReport,
    ExportedFile,
    ExportRequest,
    FormatNote,
    load_exporter,
    parse_options,
)
from elt_llm_core.store import Store

router = APIRouter(prefix="/v1/exports", tags=["exports"])
Format = Annotated[str, Path(max_length=100, examples=["purview_classic"])]
_SHOWN = 50  # problems in an error; the check has all of them


class FormatList(Wire):
    """The export formats of products."""

    data: list[FormatNote]


class ExportQuery(BaseModel):
    """The product, and the options of its export."""

    model_config = ConfigDict(extra="forbid")

    product: Literal["glossary", "catalog"] = "glossary"
    collection: list[str] = Field(min_length=1, max_length=64)
    status: list[str] = Field(
        default_factory=list,
        max_length=6,
        description="only terms with these statuses, such as APPROVED; default: "
        "all but REJECTED",
    )
    name: str = Field(default="", max_length=200, description="of the glossary")
    leave_out: bool = Field(
        default=False, description="omit terms that the target would reject"
    )
    option: list[str] = Field(
        default_factory=list,
        max_length=20,
        description="options of the format as KEY=VALUE",
    )


class ExportCheck(Wire):
    """The result of a trial export: file name, size and report."""

    file_name: str
    media_type: str
    size: int = Field(description="bytes")
    accepted: bool = Field(description="false if the target would reject the file")
    report: ExchangeReport


Asked = Annotated[ExportQuery, Query()]


@router.get("", operation_id="list_exports")
def list_exports(config: Config) -> FormatList:
    """The export formats of products, with the fields of each."""
    allow = config.allowed_plugins()
    return FormatList(data=load_exporter(allow).formats(allow))


@router.get(
    "/{format_name}",
    operation_id="export_product",
    responses=problems(404, 422),
    response_class=Response,
)
def export_product(
    format_name: Format, asked: Asked, config: Config, store: Data
) -> Response:
    """A product as a file for another catalogue; 422 if that would refuse it."""
    made = _export(config, store, format_name, asked)
    refused = [one.sentence() for one in made.report.problems if one.is_error]
    if refused:
        raise ExchangeError(
            f"the target would reject {len(refused)} values of the file",
            "fix the terms, or omit them: leave_out=true",
            refused[:_SHOWN],
        )
    name = quote(made.file_name, safe="")
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(made.content, media_type=made.media_type, headers=headers)


@router.get(
    "/{format_name}/check", operation_id="check_export", responses=problems(404, 422)
)
def check_export(
    format_name: Format, asked: Asked, config: Config, store: Data
) -> ExportCheck:
    """Values that the target would refuse, and lost fields; writes nothing."""
    made = _export(config, store, format_name, asked)
    report = made.report.model_copy(update={"action": "check"})
    return ExportCheck(
        file_name=made.file_name,
        media_type=made.media_type,
        size=len(made.content),
        accepted=not any(one.is_error for one in report.problems),
        report=report,
    )


def _export(
    config: RagConfig, store: Store, name: str, asked: ExportQuery
) -> ExportedFile:
    allow = config.allowed_plugins()
    request = ExportRequest(
        format=name,
        product=asked.product,
        collections=tuple(store.card(one).name for one in asked.collection),
        name=asked.name,
        statuses=tuple(asked.status),
        leave_out=asked.leave_out,
        options=parse_options(asked.option),
    )
    try:
        return load_exporter(allow).export(store, request, allow)
    except UnknownStrategyError as error:
        raise NothingThereError(error.message, error.hint) from error
    except ConfigError as error:  # a wrong option is an error of the request
        raise UsageError(error.message, error.hint) from error
