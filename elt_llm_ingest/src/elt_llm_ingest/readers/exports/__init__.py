"""Readers for JSON that other document readers export."""
