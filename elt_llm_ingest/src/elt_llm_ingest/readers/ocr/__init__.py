"""Text recognition for pages that are pictures."""
