"""What people decided about the items of products, and how it outlives the next run.

An item is a row of a product: a defined term, an entity of a catalogue. What a run
generated for it is its `Proposal`; what people decided is its `Decision`. Both stand in
the database, and every decision ever made stays there.
"""
