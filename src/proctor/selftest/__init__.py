"""Attacks that come with proctor, and what runs them against this machine."""
