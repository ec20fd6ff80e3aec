"""The configuration: its sections, and how files and the environment fill them."""
