"""Which of the collections a question goes to."""
