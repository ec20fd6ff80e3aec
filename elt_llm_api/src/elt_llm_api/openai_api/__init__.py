"""Chat completions and models in the formats of OpenAI's API."""
