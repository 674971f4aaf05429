"""Means of the machine: processes, control groups, users, files, interpreters."""
