"""Enterprise models: their types, and several of them joined into one."""
