"""The sub-commands of `elt-llm eval` about questions and answers."""
