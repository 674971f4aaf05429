"""Evaluating models on benchmarks: models, prompts, the run and its store."""
