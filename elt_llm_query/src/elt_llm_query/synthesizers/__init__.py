"""Synthesizers: the extractive one, and LlamaIndex's modes."""
