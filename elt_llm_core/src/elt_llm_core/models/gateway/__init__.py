"""The gateway for all calls to model servers: retries, limits, accounting.

The classes that call a model have a `Direct`; the model factory replaces it by a
`Gateway`.
"""
