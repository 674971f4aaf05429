"""The service: an engine with admission, jobs and sessions, and the APIs over it."""
