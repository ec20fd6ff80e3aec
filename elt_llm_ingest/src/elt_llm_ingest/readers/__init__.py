"""The formats: each module turns the bytes of one file into parsed documents."""
