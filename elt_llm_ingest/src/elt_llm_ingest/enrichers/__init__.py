"""The stage `enrichers`: what is put beside a chunk's text into the indexes."""
