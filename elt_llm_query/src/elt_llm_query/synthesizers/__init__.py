"""What writes the answer: the extractive synthesizer, and LlamaIndex's modes."""
