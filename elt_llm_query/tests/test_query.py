import threading

import pytest

from elt_llm_core.config.sections import QuerySection, RagConfig
from elt_llm_core.errors import (
    CollectionMismatchError,
    CollectionNotFoundError,
    EmbedError,
    PromptTruncatedError,
    UsageError,
)
from elt_llm_core.results import DegradationKind, QueryResult, Status, Support
from elt_llm_core.store import Collection, Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_query.plan import SearchPlan
from elt_llm_query.query import (
    query_collection,
    query_collections,
    search_collections,
)
from elt_llm_query.render import answer_text
from query_world import (
    ASK,
    BOTH,
    CONTENT,
    LENDING,
    SAID,
    Down,
    asked,
    configured,
    fill,
    kinds,
    make_document,
)


@pytest.mark.parametrize(
    ("question", "quote", "page"),
    [
        (ASK, SAID, 3),
        (
            "How many books may a reader borrow?",
            "A reader may borrow up to eight books at the same time.",
            1,
        ),
        (
            "When does the reading room close?",
            "The reading room closes at 20:00 on weekdays.",
            1,
        ),
        (
            "What does reference stock mean?",
            "Reference stock means books that may be read in the reading room only.",
            5,
        ),
        (
            "Is food permitted in the reading room?",
            "Food is not permitted in the reading room.",
            2,
        ),
        (
            "How often can a loan be renewed?",
            "A loan may be renewed twice, unless another reader has reserved the book.",
            2,
        ),
    ],
)
def test_questions_are_answered_with_their_place(world, question, quote, page):
    result = asked(world, question)
    assert result.status is Status.ANSWERED
    first = result.citations[0]
    assert (first.quote, first.page, first.support) == (quote, page, Support.VERIFIED)
    assert f"[{first.label}]" in result.answer
    text = world.store.document_text(first.document_id)
    assert text[first.span.start : first.span.end] == quote
    assert all(box.page == page for box in first.boxes)
    assert first.boxes


@pytest.mark.parametrize(
    "question",
    [
        "Who is the director of the library?",
        "How much does a library card cost?",
        "Are dogs allowed in the reading room?",
        "How many languages are taught?",
        "What is the capital of France?",
        "When was the library founded?",
    ],
)
def test_what_is_not_there_is_refused(world, question):
    result = asked(world, question)
    assert result.status is Status.INSUFFICIENT
    assert result.answer.startswith(
        "No passage that was found answers this for sure. Nearest: "
    )
    assert result.citations == ()
    assert result.sources
    for quoted in result.nearest:
        text = world.store.document_text(quoted.document_id)
        assert text[quoted.span.start : quoted.span.end] == quoted.quote


def test_a_refusal_quotes_the_sentences_that_are_nearest(world):
    result = asked(world, "How much does a library card cost?")
    assert 1 <= len(result.nearest) <= 3
    assert any("card" in one.quote.lower() for one in result.nearest)
    places = [(one.document_id, one.section) for one in result.nearest]
    assert len(set(places)) == len(places)
    shown = answer_text(result)
    assert "Nearest passages, not an answer" in shown
    assert result.nearest[0].quote[:40] in shown
    assert asked(world, "How often can a loan be renewed?").nearest == ()


def test_a_table_row_is_cited_by_its_cells(world):
    result = asked(world, "Which hours is the branch North Street open on Saturday?")
    assert result.citations[0].quote == "North Street\t10 to 14"
    assert "Saturday: 10 to 14" in result.answer


def test_boxes_are_those_of_the_quote_not_of_the_chunk(world):
    (cited,) = asked(world, "How often can a loan be renewed?").citations
    words = world.store.pages(cited.document_id, [2])[0].words
    first = next(w for w in words if w[0] == cited.span.start)
    assert cited.boxes[0].left == pytest.approx(first[2])
    assert cited.boxes[0].top == pytest.approx(first[3])


def test_sources_are_in_rank_order_and_labelled(world):
    result = asked(world, ASK)
    assert [s.label for s in result.sources] == [f"S{i + 1}" for i in range(8)]
    scores = [s.score for s in result.sources]
    assert scores == sorted(scores, reverse=True)
    assert {s.collection for s in result.sources} == {"lending", "rooms"}


