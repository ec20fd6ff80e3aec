"""ArchiMate models: the Open Exchange format of The Open Group, and Archi's own files.

exchange_format and archi_format (XML to entries) -> archimate_model (entries to the
typed model).
"""
