"""The host's side of the cells."""
