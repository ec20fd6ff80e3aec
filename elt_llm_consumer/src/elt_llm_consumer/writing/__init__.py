"""Reports by template, summaries of topics and reports of concepts."""
