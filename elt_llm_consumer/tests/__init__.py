"""Tests of elt_llm_consumer."""
