"""Level `container`: docker or podman around a cell that proctor drives from inside."""
