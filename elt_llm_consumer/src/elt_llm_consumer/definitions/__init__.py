"""Definitions that documents state: candidates, patterns, tables, references."""
