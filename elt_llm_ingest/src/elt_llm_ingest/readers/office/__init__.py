"""Readers for Word, PowerPoint and Excel."""
