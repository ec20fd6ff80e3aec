"""The search indexes derived from the database: build, publish, search."""
