"""Topics, their numbered summaries, and reports of concepts."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from elt_llm_consumer.writing.topic_jobs import (
    ConceptJob,
    TemplateListJob,
    TopicListJob,
    TopicsJob,
    WrittenFileJob,
)
from elt_llm_consumer.writing.topics import (
    choose_topics,
    find_topics,
    read_topics,
    section_topics,
    seed_topics,
)
from elt_llm_core.errors import ConfigError, UsageError
from elt_llm_core.jobs import JOBS
from elt_llm_core.versions import VersionKind
from elt_llm_core.written import WrittenText, is_stale

GIVEN = {"collections": ("handbook",)}


def newest(context, kind, subject):
    return WrittenText.model_validate(context.store.versions.get(kind, subject).content)


def test_main_sections_are_topics(store):
    topics = section_topics(store, ["handbook"])
    assert [(t.id, t.name, t.section) for t in topics] == [
        ("definitions", "Definitions", "1 Definitions"),
        ("rules", "Rules", "2 Rules"),
    ]


def test_a_level_of_one_section_gives_way_to_the_next(store, add, make):
    add(store, "book", make("# Book > A\nOne sentence is here.\n# Book > B\nAnother."))
    assert [t.name for t in section_topics(store, ["book"])] == ["A", "B"]


def test_topics_of_a_file_are_names_or_records(tmp_path):
    file = tmp_path / "topics.yaml"
    file.write_text(
        "- Rent\n- {name: Rent, category: Money, description: When it is due}\n"
    )
    rent, again = read_topics(file)
    assert (rent.id, again.id, again.category) == ("rent", "rent-2", "Money")
    assert choose_topics([rent, again], ["RENT-2"]) == (again,)
    with pytest.raises(UsageError, match="rent"):
        choose_topics([rent], ["rnt"])
    for text in ("", "x: 1", "- {nam: x}", "[", "- [1]"):
        file.write_text(text)
        with pytest.raises(ConfigError):
            read_topics(file)


def test_the_topics_of_a_file_are_a_setting(context, models, tmp_path):
    file = tmp_path / "topics.yaml"
    file.write_text("- Rent\n")
    consumer = context.config.consumer.model_copy(update={"topics": file})
    config = context.config.model_copy(update={"consumer": consumer})
    job = TopicListJob(**GIVEN, output=tmp_path / "list.json")
    job.build(models)(replace(context, config=config))
    listed = json.loads((tmp_path / "list.json").read_text())["topics"]
    assert [one["id"] for one in listed] == ["rent"]


def test_the_seeds_of_a_pack_are_topics(store):
    topics = find_topics(store, ["handbook"], pack="kite-regatta")
    assert "serious-incident" in [topic.id for topic in topics]
    assert [t.id for t in seed_topics(["A b", "a B"])] == ["a-b", "a-b-2"]


def test_a_summary_quotes_its_own_section_and_is_kept(context, models):
    report = TopicsJob(**GIVEN, topics=("rules",)).build(models)(context)
    text = newest(context, VersionKind.TOPIC, "rules")
    assert report.counts["sections"] == 1
    assert text.statement_count
    assert {source.section for source in text.sources} == {"2 Rules"}
    TopicsJob(**GIVEN, topics=("rules",)).build(models)(context)
    rows = context.store.versions.rows(VersionKind.TOPIC)
    assert [(row.subject, row.number) for row in rows] == [("rules", 1)]


def test_a_changed_document_makes_a_summary_stale(context, models, add, make):
    TopicsJob(**GIVEN).build(models)(context)
    rows = context.store.versions.rows(VersionKind.TOPIC)
    assert [is_stale(context.store, row) for row in rows] == [False, False]
    add(context.store, "estate", make("# News\nA sentence of another collection."))
    assert not is_stale(context.store, rows[0])
    add(context.store, "handbook", make("# 2 Rules\nA Tenant pays in advance."))
    assert is_stale(context.store, rows[0])


def test_summaries_at_the_same_time_have_numbers_of_their_own(context, models):
    def again(_):
        TopicsJob(**GIVEN, topics=("rules",), fresh=True).build(models)(context)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(again, range(8)))
    rows = context.store.versions.rows(VersionKind.TOPIC, "rules")
    assert [row.number for row in rows] == list(range(1, 9))


def test_a_concept_report_has_every_mention(context, models):
    report = ConceptJob(**GIVEN, concept="Ground Lease").build(models)(context)
    text = newest(context, VersionKind.CONCEPT, "ground-lease")
    handbook = context.store.nodes("handbook")
    mentioned = {n.node_id for n in handbook if "Ground Lease" in n.get_content()}
    assert report.counts["passages"] == len(mentioned) == 4
    assert {source.node_id for source in text.sources} == mentioned
    assert [section.heading for section in text.sections] == [
        "1 Definitions",
        "2 Rules",
    ]


def test_a_concept_that_nothing_names_gets_the_nearest_passages(
    context, models, tmp_path
):
    ConceptJob(**GIVEN, concept="Grund Leese").build(models)(context)
    text = newest(context, VersionKind.CONCEPT, "grund-leese")
    assert "none names it" in text.description
    aliases = tmp_path / "aliases.yaml"
    aliases.write_text("tenancy: [ground lease]\n")
    job = ConceptJob(**GIVEN, concept="Tenancy", aliases=aliases)
    assert job.build(models)(context).counts["passages"] == 4


def test_lists_and_files_are_written_for_other_packages(context, models, tmp_path):
    TopicsJob(**GIVEN, topics=("rules",)).build(models)(context)
    TopicListJob(**GIVEN, output=tmp_path / "t.json").build(models)(context)
    rules = json.loads((tmp_path / "t.json").read_text())["topics"][1]
    assert [(s["number"], s["stale"]) for s in rules["summaries"]] == [(1, False)]
    TemplateListJob(output=tmp_path / "l.json").build(models)(context)
    names = [
        t["name"] for t in json.loads((tmp_path / "l.json").read_text())["templates"]
    ]
    assert "safety-review" in names
    job = WrittenFileJob(
        kind="topic", subject="rules", number=1, form="html", output=tmp_path / "x"
    )
    assert job.build(models)(context).files["html"].endswith("x.html")
    assert {"report", "topics", "concept", "topic_list"} <= JOBS.known().keys()
