"""What is searched for beside the question, or in its place."""
