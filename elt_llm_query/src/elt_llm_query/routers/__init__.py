"""Routers: choose the collections to search for a question."""
