"""Answers without a language model: verbatim sentences of the sources."""
