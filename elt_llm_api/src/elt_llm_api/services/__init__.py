"""What the routes, the page, MCP and the OpenAI API do, a module for each subject."""
