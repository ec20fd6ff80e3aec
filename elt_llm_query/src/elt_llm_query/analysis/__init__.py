"""Analysis of questions and texts: words, terms, negation, quantities, rule numbers."""
