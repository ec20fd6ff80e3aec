"""The SQLite database: schema, rows, codecs, reading."""
