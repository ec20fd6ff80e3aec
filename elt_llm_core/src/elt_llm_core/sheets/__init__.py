"""Products as sheets that reviewers edit elsewhere and bring back."""
