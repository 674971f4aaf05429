"""Benchmarks that are files: rows, prompts, extraction and grading, told in TOML."""
