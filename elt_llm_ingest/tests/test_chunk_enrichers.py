"""Enrichers add to what is indexed, and to nothing else."""

import pytest
from hypothesis import HealthCheck, given, settings

from chunk_documents import BLOCKS, check, count, document
from elt_llm_core.config.loader import load_config
from elt_llm_core.document import BlockKind
from elt_llm_core.errors import ConfigError, ModelUnavailableError
from elt_llm_core.jobs import JobContext
from elt_llm_core.provenance import index_text, read, reading
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_ingest.chunking import ORDER, Chunking, count_problems
from elt_llm_ingest.enrichers.dates import find_dates, version_of
from elt_llm_ingest.enrichers.enricher import ENRICHERS
from elt_llm_ingest.ingest import IngestJob
from elt_llm_ingest.llm_cache import RememberingLLM

HEADING, PARAGRAPH, ROW = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.TABLE_ROW
PARSED = document(
    (HEADING, "Harbour rules", 1),
    (PARAGRAPH, "Version 2.1, effective 1 May 2024."),
    (HEADING, "2 Fees", 2),
    (PARAGRAPH, "A boat pays a fee to the pilot."),
    (HEADING, "3 Fines", 2),
    (PARAGRAPH, "A late boat pays a fine. As amended on 2025-02-03."),
)


class Kept(dict):
    """Answers in memory, as the store's journal keeps them."""

    def put(self, run, key, ordinal, item, *, result):
        self[key] = result


def chunking(*names, llm=None, answers=None, limit=60, **options) -> Chunking:
    config = load_config()
    changes = {
        "chunking": config.chunking.model_copy(update={"chunk_size": 32}),
        "enrichment": config.enrichment.model_copy(
            update={"strategy": names, "options": options}
        ),
    }
    models = Models(HashEmbedding(max_tokens=limit), llm)
    return Chunking(config.model_copy(update=changes), models, answers)


def test_the_order_names_every_enricher():
    assert sorted(ORDER) == sorted(ENRICHERS.known())


def test_nothing_is_added_by_default():
    assert load_config().enrichment.strategy == ()
    assert all(index_text(n) == n.text for n in chunking().cut(PARSED))


def answer(prompt: str) -> str:
    if "questions" in prompt:
        return "1. Who pays?\n- What is paid?\nSome talk."
    return "It is about\n boats."


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(blocks=BLOCKS)
def test_the_text_stays_and_the_limit_holds(blocks):
    names = [name for name in ORDER if name != "entities"]
    parsed = document(*blocks)
    plain = chunking(limit=34).cut(parsed)
    rich = chunking(*names, llm=ScriptedLLM(answer), limit=34).cut(parsed)
    check(parsed, rich, 34)
    assert [(n.text, reading(n)) for n in rich] == [(n.text, reading(n)) for n in plain]


def test_headings_go_before_the_text_and_the_outermost_go_first_when_room_is_short():
    def fees(limit: int) -> str:
        nodes = chunking("heading_path", limit=limit).cut(PARSED)
        return next(index_text(n) for n in nodes if "pilot" in n.text)

    text = "2 Fees\n\nA boat pays a fee to the pilot."
    assert fees(60) == f"Harbour rules\n\n{text}"
    assert fees(10) == text
    deep = document(
        (HEADING, "Alpha", 1), (HEADING, "Beta", 2), (HEADING, "Gamma", 3),
        *((PARAGRAPH, f"Boat {n} pays the pilot of the town a fee.") for n in range(9)),
    )  # fmt: skip
    last = chunking("heading_path", limit=60).cut(deep)[1]
    assert index_text(last).startswith("Harbour rules > Alpha > Beta > Gamma\n\n")
    size = count(last.text)
    shorter = chunking("heading_path", limit=size + 2).cut(deep)[1]
    assert index_text(shorter).startswith("Beta > Gamma\n\n")


def test_dates_and_versions_are_metadata_only():
    nodes = chunking("dates").cut(PARSED)
    assert [read(n).date for n in nodes] == ["2024-05-01", "2024-05-01", "2025-02-03"]
    assert {n.metadata["version"] for n in nodes} == {"2.1"}
    assert all(index_text(n) == n.text for n in nodes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-01", "2024-05-01"),
        ("1 May 2024", "2024-05-01"),
        ("1st of June", ""),
        ("May 1st, 2024", "2024-05-01"),
        ("3 Sept. 2024", ""),
        ("3 Sep. 2024", "2024-09-03"),
        ("1.5.2024", "2024-05-01"),
        ("31.02.2024", ""),
        ("rule 1.5.2024.1", "2024-05-01"),
        ("05/06/2024", ""),
        ("12024-05-01", ""),
    ],
)
def test_dates_in_text(text, expected):
    assert next((found for found, _ in find_dates(text)), "") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Version 3", "3"), ("v1.2.3", "1.2.3"), ("rev. 7", "7"), ("Rule 3.2", ""),
     ("edition: 2.0", "2.0"), ("v3", "")],
)  # fmt: skip
def test_versions_in_text(text, expected):
    assert version_of(text) == expected


