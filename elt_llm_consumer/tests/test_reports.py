"""Reports by template: what is written, cited, missing, kept, and in which formats."""

import io
import json
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from docx import Document
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata

from elt_llm_consumer.batch import run_items
from elt_llm_consumer.writing import writing_job
from elt_llm_consumer.writing.part_writer import PartWriter
from elt_llm_consumer.writing.report_job import ReportJob
from elt_llm_consumer.writing.report_template import (
    find_template,
    known_templates,
    make_slug,
    parse_template,
)
from elt_llm_consumer.writing.written_formats import ENDINGS, format_text
from elt_llm_core.errors import ConfigError, ModelUnavailableError, UsageError
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_core.versions import VersionKind
from elt_llm_core.written import NO_DATA, SectionState, WrittenText

TEMPLATE = """\
title: Leases <b>& more
sections:
  - heading: Ground Lease
    guidance: What is a Ground Lease? Which colour has the roof?
    subsections:
      - heading: Signing a Ground Lease
        guidance: Under which act must a Ground Lease be signed?
  - heading: Helicopters
"""


class Scribe(CustomLLM):
    """Answers a section with one true sentence, and tells what is missing."""

    prompts: list[str]
    away: bool = False

    @property
    def metadata(self):
        return LLMMetadata(model_name="scribe", context_window=8000)

    def complete(self, prompt, formatted=False, **kwargs):
        self.prompts.append(prompt)
        if self.away:
            raise ModelUnavailableError("http://localhost", "refused")
        if "What is missing:" in prompt:
            return CompletionResponse(text="The colour of the roof.")
        label = re.search(r"^\[(S\d+)\].*\n?.*Land Act", prompt, re.MULTILINE)
        if label is None:
            return CompletionResponse(text="The documents do not answer this.")
        text = (
            "A Ground Lease must be signed by both parties under the Land Act 1990 "
            f"[{label[1]}]. {NO_DATA} The height of the roof."
        )
        return CompletionResponse(text=text)

    def stream_complete(self, prompt, formatted=False, **kwargs):
        raise NotImplementedError


def write(context, models, **options):
    given = {"collections": ("handbook",), "template_text": TEMPLATE, **options}
    report = ReportJob.model_validate(given).build(models)(context)
    content = context.store.versions.get(VersionKind.REPORT, "leases-b-more").content
    return report, WrittenText.model_validate(content)


def by_model(context, **changes):
    query = context.config.query.model_copy(
        update={"synthesizer_strategy": "compact", **changes}
    )
    config = context.config.model_copy(update={"query": query})
    scribe = Scribe(prompts=[])
    return replace(context, config=config), Models(HashEmbedding(), scribe), scribe


def test_without_a_model_sections_are_sentences_of_the_documents(context, models):
    report, text = write(context, models)
    lease, signing, none = text.sections
    assert (report.counts["sections"], text.writer) == (3, "extracts")
    assert any("right to occupy a ground" in s.text for s in lease.statements)
    assert any("Land Act 1990" in s.text for s in signing.statements)
    for statement in (*lease.statements, *signing.statements):
        assert statement.sources
        handbook = context.store.document_text(statement.citations[0].document_id)
        assert all(c.quote in handbook for c in statement.citations)
    assert [gap.text for gap in lease.gaps] == ["Which colour has the roof?"]
    assert none.state is SectionState.INSUFFICIENT
    assert none.statements == ()
    assert "Ground Lease: Which colour has the roof?" in text.gaps


def test_a_question_whose_nearest_sentences_are_in_the_section_is_not_missing(
    context, models
):
    template = """\
title: Leases <b>& more
sections:
  - heading: Ground Lease
    guidance: |
      How often does a Ground Lease expire?
      Which colour has the roof?
"""
    _, text = write(context, models, template_text=template)
    (lease,) = text.sections
    assert any("expires at the end" in one.text for one in lease.statements)
    assert {gap.text: gap.uncertain for gap in lease.gaps} == {
        "How often does a Ground Lease expire?": True,
        "Which colour has the roof?": False,
    }
    assert text.gaps == (
        (
            "Ground Lease: How often does a Ground Lease expire? (no sure answer; the "
            "nearest sentences are in the section)"
        ),
        "Ground Lease: Which colour has the roof?",
    )


def test_sources_are_numbered_over_the_whole_report(context, models):
    _, text = write(context, models)
    order = [
        n for section in text.sections for s in section.statements for n in s.sources
    ]
    firsts = list(dict.fromkeys(order))
    assert firsts == list(range(1, len(firsts) + 1))
    assert [source.number for source in text.sources] == firsts
    assert len({source.node_id for source in text.sources}) == len(text.sources)


def test_an_unchanged_report_asks_nothing_and_changes_no_byte(context, tmp_path):
    own, models, scribe = by_model(context)
    options = {"formats": tuple(ENDINGS), "output": tmp_path / "out" / "leases.md"}
    write(own, models, **options)
    files = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    asked = len(scribe.prompts)
    report, _ = write(own, models, **options)
    assert report.counts["reused"] == 3
    assert report.counts["version"] == 1
    assert len(scribe.prompts) == asked
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == files
    assert sorted(files) == ["leases.docx", "leases.html", "leases.json", "leases.md"]


def test_the_writer_sees_the_whole_template_and_marks_what_is_missing(context):
    own, models, scribe = by_model(context)
    _, text = write(own, models)
    writing = [p for p in scribe.prompts if "You write one section" in p]
    assert len(writing) == 3
    assert all("Under which act" in p and "# Helicopters" in p for p in writing)
    signing = text.sections[1]
    assert text.writer == "scribe"
    assert [s.text for s in signing.statements] == [
        "A Ground Lease must be signed by both parties under the Land Act 1990."
    ]
    assert [gap.text for gap in signing.gaps][:1] == ["The height of the roof"]
    assert all(NO_DATA not in s.text for x in text.sections for s in x.statements)


