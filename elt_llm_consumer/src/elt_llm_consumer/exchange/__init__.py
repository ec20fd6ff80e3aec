"""Export of glossaries to other catalogues, and import from them."""
