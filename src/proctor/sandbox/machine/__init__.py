"""What the machine gives: processes, control groups, users, files, interpreters."""
