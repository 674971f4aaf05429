"""Doors that other processes come through: HTTP in several dialects, newline-JSON, MCP."""
