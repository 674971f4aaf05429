"""Judge0's HTTP API, that of Judge0 CE 1.13.1."""
