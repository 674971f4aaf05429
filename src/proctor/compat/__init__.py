"""Drop-ins for other judges: their names, signatures and return shapes, proctor's isolation."""
