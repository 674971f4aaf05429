"""Proctor inside other frameworks; each module needs the extra of its name."""
