"""Requests to Piston's door."""

from typing import Any

import httpx


def execute(http: httpx.Client, language: str, *contents: Any, **more: Any) -> dict[str, Any]:
    """The answer to a request; files are contents, or whole entries."""
    files = [each if isinstance(each, dict) else {"content": each} for each in contents]
    body = {"language": language, "version": "*", "files": files} | more
    answer = http.post("/execute", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found
