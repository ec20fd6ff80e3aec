"""Whether the passages that were found suffice, and searches for what they lack."""
