"""The Model Context Protocol: tools for language models."""
