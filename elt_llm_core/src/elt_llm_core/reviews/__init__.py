"""Decisions on the items of products, which survive later runs.

An item is a row of a product: a defined term, an entity of a catalogue. Its generated
content is a `Proposal`; a person's decision on it is a `Decision`. Both are stored in
the database, which keeps every decision.
"""
