import json
import re
from pathlib import Path

import pytest

from proctor.formats.replies import extract_code

REPLIES = {
    "plain": "Here:\n```cpp\nint a;\n```\nDone.",
    "the last of two": "```cpp\nint b;\n```\nor better\n```cpp\nint a;\n```",
    "upper case with version": "```C++17\nint a;\n```",
    "attributes": "```cpp {.numberLines}\nint a;\n```",
    "tildes": "~~~c++\nint a;\n~~~",
    "never closed": "```cpp\nint a;\n",
    "an earlier one never closed": "```cpp\nint b;\nwait\n```cpp\nint a;\n```",
    "an earlier one of another language never closed": "```text\n1 2\nso\n```cpp\nint a;\n```",
    "within Markdown": "````markdown\n# T\n```cpp\nint a;\n```\n````",
    "within Markdown with too few ticks": "```markdown\n# T\n```cpp\nint a;\n```\n```",
    "in a list": "1. so\n\n   ```cpp\n   int a;\n   ```\n",
    "in a quote": "> ```cpp\n> int a;\n> ```\n",
    "far to the right": "        ```cpp\n        int a;\n        ```\n",
    "behind a tag": "<think>\n```cpp\nint b;\n```\n</think>\n```cpp\nint a;\n```",
    "no language named": "```\nint a;\n```\n```text\n5\n```",
    "named before unnamed": "```cpp\nint a;\n```\nInput:\n```\n5\n```",
    "Windows lines": "```cpp\r\nint a;\r\n```\r\n",
}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES.keys())
def test_the_program_is_found(reply: str) -> None:
    assert (extract_code(reply, "cpp") or "").strip() == "int a;"


@pytest.mark.parametrize("reply", ["", "no code", "`int a;`", "```python\na\n```", "    int a;\n"])
def test_there_is_none(reply: str) -> None:
    assert extract_code(reply, "cpp") is None


def test_an_empty_block_is_a_program_without_text() -> None:
    assert extract_code("```cpp\n```", "cpp") == ""


def test_languages_have_kin() -> None:
    assert extract_code("```cpp\na\n```", "c++20") == "a\n"
    assert extract_code("```py\na\n```\n```cpp\nb\n```", "python") == "a\n"
    assert extract_code("```brainf\na\n```", "brainf") == "a\n"


@pytest.mark.parametrize(("file", "language"), [("llama3-cpp", "cpp"), ("llama3-python", "python")])
def test_real_replies(test_data: Path, file: str, language: str) -> None:
    """All of these are well formed, so that a simple pattern finds the same."""
    lines = (test_data / "chat-replies" / f"{file}.jsonl").read_text().splitlines()
    assert len(lines) > 150
    for line in lines:
        reply = json.loads(line)["generation"]
        blocks = re.findall(rf"^```{language}\n(.*?)^```", reply, re.DOTALL | re.MULTILINE)
        assert extract_code(reply, language) == blocks[-1]