def test_keywords_are_what_sets_a_chunk_apart():
    nodes = chunking("keywords", keywords={"count": 2}).cut(PARSED)
    assert nodes[1].metadata["keywords"] == "fees, pilot"
    assert index_text(nodes[1]) == f"{nodes[1].text}\n\nfees, pilot"


def test_entities_are_told_under_all_their_names(tmp_path):
    names = tmp_path / "aliases.yaml"
    names.write_text("vessel: [boat, ship]\nfreight: [cargo]\n")
    nodes = chunking("entities", entities={"aliases": str(names)}).cut(PARSED)
    assert index_text(nodes[1]).endswith("\n\nvessel, ship")
    assert nodes[1].metadata["entities"] == "vessel"
    assert "entities" not in nodes[0].metadata


@pytest.mark.parametrize("text", ["a: b", "[1]", "a: [b", ""])
def test_bad_names_are_refused(tmp_path, text):
    names = tmp_path / "aliases.yaml"
    names.write_text(text)
    with pytest.raises(ConfigError):
        chunking("entities", entities={"aliases": str(names)})


def test_a_model_writes_questions_and_context():
    llm = ScriptedLLM(answer)
    nodes = chunking("questions", "contextual_prefix", llm=llm).cut(PARSED)
    assert index_text(nodes[1]) == (
        f"It is about boats.\n\n{nodes[1].text}\n\nWho pays?\n\nWhat is paid?"
    )
    assert "A boat pays a fee" in llm.prompts[1]


@pytest.mark.parametrize("name", ["questions", "contextual_prefix"])
def test_a_model_is_needed(name):
    with pytest.raises(ConfigError, match="needs a language model"):
        chunking(name)


def test_one_failure_loses_nothing_and_is_told():
    down = ModelUnavailableError("http://localhost:1", "refused")
    kept = Kept()
    first = chunking("questions", answers=kept, llm=ScriptedLLM(["A?", down, "C?"]))
    nodes = first.cut(PARSED)
    assert [index_text(n).endswith("?") for n in nodes] == [True, False, True]
    (said,) = count_problems(nodes)
    assert said.startswith("1 chunks: QuestionsEnricher: ")
    assert first.calls == 3
    again = chunking("questions", answers=kept, llm=ScriptedLLM(["B?"]))
    assert [index_text(n)[-2:] for n in again.cut(PARSED)] == ["A?", "B?", "C?"]
    assert again.calls == 1


def test_a_model_that_is_down_is_not_asked_for_ever():
    def down(prompt: str) -> str:
        raise ModelUnavailableError("http://localhost:1", "refused")

    many = document(
        *[
            b
            for n in range(9)
            for b in ((HEADING, f"{n} Fees", 1), (PARAGRAPH, "A fee."))
        ]
    )
    llm = ScriptedLLM(down)
    nodes = chunking("questions", llm=llm).cut(many)
    assert len(nodes) == 9
    assert len(llm.prompts) == 3
    assert all(read(n).problem for n in nodes)


def test_the_name_tells_what_shapes_a_chunk():
    names = {
        chunking().name,
        chunking("heading_path").name,
        chunking("heading_path", heading_path={"title": False}).name,
        chunking("keywords", "heading_path").name,
    }
    assert len(names) == 4
    assert chunking("keywords", "dates").name == chunking("dates", "keywords").name


def test_options_of_nothing_are_refused():
    with pytest.raises(ConfigError, match="is not in enrichment"):
        chunking("dates", keywords={"count": 2})
    with pytest.raises(ConfigError, match="not a map of options"):
        chunking("dates", dates=3)


def test_the_remembering_model_streams_and_tells_its_limits():
    llm = RememberingLLM(ScriptedLLM(["one two"]), Kept())
    assert [p.text for p in llm.stream_complete("?")] == ["one two"]
    assert llm.complete("?").text == "one two"
    assert (llm.calls, llm.cache_hits) == (1, 1)
    assert llm.metadata.context_window == 8192


def test_what_a_model_said_is_kept_in_the_store(tmp_path, without_index):
    file = tmp_path / "fees.txt"
    file.write_text("A boat pays a fee to the pilot.\n\nIt pays the fee in June.\n")
    store = Store(tmp_path / "data")
    enrichment = load_config().enrichment.model_copy(
        update={"strategy": ("questions",)}
    )
    config = load_config().model_copy(update={"enrichment": enrichment})

    def ingest(llm: ScriptedLLM) -> str:
        models = Models(HashEmbedding(max_tokens=60), llm)
        job = IngestJob(paths=(str(file),), collection="fees", rebuild=True)
        report = job.build(models)(JobContext(config, store))
        assert report.counts["chunks"] == 1
        (node,) = store.nodes("fees")
        assert "Who" not in node.text
        return index_text(node)

    asked = ScriptedLLM(["Who pays?"])
    assert ingest(asked).endswith("June.\n\nWho pays?")
    silent = ScriptedLLM([])
    assert ingest(silent).endswith("June.\n\nWho pays?")
    assert silent.prompts == ()
    store.close()
