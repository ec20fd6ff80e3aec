"""Linking of a handbook's terms and passages to the entities of a model."""
