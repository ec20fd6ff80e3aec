"""Measures of retrieval and of answers, on public test sets and on a user's own."""
