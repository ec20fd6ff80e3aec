"""Postprocessors: weight, extend, cut and order candidates and sources."""
