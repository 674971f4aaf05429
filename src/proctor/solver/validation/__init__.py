"""Validators: what a solver claims, checked over plain data."""
