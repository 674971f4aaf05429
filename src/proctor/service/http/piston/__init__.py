"""Piston's HTTP API, v2, and the languages that open-r1's packages add to it."""
