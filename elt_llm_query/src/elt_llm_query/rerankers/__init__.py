"""Rerankers: models and formulas that reorder the candidates."""
