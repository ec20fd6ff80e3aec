"""Glossaries out to other catalogues, and in from them."""
