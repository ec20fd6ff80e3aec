"""Extraction of the definitions that documents state."""
