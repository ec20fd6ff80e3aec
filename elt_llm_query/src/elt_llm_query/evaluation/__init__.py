"""Evaluation of retrieval and answers on test sets and on a user's own questions."""
