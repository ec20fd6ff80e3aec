"""LeanIX conceptual models drawn in diagrams.net.

xml (files to cells) -> shapes (cells with places) -> domains (who stands in whom) and
edges (who is related to whom) -> document.
"""
