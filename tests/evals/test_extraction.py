"""Programs in replies; each case is one that some harness got wrong."""

import ast
import json
from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.evals.extraction import extract as _extract
from proctor.formats.thoughts import answer


def extract(*a, **k):
    return _extract(*a, **k).code


CASES = {
    "plain": ("Text\n```python\nx = 1\n```\n", "x = 1\n"),
    "unterminated": ("```python\nn = int(input())\nprint(n)", "n = int(input())\nprint(n)"),
    "tilde": ("~~~python\nx = 1\n~~~", "x = 1\n"),
    "version": ("```python3.11\nx = 1\n```", "x = 1\n"),
    "short name": ("```py\nx = 1\n```", "x = 1\n"),
    "last of several": ("```python\nx = 1\n```\nBetter:\n```python\nx = 2\n```", "x = 2\n"),
    "output after it": ("```python\nx = 1\n```\nIt prints\n```\n1\n```", "x = 1\n"),
    "unnamed": ("```\nx = 1\n```", "x = 1\n"),
    "another language": ("```cpp\nint main() {}\n```", ""),
    "no fence": ("n = int(input())\nprint(n)", "n = int(input())\nprint(n)"),
    "prose": ("I do not know", ""),
    "one word": ("Sorry", ""),
    "nothing": ("", ""),
    "empty block": ("```python\n```", ""),
    "thoughts": ("<think>```python\nx = 0\n```</think>```python\nx = 1\n```", "x = 1\n"),
    "thoughts without a start": ("```python\nx = 0\n```</think>\n```python\nx = 1\n```", "x = 1\n"),
    "still thinking": ("<think>\n```python\nx = 0\n```", ""),
    "a tag in a program": ("```python\ns = '<think>'\n```", "s = '<think>'\n"),
    "fence in a string": (
        '```python\ns = """\n```\n"""\nprint(s)\n```\nDone.', 's = """\n```\n"""\nprint(s)\n'
    ),
    "in a list": ("1. Do\n\n   ```python\n   x = 1\n   ```\n", "x = 1\n"),
    "windows": ("```python\r\nx = 1\r\n```\r\n", "x = 1\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_last_block(name: str) -> None:
    reply, code = CASES[name]
    assert extract(reply) == code


def test_first_block() -> None:
    assert extract(CASES["last of several"][0], "first-block") == "x = 1\n"


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("```python\nx = 1\n```", "x = 1"),
        ("```python\nx = 1", ""),
        ("```python\nx = 1\n```\nprints\n```\n1\n```", "1"),
        ("x = 1", ""),
    ],
)
def test_upstreams_rule(reply: str, code: str) -> None:
    assert extract(reply, "upstream") == code


def test_whole() -> None:
    assert extract(" x ", "whole") == " x "


def test_unknown_policy() -> None:
    with pytest.raises(InputError, match="last-block"):
        extract("", "best")


def test_a_reply_of_tags_only_takes_no_time() -> None:
    """Patterns that look ahead from every tag would take hours."""
    assert answer("<think>" * 100_000) == ""
    assert answer("<think></think>" * 100_000 + "x") == "x"


def test_real_replies(test_data: Path) -> None:
    """Of 164 chat replies in Python, how many give a program that parses."""
    lines = (test_data / "chat-replies" / "llama3-python.jsonl").read_text().splitlines()
    replies = [json.loads(line)["generation"] for line in lines]
    parsed = 0
    for reply in replies:
        code = extract(reply)
        assert code.strip(), reply
        try:
            ast.parse(code)
        except SyntaxError:
            continue
        parsed += 1
    assert parsed >= len(replies) - 2


def test_real_replies_in_another_language(test_data: Path) -> None:
    lines = (test_data / "chat-replies" / "llama3-cpp.jsonl").read_text().splitlines()
    replies = [json.loads(line)["generation"] for line in lines]
    found = [extract(reply, language="cpp") for reply in replies]
    assert all("{" in code for code in found)
    named = [reply for reply in replies if "```cpp" in reply or "```c++" in reply]
    assert not any(extract(reply) for reply in named), "C++ is no Python"
