"""Enterprise models: their types, and the joining of several models."""
