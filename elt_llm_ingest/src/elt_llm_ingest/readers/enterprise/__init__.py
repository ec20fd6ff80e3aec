"""Enterprise models: drawings in draw.io, LeanIX inventories."""
