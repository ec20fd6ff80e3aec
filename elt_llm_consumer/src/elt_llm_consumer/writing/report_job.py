"""`elt-llm report`: fill a template from documents."""

from typing import Any

from pydantic import Field
from typing_extensions import override

from elt_llm_consumer.writing.part_writer import PartRequest
from elt_llm_consumer.writing.report_template import (
    ReportTemplate,
    find_template,
    parse_template,
)
from elt_llm_consumer.writing.writing_job import Authoring, WritingJob
from elt_llm_core.errors import UsageError
from elt_llm_core.jobs import JobContext, JobReport, Runner
from elt_llm_core.strategy import Models
from elt_llm_core.versions import VersionKind
from elt_llm_core.written import WrittenText


class ReportJob(WritingJob):
    """Options of a report."""

    template: str = Field(
        default="", description="name of a shipped template, or a file"
    )
    template_text: str = Field(
        default="",
        max_length=1_000_000,
        description="text of the template, instead of a name",
    )
    template_format: str = Field(
        default="yaml", description="format of the text: md, json"
    )

    @override
    def build(self, models: Models) -> Runner:
        """Return a runner that writes the report and stores it as a version."""
        template = self.read_template()
        return lambda context: self._run(context, models, template)

    def read_template(self) -> ReportTemplate:
        """Return the template. Raises UsageError or ConfigError."""
        if bool(self.template) == bool(self.template_text):
            raise UsageError("a report has one template", "pass a template or its text")
        if self.template:
            return find_template(self.template)
        return parse_template(self.template_text, self.template_format)

    def _run(
        self, context: JobContext, models: Models, template: ReportTemplate
    ) -> JobReport:
        authoring = Authoring(self, context, models)
        outline = template.outline()
        requests = [
            PartRequest(
                id=placed.id,
                heading=placed.section.heading,
                level=placed.level,
                guidance=placed.section.guidance,
                requirements=placed.section.requirements,
                context=outline,
            )
            for placed in template.placed_sections()
        ]
        key = authoring.key("report", template.model_dump_json())
        batch = authoring.write("report", requests, key)
        if batch.stopped:
            return batch.early_report("report")
        fields: dict[str, Any] = {
            "subject": template.subject,
            "title": template.title,
            "description": template.description,
        }
        text = authoring.assemble(VersionKind.REPORT, fields, requests, batch)
        report = JobReport(
            job="report",
            counts=batch.counts_with(
                **count_parts(text), version=authoring.keep(text, key)
            ),
            degradations=batch.degradations,
            items=batch.failures,
        )
        return authoring.publish(report, [text])


def count_parts(*texts: WrittenText) -> dict[str, int]:
    """Return the counts of texts for a job's report."""
    return {
        "sections": sum(len(text.sections) for text in texts),
        "statements": sum(text.statement_count for text in texts),
        "gaps": sum(len(text.gaps) for text in texts),
    }
