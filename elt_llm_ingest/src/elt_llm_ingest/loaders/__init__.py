"""The stage `loaders`: one file a format, each a strategy that builds a loader."""
