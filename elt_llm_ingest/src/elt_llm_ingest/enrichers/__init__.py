"""The stage `enrichers`: additions to the indexed text of a chunk."""
