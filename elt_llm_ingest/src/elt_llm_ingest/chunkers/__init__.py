"""The stage `chunkers`: node parsers that keep the exact place of a chunk."""
