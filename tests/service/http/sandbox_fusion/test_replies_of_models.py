"""Programs in replies, as SandboxFusion's helpers find them."""

import pytest

from proctor.service.http.sandbox_fusion import replies
from proctor.service.http.sandbox_fusion.replies import ReplyBlock


@pytest.mark.parametrize(
    ("reply", "blocks"),
    [
        ("", []),
        ("```python\nx = 1\n```", [ReplyBlock("python", "x = 1")]),
        ("so: ```py\nx = 1\n\n  ```\n", [ReplyBlock("python", "x = 1")]),
        ("```\n\n```", [ReplyBlock("", "")]),
        ("```\n```", []),  # that is no end: between the fences there has to be a line
        (
            "```c++\nint x;\n```\n```weird\ny\n```",
            [ReplyBlock("cpp", "int x;"), ReplyBlock("", "y")],
        ),
        ("```js\na ``` b\n```", [ReplyBlock("nodejs", "a ``` b")]),
        ("```python\nx", []),
        ("```no line", []),
    ],
)
def test_fenced_blocks(reply: str, blocks: list[ReplyBlock]) -> None:
    assert replies.fenced(reply) == blocks


@pytest.mark.parametrize(
    ("reply", "language", "program"),
    [
        ("```bash\nls\n```\n```python\nx = 1\n```", "python", "x = 1"),
        ("```bash\nls\n```\n```python\nx = 1\n```", "go", "ls"),
        ("```python\nx = 1", "python", "x = 1"),
        ("Well.\nimport os\n\ndef f():\n    return 1\nSo.", "python", "import os\ndef f():\n    return 1\n"),
        ("import this", "python", ""),
        ("def f(): pass", "python", ""),
        ("Ask:\nselect 1;\nDone", "sql", "select 1"),
        ("ls\n\npwd", "bash", "ls\npwd\n"),
        ("nothing", "go", ""),
    ],
)  # fmt: skip
def test_the_program(reply: str, language: str, program: str) -> None:
    assert replies.program_of(reply, language) == program


@pytest.mark.parametrize(
    ("code", "language", "kept"),
    [
        ('x = 1\nif __name__ == "__main__":\n    f()', "python", "x = 1"),
        ("int f();\nint main() {}", "cpp", "int f();"),
        ("package main\nfunc f() {}", "go", "\nfunc f() {}"),
        ("x = 1\n# Example usage\nf()", "lua", "x = 1"),
        ("x = 1", "python", "x = 1"),
    ],
)
def test_the_main_part_is_left_out(code: str, language: str, kept: str) -> None:
    assert replies.without_entry_point(code, language) == kept


@pytest.mark.parametrize("part", ["```", "```\n", "\n", " \n", "import x\n", "with as", "`\n "])
def test_long_replies_are_read_in_linear_time(part: str) -> None:
    """With quadratic time this would take minutes, and the test's own limit would end it."""
    for language in ("python", "sql", "bash"):
        replies.program_of(part * 200_000, language)