def test_a_section_without_passages_asks_no_model(context, store, add, make):
    add(store, "blank", make("# Only a heading"))
    own, models, scribe = by_model(context)
    report, text = write(own, models, collections=("blank",), gap_rounds=2)
    assert scribe.prompts == []
    assert {s.state for s in text.sections} == {SectionState.INSUFFICIENT}
    assert report.counts["gaps"] == 4


def test_a_gap_round_searches_for_what_is_missing(context):
    own, models, scribe = by_model(context)
    _, once = write(own, models)
    asked = len(scribe.prompts)
    _, again = write(own, models, gap_rounds=1)
    assert len(scribe.prompts) > asked
    closed = [gap for section in again.sections for gap in section.gaps if gap.closed]
    assert closed
    assert len(again.gaps) < len(once.gaps) + len(closed)


def test_a_model_that_is_away_leaves_the_section_for_the_next_run(context):
    own, models, _ = by_model(context)
    models.llm.away = True
    with pytest.raises(ModelUnavailableError):
        write(own, models)
    assert context.store.versions.rows(VersionKind.REPORT) == []
    models.llm.away = False
    report, _ = write(own, models)
    assert report.counts["done"] == 3


def test_sections_are_written_at_a_time_as_the_setting_says(
    context, models, monkeypatch
):
    seen = []
    monkeypatch.setattr(
        writing_job,
        "run_items",
        lambda *a, **k: seen.append(k["at_once"]) or run_items(*a, **k),
    )
    consumer = context.config.consumer.model_copy(update={"items_at_once": 2})
    config = context.config.model_copy(update={"consumer": consumer})
    one = write(context, models)[1]
    two = write(replace(context, config=config), models, fresh=True)[1]
    assert seen == [context.config.consumer.items_at_once, 2]
    assert one.sections == two.sections


def test_a_section_that_fails_says_so_and_the_others_stand(
    context, models, monkeypatch
):
    whole, lock = PartWriter.write, threading.Lock()

    def torn(self, part):
        with lock:
            if part.heading == "Helicopters":
                raise UsageError("no wings")
        return whole(self, part)

    monkeypatch.setattr(PartWriter, "write", torn)
    report, text = write(context, models)
    assert (report.counts["failed"], report.exit_code) == (1, 2)
    assert text.sections[2].state is SectionState.FAILED
    assert "Not written: no wings" in format_text(text, "markdown")


def test_no_text_becomes_markup_and_word_opens(context, models):
    _, text = write(context, models)
    evil = text.model_copy(update={"description": "[x](http://x) <script>\x01"})
    markdown, page = format_text(evil, "markdown"), format_text(evil, "html")
    assert "\\[x\\](http://x) \\<script\\>" in markdown
    assert "<script>" not in page
    assert "Leases &lt;b&gt;&amp; more" in page
    read = Document(io.BytesIO(format_text(evil, "docx")))
    lines = [p.text for p in read.paragraphs]
    assert lines[0] == "Leases <b>& more"
    assert NO_DATA in lines
    assert json.loads(format_text(evil, "json"))["title"] == "Leases <b>& more"
    with pytest.raises(UsageError):
        format_text(evil, "pdf")


def test_a_template_in_markdown_is_the_same_as_in_yaml_and_json():
    yaml = parse_template(TEMPLATE, ".yaml")
    json_ = parse_template(yaml.model_dump_json(), ".json")
    markdown = parse_template(
        yaml.outline().replace("# L", "L").join(["# ", ""]), ".md"
    )
    assert json_ == yaml
    assert markdown.title == yaml.title
    placed = [(p.level, p.id) for p in yaml.placed_sections()]
    assert placed == [
        (1, "ground-lease"),
        (2, "signing-a-ground-lease"),
        (1, "helicopters"),
    ]


def test_headings_of_markdown_become_sections_and_their_text_guidance():
    text = "# T\nintro\n## A\n- one?\n- two?\n### B\nthree. four.\n## A\n"
    template = parse_template(text, ".md")
    assert template.description == "intro"
    placed = template.placed_sections()
    assert [(p.id, p.level) for p in placed] == [("a", 1), ("b", 2), ("a-2", 1)]
    assert placed[0].section.requirements == ("one?", "two?")
    assert placed[1].section.requirements == ("three.", "four.")


@pytest.mark.parametrize(
    "text",
    [
        *("title: x", "[", "title: x\nsections: [{guidance: y}]", "1", "a: &a [*a]"),
        "title: x\nsections:\n- heading: y\n  subsections:" + "\n  - heading: z" * 501,
    ],
)
def test_what_is_no_template_is_refused(text):
    with pytest.raises(ConfigError):
        parse_template(text, ".yaml")


def test_sections_of_one_heading_have_ids_of_their_own():
    text = "title: x\nsections:" + "\n- heading: y" * 200
    placed = parse_template(text, ".yaml").placed_sections()
    assert len({section.id for section in placed}) == 200


def test_a_template_that_is_not_there_names_the_known_ones(tmp_path: Path):
    with pytest.raises(UsageError, match="safety"):
        find_template("safty-review")
    with pytest.raises(UsageError):
        find_template(str(tmp_path / "x.exe"))
    for name in known_templates():
        assert find_template(name).sections
    assert make_slug("  Ärger & Co! ") == "rger-co"
