"""Tools of the Model Context Protocol, on stdio and over HTTP."""
