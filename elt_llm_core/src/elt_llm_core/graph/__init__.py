"""The enterprise model as a property graph: walked, drawn and exported."""
