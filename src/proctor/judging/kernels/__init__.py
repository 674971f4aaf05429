"""Fixed pieces of work by which machines are compared."""
