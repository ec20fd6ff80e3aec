"""The formats that ship; each is a strategy of the stage `formats`."""
