"""What a question found, used again for one that asks the same."""
