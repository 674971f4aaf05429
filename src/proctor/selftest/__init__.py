"""Attacks that come with proctor, and the code that runs them against this machine."""
