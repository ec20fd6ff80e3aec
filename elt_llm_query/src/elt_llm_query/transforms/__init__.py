"""Transforms: searches in addition to the question, or instead of it."""
