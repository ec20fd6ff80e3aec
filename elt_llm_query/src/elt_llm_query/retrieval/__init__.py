"""Hybrid retrieval: dense and keyword search over collections, and their fusion."""