def test_the_trace_tells_every_stage(world):
    trace = asked(world, ASK).trace
    names = [s.name for s in trace.stages]
    assert names == [
        "embed",
        "dense:lending",
        "keyword:lending",
        "complete:lending",
        "dense:rooms",
        "keyword:rooms",
        "complete:rooms",
        "fuse",
        "fetch",
        "rerank",
        "rule_lookup",
        "namesakes",
        "rule_filter",
        "references",
        "figure_links",
        "label",
        "tables",
        "synthesize",
        "verify",
    ]
    stages = {s.name: s for s in trace.stages}
    assert stages["fuse"].top != stages["rerank"].top
    assert stages["rerank"].n_in >= stages["rerank"].n_out == 8
    assert trace.query_id == asked(world, ASK).trace.query_id
    assert trace.query_id != asked(world, SAID).trace.query_id
    assert trace.generations == {"lending": 0, "rooms": 0}


def test_the_same_question_gives_the_same_result(world):
    def plain(result):
        return result.model_dump(exclude={"trace"})

    assert plain(asked(world, ASK)) == plain(asked(world, ASK))


def test_results_survive_json(world):
    result = asked(world, ASK)
    assert QueryResult.model_validate_json(result.model_dump_json()) == result


def test_threads_do_not_mix_their_traces(world):
    found = {}

    def run(question):
        found[question] = asked(world, question)

    questions = [ASK, "When does the reading room close?", "zebra?"] * 2
    threads = [threading.Thread(target=run, args=(q,)) for q in questions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for question, result in found.items():
        assert result.question == question
        assert len(result.trace.stages) == 19


def test_search_returns_sources_only(world):
    found = search_collections(
        BOTH,
        "overdue",
        store=world.store,
        config=world.config,
        models=world.models,
        k=2,
    )
    assert len(found.sources) == 2
    assert found.sources[0].section == "Loans > Overdue"
    assert [s.name for s in found.trace.stages][-1] == "label"


def test_one_collection_is_a_list_of_one(world):
    one = query_collection(
        "rooms", ASK, store=world.store, config=world.config, models=world.models
    )
    assert {s.collection for s in one.sources} == {"rooms"}
    twice = asked(world, ASK, names=["rooms", "rooms"])
    assert [s.node_id for s in twice.sources] == [s.node_id for s in one.sources]


@pytest.mark.parametrize("question", ["", "  ", "?!", "x" * 9000])
def test_a_question_must_be_one(world, question):
    with pytest.raises(UsageError):
        asked(world, question)


class Short(HashEmbedding):
    """Reads ten words of a question and no more."""

    def _get_query_embedding(self, query):
        if len(query.split()) > 10:
            raise EmbedError("too long")
        return super()._get_query_embedding(query)


def test_a_long_question_is_shortened_for_the_embedder(hashed):
    result = asked(hashed, f"{ASK} Tell me please! Now!", models=Models(Short()))
    assert DegradationKind.PROMPT_SHORTENED in kinds(result)
    assert result.sources[0].section == "Loans > Overdue"


CUT = PromptTruncatedError("m", 4000, 90)


def compact(world, *answers):
    llm = ScriptedLLM(answers)
    config = RagConfig(query=QuerySection(synthesizer_strategy="compact"))
    result = asked(world, ASK, config=config, models=Models(world.models.embedder, llm))
    return result, llm.prompts


def test_a_prompt_that_was_too_long_is_sent_once_more_with_fewer_sources(hashed):
    result, (long, short) = compact(hashed, CUT, "[INSUFFICIENT DATA]")
    assert long.count("\n[S") > short.count("\n[S") >= 1
    (note,) = [d for d in result.degradations if d.kind == "prompt_shortened"]
    assert note.detail.startswith("the model received only ")
    assert f" of {len(result.sources)} sources" in note.detail


def test_a_prompt_that_is_too_long_twice_leaves_the_sentences_themselves(hashed):
    result, prompts = compact(hashed, CUT, CUT)
    assert len(prompts) == 2
    (note,) = [d for d in result.degradations if d.kind == "prompt_shortened"]
    assert note.detail.startswith("answered with verbatim sentences instead")
    assert "20 cents" in result.answer


def test_collections_must_be_named_and_exist(world):
    with pytest.raises(UsageError):
        asked(world, ASK, names=[])
    with pytest.raises(CollectionNotFoundError, match="did you mean 'lending'"):
        asked(world, ASK, names=["lendng"])


def test_another_embedder_than_the_collections_is_refused(world):
    with pytest.raises(CollectionMismatchError, match="lending"):
        asked(world, ASK, models=Models(HashEmbedding()))


def test_an_empty_collection_has_no_sources(tmp_path):
    store, models = Store(tmp_path), Models(HashEmbedding())
    fill(store, models, {"nothing": []})
    result = query_collection(
        "nothing", ASK, store=store, config=RagConfig(), models=models
    )
    assert (result.status, result.sources) == (Status.NO_SOURCES, ())
    assert result.answer == "Nothing was found in the collections for this question."
    store.close()


def test_the_embedder_down_means_keywords_only(hashed):
    result = asked(hashed, ASK, models=Models(Down()))
    assert DegradationKind.EMBEDDER_UNAVAILABLE in kinds(result)
    assert result.status is Status.ANSWERED
    assert result.citations[0].quote == SAID
    assert not [s for s in result.trace.stages if s.name.startswith("dense")]


def test_the_embedder_down_without_hybrid_still_finds(hashed):
    config = configured(use_hybrid_search=False)
    result = asked(hashed, ASK, config=config, models=Models(Down()))
    assert result.sources[0].section == "Loans > Overdue"


def test_collections_pass_on_their_own_limits(hashed):
    own = {d for name in BOTH for d in hashed.store.open(name).degradations}
    assert own <= set(asked(hashed, ASK).degradations)


def test_vectors_only(hashed):
    result = asked(hashed, ASK, config=configured(use_hybrid_search=False))
    names = [s.name for s in result.trace.stages]
    assert not [n for n in names if n.startswith("keyword")]


def test_without_a_reranker_the_fused_order_stands(hashed):
    config = configured(use_reranker=False, similarity_top_k=3)
    result = asked(hashed, ASK, config=config)
    assert len(result.sources) == 3
    assert "rerank" not in [s.name for s in result.trace.stages]


@pytest.mark.parametrize("collections", [1, 2, 3, 30])
def test_candidates_are_shared_out_evenly(collections):
    breadth = SearchPlan.of(RagConfig(), collections=(None,) * collections).breadth
    assert breadth.each == max(20 // collections, 1)
    assert breadth.total >= breadth.each * collections or breadth.total == 20


def test_a_document_replaced_between_search_and_reading_is_found_as_it_is_now(
    world, tmp_path, monkeypatch
):
    store = Store(tmp_path / "data")
    fill(store, world.models, CONTENT)
    newer = [(section, f"{said} As amended.") for section, said in LENDING]
    read = Collection.nodes

    def replaced_first(collection, ids):
        monkeypatch.setattr(Collection, "nodes", read)
        document = make_document("Lending rules", newer)
        fill(store, world.models, {"lending": [document]})
        return read(collection, ids)

    monkeypatch.setattr(Collection, "nodes", replaced_first)
    found = search_collections(
        ["lending"], ASK, store=store, config=world.config, models=world.models
    )
    assert found.sources
    assert all("As amended." in source.text for source in found.sources)
    assert DegradationKind.DOCUMENT_WARNING not in kinds(found)


def test_chunks_that_go_away_again_and_again_are_told(world, monkeypatch):
    monkeypatch.setattr(Collection, "nodes", lambda *_: {})
    found = search_collections(
        ["lending"], ASK, store=world.store, config=world.config, models=world.models
    )
    assert found.sources == ()
    assert DegradationKind.DOCUMENT_WARNING in kinds(found)


def test_a_collection_of_another_embedder_is_left_out_unless_it_is_named(
    hashed, tmp_path
):
    store = Store(tmp_path / "both")
    other = Models(HashEmbedding(dimension=64))
    fill(store, hashed.models, {"lending": CONTENT["lending"]})
    fill(store, other, {"rooms": CONTENT["rooms"]})

    def ask(names, **given):
        return query_collections(
            names, ASK, store=store, config=configured(), models=hashed.models, **given
        )

    with pytest.raises(CollectionMismatchError, match="'rooms'"):
        ask(BOTH)
    found = ask(BOTH, named=False)
    assert found.citations[0].quote == SAID
    left_out = DegradationKind.COLLECTION_LEFT_OUT
    (note,) = (d for d in found.degradations if d.kind is left_out)
    assert note.collection == "rooms"
    assert "--rebuild" in note.detail
    with pytest.raises(CollectionMismatchError, match="'rooms'"):
        ask(["rooms"], named=False)
    store.close()
