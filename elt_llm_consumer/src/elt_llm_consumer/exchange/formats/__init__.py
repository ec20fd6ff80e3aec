"""The shipped formats; each is a strategy of the stage `formats`."""
