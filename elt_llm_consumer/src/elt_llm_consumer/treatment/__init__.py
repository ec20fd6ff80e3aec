"""Whether a handbook treats an entity of a model: features, verdict, reasons."""
