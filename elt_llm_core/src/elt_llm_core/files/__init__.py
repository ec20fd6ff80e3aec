"""Atomic writing of files, and joint publication of products."""
