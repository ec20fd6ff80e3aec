"""The page: Gradio for input and events, HTML of our own templates for output."""
