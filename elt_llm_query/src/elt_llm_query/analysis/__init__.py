"""What a question and a text say: words, terms, negation, quantities, rule numbers."""
