"""PDF: LiteParse finds words, blocks and tables; the modules here make documents.

words -> furniture -> regions (blocks and tables) -> flow (paragraphs and headings) ->
document. Every text is written from word boxes, so a span always has its place.
"""
