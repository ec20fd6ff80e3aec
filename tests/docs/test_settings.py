"""Every key of the configuration has a test that shows what it changes."""

import ast
from pathlib import Path

import pytest

from elt_llm_core.config.sections import RagConfig

ROOT = Path(__file__).parents[2]
KEYS = {
    f"{section}.{key}"
    for section, field in RagConfig.model_fields.items()
    for key in getattr(field.annotation, "model_fields", {})
}
OLLAMA = "elt_llm_core/tests/test_models_ollama.py::"
GATEWAY = "elt_llm_core/tests/test_gateway.py::"
OPENAI = "elt_llm_core/tests/test_models_openai_like.py::"
WORDS = "elt_llm_core/tests/test_keyword_recipes.py::"
INGEST = "elt_llm_ingest/tests/"
CONSUMER = "elt_llm_consumer/tests/"
QUERY = "elt_llm_query/tests/"
API = "elt_llm_api/tests/"
SENT = f"{OLLAMA}test_a_setting_of_the_section_reaches_the_server"
SETTING = f"{QUERY}test_query_settings.py::test_a_setting_changes_what_a_question_gives"
TALK = f"{QUERY}test_query_side_commands.py::test_a_talk_uses_what_it_found_before"
SCORED = f"{WORDS}test_every_variant_scores_by_its_formula"
COMPARED = f"{WORDS}test_what_is_compared_is_chosen"

