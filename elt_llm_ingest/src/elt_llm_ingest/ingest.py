"""The job that ingests documents: discover, read, chunk, embed, store, publish."""

from typing_extensions import override

from elt_llm_core.jobs import JobContext, JobReport, Runner
from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.options import IngestOptions


class IngestJob(IngestOptions, Strategy[Runner]):
    """Ingests files and folders into a collection.

    A file that is stored with the same content and settings is skipped. A file that
    cannot be read is reported and the others are processed. Exactly one of `collection`
    and `collection_prefix` is given; with a prefix, models and inventories are spread
    over `<prefix>_entities`, `<prefix>_relationships` and one `<prefix>_<type>` each.
    """

    @override
    def build(self, models: Models) -> Runner:
        def run(context: JobContext) -> JobReport:
            from elt_llm_ingest.pipeline import IngestPipeline  # noqa: PLC0415 - late

            return IngestPipeline(self, models, context).run()

        return run
