"""The name of the embedding model that is shipped; it imports nothing."""

MODEL_NAME = "all-MiniLM-L6-v2"
