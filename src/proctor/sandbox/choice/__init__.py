"""The choice of an isolation level: levels that are proved to work here, and remedies."""