SHOWN = {
    "models.llm_strategy": f"{SENT}",
    "models.embedder_strategy": f"{OLLAMA}"
    "test_texts_go_in_batches_of_the_configured_size",
    "models.llm_options": f"{OLLAMA}"
    "test_the_options_of_the_strategy_win_over_the_section",
    "models.embedder_options": f"{OLLAMA}"
    "test_the_options_of_the_embedder_win_over_the_section",
    "ollama.base_url": SENT,
    "ollama.embedding_model": f"{OLLAMA}"
    "test_the_embedding_model_of_the_section_is_asked",
    "ollama.thinking": SENT,
    "ollama.llm_model": SENT,
    "ollama.context_window": SENT,
    "ollama.num_predict": SENT,
    "ollama.temperature": SENT,
    "ollama.keep_alive": SENT,
    "ollama.seed": SENT,
    "ollama.embed_batch_size": f"{OLLAMA}"
    "test_texts_go_in_batches_of_the_configured_size",
    "ollama.request_timeout": f"{OLLAMA}test_each_failure_of_a_chat_is_told_apart",
    "openai_like.context_window": f"{OPENAI}"
    "test_the_context_window_of_the_section_limits_texts_and_prompts",
    "openai_like.embedding_model": f"{OPENAI}"
    "test_the_embedding_model_of_the_section_is_asked",
    "openai_like.temperature": f"{OPENAI}"
    "test_the_temperature_of_the_section_reaches_the_server",
    "openai_like.native_tools": f"{QUERY}test_agent.py::"
    "test_what_an_agent_looks_up_and_names_is_a_source_of_a_proven_answer",
    "openai_like.base_url": f"{OPENAI}test_nobody_there_is_said",
    "openai_like.num_predict": f"{OPENAI}"
    "test_every_way_of_asking_sends_the_same_request",
    "openai_like.api_key": f"{OPENAI}test_every_way_of_asking_sends_the_same_request",
    "openai_like.llm_model": f"{OPENAI}test_every_way_of_asking_sends_the_same_request",
    "openai_like.request_timeout": f"{OPENAI}test_silence_has_a_limit",
    "roles.answer": "elt_llm_core/tests/test_model_roles.py::"
    "test_the_next_model_answers_where_the_first_fails",
    **dict.fromkeys(
        ["roles.rewrite", "roles.judge"],
        "elt_llm_core/tests/test_model_roles.py::test_a_role_has_models_of_its_own",
    ),
    "roles.vision": f"{INGEST}test_figure_descriptions.py::"
    "test_a_model_sees_the_picture_and_its_answer_is_a_figure_marked_generated",
    "gateway.retries": f"{GATEWAY}test_how_often_it_is_tried_is_a_setting",
    "gateway.retry_seconds": f"{GATEWAY}test_waits_grow_by_chance_below_a_bound",
    "gateway.longest_wait": f"{GATEWAY}"
    "test_a_server_that_asks_for_too_long_a_wait_is_not_asked_again",
    "gateway.breaker_failures": f"{GATEWAY}"
    "test_a_server_that_is_not_there_is_left_alone_after_some_failures",
    "gateway.breaker_seconds": f"{GATEWAY}test_a_server_that_came_back_is_asked_again",
    "gateway.calls_at_once": f"{GATEWAY}test_a_server_works_on_so_many_calls_at_a_time",
    **dict.fromkeys(
        [
            f"gateway.{who}_{unit}"
            for who in ("question", "job", "day")
            for unit in ("calls", "tokens", "seconds")
        ],
        f"{GATEWAY}test_a_budget_that_is_spent_refuses_the_next_call",
    ),
    "gateway.keep_answers": f"{GATEWAY}test_an_answer_is_kept_and_given_again",
    "gateway.cut_answers": f"{GATEWAY}"
    "test_an_answer_that_was_too_long_ends_at_a_whole_statement",
    "gateway.calls_waiting": f"{GATEWAY}"
    "test_calls_beyond_the_queue_are_refused_with_a_time",
    "stores.data_dir": f"{API}test_serve.py::"
    "test_it_tells_its_address_and_ends_on_ctrl_c",
    "stores.backup_hours": f"{INGEST}test_ingest.py::"
    "test_a_backup_after_an_ingest_is_a_setting",
    "stores.delta_fraction": "elt_llm_core/tests/test_doctor.py::"
    "test_how_large_a_delta_may_be_is_a_setting",
    "stores.backups_kept": "elt_llm_core/tests/test_store_commands.py::"
    "test_the_configuration_says_how_many_are_kept",
    **dict.fromkeys(
        ["keywords.variant", "keywords.k1", "keywords.b", "keywords.delta"], SCORED
    ),
    "keywords.pair_weight": SCORED,
    "keywords.stems": COMPARED,
    "keywords.stop_words": COMPARED,
    "chunking.chunk_size": f"{INGEST}test_ingest.py::"
    "test_other_chunks_are_made_when_the_settings_change",
    **dict.fromkeys(
        ["chunking.chunk_overlap", "chunking.options", "chunking.strategy"],
        f"{INGEST}test_ingest.py::test_every_setting_of_chunking_changes_the_chunks",
    ),
    "enrichment.options": f"{INGEST}test_ingest.py::"
    "test_an_option_of_an_enricher_changes_what_is_indexed",
    "ingest.parse_memory_mb": f"{INGEST}test_ingest.py::"
    "test_the_memory_of_the_reading_process_is_a_setting",
    "enrichment.strategy": f"{INGEST}test_chunk_enrichers.py::"
    "test_what_a_model_said_is_kept_in_the_store",
    "ingest.max_file_mb": f"{INGEST}test_bad_input.py::"
    "test_a_file_above_the_size_limit",
    "ingest.max_pages": f"{INGEST}test_bad_input.py::test_too_many_pages",
    "ingest.parse_timeout": f"{INGEST}test_ocr.py::"
    "test_pages_left_for_want_of_time_are_named",
    "ingest.keep_originals": f"{INGEST}test_ingest.py::test_files_are_kept_unless_told",
    "ingest.password_file": f"{INGEST}test_passwords.py::"
    "test_passwords_come_by_pattern_then_from_the_environment",
    **dict.fromkeys(
        [
            "query.similarity_top_k",
            "query.collection_top_k",
            "query.fusion_strategy",
            "query.fusion_options",
            "query.use_hybrid_search",
            "query.use_reranker",
            "query.reranker_retrieve_k",
            "query.reranker_top_k",
            "query.candidate_strategy",
            "query.candidate_options",
            "query.postprocessor_strategy",
            "query.synthesizer_options",
            "query.trace_hits",
            "query.use_tables",
        ],
        SETTING,
    ),
    **dict.fromkeys(
        [
            "query.transform_strategy",
            "query.transform_options",
            "query.router_strategy",
            "query.router_options",
            "query.cache_strategy",
        ],
        TALK,
    ),
    "query.trace": f"{QUERY}test_question_traces.py::"
    "test_the_newest_questions_leave_their_trace",
    "query.traces_kept": f"{QUERY}test_question_traces.py::"
    "test_the_newest_questions_leave_their_trace",
    "query.cache_options": f"{QUERY}test_query_side_commands.py::"
    "test_an_option_of_the_cache_says_what_is_used_again",
    "query.reranker_strategy": f"{QUERY}test_rerankers.py::"
    "test_the_time_of_the_configuration_counts",
    "query.reranker_options": f"{QUERY}test_rerankers.py::"
    "test_the_time_of_the_configuration_counts",
    "query.reranker_timeout": f"{QUERY}test_rerankers.py::"
    "test_the_time_of_the_configuration_counts",
    "query.postprocessor_options": f"{QUERY}test_table_answers.py::"
    "test_a_table_read_as_one_source_answers_as_its_rows_do",
    "query.synthesizer_strategy": f"{QUERY}test_generated.py::"
    "test_every_mode_answers_with_labels_and_is_left_out_without_a_model",
    "query.system_prompt": f"{QUERY}test_generated.py::"
    "test_a_generated_answer_is_looked_up",
    "query.use_model_graph": "tests/integration/test_model_answers.py::"
    "test_what_the_model_states_is_answered_with_quotes",
    "query.citation_policy": f"{QUERY}test_generated.py::test_the_policy_is_a_setting",
    "query.judge_strategy": f"{QUERY}test_judges.py::"
    "test_a_paraphrase_that_the_judge_refuses_is_removed",
    "query.judge_options": f"{QUERY}test_judges.py::test_the_prompt_is_an_option",
    "query.sufficiency_strategy": f"{QUERY}test_sufficiency.py::"
    "test_a_gap_is_searched_for_and_all_is_ordered_by_the_question",
    "query.sufficiency_options": f"{QUERY}test_sufficiency.py::"
    "test_rounds_and_searches_have_bounds_and_no_search_is_made_twice",
    **dict.fromkeys(
        ["conversation.history_window", "conversation.summarise"],
        f"{QUERY}test_turn_workflow.py::"
        "test_older_exchanges_are_summed_up_and_the_newest_read_as_they_are",
    ),
    "conversation.clarify": f"{QUERY}test_turn_workflow.py::"
    "test_what_may_mean_several_things_is_asked_back",
    "conversation.follow_ups": f"{QUERY}test_turn_workflow.py::"
    "test_further_questions_are_shown_and_kept",
    "conversation.speculative": f"{QUERY}test_speculation.py::"
    "test_a_superseded_answer_is_stopped_before_its_call_ends",
    "conversation.earlier_sources": f"{QUERY}test_earlier_passages.py::"
    "test_what_was_cited_is_a_source_again_and_their_number_stays",
    "conversation.earlier_candidates": f"{QUERY}test_earlier_passages.py::"
    "test_the_setting_limits_what_is_considered",
    "query.num_queries": f"{QUERY}test_retrievers.py::test_rewrites_are_fused_in",
    "consumer.pack": "elt_llm_core/tests/test_domain_packs.py::"
    "test_a_pack_is_below_the_profile_and_above_the_file",
    "consumer.definition_patterns": f"{CONSUMER}test_worded_definitions.py::"
    "test_a_wording_is_a_setting",
    "consumer.aliases": f"{CONSUMER}test_coverage.py::test_aliases_are_a_setting",
    "consumer.table_columns": f"{CONSUMER}test_table_fields.py::"
    "test_the_columns_of_a_file_are_a_setting",
    "consumer.topics": f"{CONSUMER}test_topics.py::"
    "test_the_topics_of_a_file_are_a_setting",
    "consumer.items_at_once": f"{CONSUMER}test_reports.py::"
    "test_sections_are_written_at_a_time_as_the_setting_says",
    "consumer.server_patience": f"{CONSUMER}test_batch.py::"
    "test_a_server_that_stays_away_ends_the_batch",
    "consumer.evidence_top_k": f"{CONSUMER}test_coverage.py::"
    "test_passages_of_an_entity_are_a_setting",
    "consumer.strong": f"{CONSUMER}test_coverage.py::test_every_band_is_a_setting",
    "consumer.moderate": f"{CONSUMER}test_coverage.py::test_every_band_is_a_setting",
    "consumer.thin": f"{CONSUMER}test_coverage.py::test_every_band_is_a_setting",
    "logging.level": "elt_llm_core/tests/test_core_commands.py::"
    "test_the_level_of_logging_is_a_setting",
    "plugins.allow": "elt_llm_core/tests/test_strategy.py::"
    "test_the_configuration_says_who_is_trusted",
    "api.host": f"{API}test_security.py::test_strangers_need_a_token",
    "api.port": f"{API}test_serve.py::test_a_taken_port_is_told",
    "api.allowed_hosts": f"{API}test_security.py::"
    "test_hosts_are_those_that_are_configured",
    "api.max_upload_mb": f"{API}test_security.py::"
    "test_a_large_upload_is_refused_announced_or_not",
    "api.max_waiting_mb": f"{API}test_security.py::test_files_that_wait_have_a_quota",
    "api.users": f"{API}test_chat.py::test_each_user_sees_only_the_own_conversations",
    "api.reconnect_seconds": f"{API}test_chat.py::"
    "test_who_leaves_or_stops_ends_the_call_to_the_model",
    "api.questions_at_once": f"{API}test_load.py::"
    "test_more_questions_than_may_wait_are_refused",
    "api.questions_waiting": f"{API}test_load.py::"
    "test_more_questions_than_may_wait_are_refused",
    **dict.fromkeys(
        ["conversation.contextualiser_strategy", "conversation.contextualiser_options"],
        f"{QUERY}test_turn_workflow.py::test_a_model_restates_the_message",
    ),
    "conversation.check_subject": f"{QUERY}test_turn_workflow.py::"
    "test_an_answer_about_something_else_is_refused",
    "conversation.sure": f"{QUERY}test_turn_workflow.py::"
    "test_a_follow_up_has_to_be_answered_with_more_certainty",
    "conversation.decompose": f"{QUERY}test_turn_workflow.py::"
    "test_each_part_is_answered_or_refused_by_itself",
    "query.question_timeout": "elt_llm_core/tests/test_bounds.py::"
    "test_a_question_has_one_deadline",
    "api.token": f"{API}test_security.py::"
    "test_with_a_token_nothing_is_served_without_it",
}


def test_every_key_has_a_row() -> None:
    assert SHOWN.keys() == KEYS


@pytest.mark.parametrize("key", sorted(SHOWN))
def test_the_test_of_a_row_exists_and_knows_the_key(key: str) -> None:
    path, _, name = SHOWN[key].partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    tests = {n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
    assert name in tests
    assert key.split(".")[1] in text.lower().replace("-", "_")
