"""The one place through which calls to models go: retries, limits, counts.

The classes that speak to a model hold a `Direct`; the model factory gives them a
`Gateway` instead.
"""
