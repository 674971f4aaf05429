"""Judgements of the past, made again: found, compared, and put into bundles for others."""
