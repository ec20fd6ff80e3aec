"""Measures of how well documents are read, on data sets that others made."""
