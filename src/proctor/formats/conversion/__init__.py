"""Packages written in other formats: one module for each, and what compares the result."""
