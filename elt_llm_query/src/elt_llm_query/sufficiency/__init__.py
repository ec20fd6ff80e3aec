"""Check whether the retrieved passages suffice, and search for missing information."""
