"""Tests of elt_llm_api."""
