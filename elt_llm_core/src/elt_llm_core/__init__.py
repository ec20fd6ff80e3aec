"""Types, configuration, models and stores of elt_llm."""
