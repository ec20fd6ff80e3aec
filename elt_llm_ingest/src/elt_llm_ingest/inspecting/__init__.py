"""What was read from a file, for people and programs: `elt-llm inspect`."""
