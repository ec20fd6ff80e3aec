"""Conversations: turns, the numbers of their sources, exports."""
