"""Tables of a PDF page: ruled, aligned and unruled."""
