"""Chat completions and models in the shapes of OpenAI's API."""
