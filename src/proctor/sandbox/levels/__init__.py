"""The isolation levels whose boxes are started here."""
