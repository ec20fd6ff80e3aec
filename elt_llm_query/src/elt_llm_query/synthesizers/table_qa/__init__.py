"""Answers computed from a table of the sources."""
