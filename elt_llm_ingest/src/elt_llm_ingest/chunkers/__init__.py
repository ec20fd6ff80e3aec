"""The stage `chunkers`: node parsers that keep the exact location of each chunk."""
