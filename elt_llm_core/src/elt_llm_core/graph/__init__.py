"""The enterprise model as a property graph: explored, drawn and exported."""
