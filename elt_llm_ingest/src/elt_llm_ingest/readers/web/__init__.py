"""Readers for web pages, books and mail."""
