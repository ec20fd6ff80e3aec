"""Terms of a handbook linked to the entities of a model."""
