"""What was read of a file, for people and programs: `elt-llm inspect`."""
