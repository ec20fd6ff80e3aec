"""Claims, citations and the check of each quote against its source."""
