"""The name of the shipped embedding model; imports nothing."""

MODEL_NAME = "all-MiniLM-L6-v2"
