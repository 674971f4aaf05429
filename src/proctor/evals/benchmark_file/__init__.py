"""Benchmarks that are files: rows, prompts, extraction and grading, described in TOML."""
