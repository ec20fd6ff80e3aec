"""Files are written whole or not at all, and products are published together."""
