"""Readers for XML, opened safely."""
