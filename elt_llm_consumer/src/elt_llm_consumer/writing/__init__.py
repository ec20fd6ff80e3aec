"""Reports from templates, summaries of topics and reports on concepts."""
