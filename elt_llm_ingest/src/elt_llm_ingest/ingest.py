"""The job that takes documents in: plan, read, chunk, embed, store, publish."""

from typing import Any

from pydantic import Field, SecretStr, model_validator
from typing_extensions import override

from elt_llm_core.identifiers import collection_id
from elt_llm_core.jobs import JobContext, JobReport, Runner
from elt_llm_core.strategy import Models, Strategy

Scalar = str | int | float | bool


class IngestJob(Strategy[Runner]):
    """Takes files and folders into a collection.

    A file that is there with the same content and settings is left alone. A file that
    cannot be read is reported and the others go on. Exactly one of `collection` and
    `collection_prefix` is given; with a prefix, models and inventories are spread over
    `<prefix>_entities`, `<prefix>_relationships` and one `<prefix>_<type>` each.
    """

    paths: tuple[str, ...] = Field(
        min_length=1, description="files, folders, patterns, file:// addresses"
    )
    collection: str = Field(
        default="", description="where the documents go: an id, or a name for people"
    )
    collection_title: str = Field(
        default="", description="the name for people, where `collection` is an id"
    )
    collection_prefix: str = Field(default="", description="of several collections")
    rebuild: bool = Field(default=False, description="read unchanged files again too")
    prune: bool = Field(default=False, description="remove documents without a file")
    wait: float = Field(default=0.0, ge=0, description="seconds for another writer")
    uris: tuple[str, ...] = Field(default=(), description="addresses, one a path")
    titles: tuple[str, ...] = Field(default=(), description="titles, one a path")
    dry_run: bool = Field(default=False, description="read and cut, store nothing")
    passwords: tuple[SecretStr, ...] = Field(
        default=(), exclude=True, description="to try on protected PDFs; kept nowhere"
    )
    metadata: dict[str, Scalar] = Field(
        default_factory=dict, description="put on every chunk"
    )

    @model_validator(mode="before")
    @classmethod
    def _with_id(cls, values: Any) -> Any:
        """Keep what people call the collection beside the id that is made of it."""
        name = values.get("collection") if isinstance(values, dict) else None
        if not name or not isinstance(name, str):
            return values
        key = collection_id(name)
        return {
            "collection_title": "" if key == name else name.strip(),
            **values,
            "collection": key,
        }

    @model_validator(mode="after")
    def _one_target(self) -> "IngestJob":
        if bool(self.collection) == bool(self.collection_prefix):
            msg = "give either collection or collection_prefix"
            raise ValueError(msg)
        return self

    @override
    def build(self, models: Models) -> Runner:
        def run(context: JobContext) -> JobReport:
            from elt_llm_ingest.run import Run  # noqa: PLC0415 - late

            given = [password.get_secret_value() for password in self.passwords]
            return Run(self, models, context, given).run()

        return run
