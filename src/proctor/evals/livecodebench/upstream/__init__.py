"""Prompts and settings of lcb_runner itself, from a checkout of it.

Its sentences are not in this package: its own builders run in a cell, once for each run, with
placeholders for a problem's parts; what they return are templates, byte for byte.
"""
