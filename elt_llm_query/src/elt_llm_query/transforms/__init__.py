"""Transforms: what is searched for in addition to the question, or instead of it."""
