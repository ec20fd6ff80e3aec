"""The formats: each module converts the bytes of one file to parsed documents."""
