"""How well documents are read, measured on data that others made."""
