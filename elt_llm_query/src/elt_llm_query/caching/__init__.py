"""Semantic cache of the sources of earlier questions."""
