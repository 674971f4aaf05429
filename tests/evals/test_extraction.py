"""Programs in replies; most cases are shapes of reply_shapes.py."""

import ast
import json
from collections import Counter
from pathlib import Path

import pytest
from reply_shapes import CPP, EXAMPLE, FUNCTION, OTHER, PROGRAM, SHAPES, fenced

from proctor.errors import InputError
from proctor.evals.extraction import Extracted, extract
from proctor.formats.thoughts import answer
from proctor.languages.python_text import LONGEST

LAST_BLOCK = {
    "plain": ("Text\n```python\nx = 1\n```\n", "x = 1\n"),
    "unterminated": ("```python\nn = int(input())\nprint(n)", "n = int(input())\nprint(n)"),
    "last of several": ("```python\nx = 1\n```\nBetter:\n```python\nx = 2\n```", "x = 2\n"),
    "output after it": ("```python\nx = 1\n```\nIt prints\n```\n1\n```", "x = 1\n"),
    "unnamed": ("```\nx = 1\n```", "x = 1\n"),
    "another language": ("```cpp\nint main() {}\n```", ""),
    "no fence": ("n = int(input())\nprint(n)", "n = int(input())\nprint(n)"),
    "prose": ("I do not know", ""),
    "empty block": ("```python\n```", ""),
    "thoughts": ("<think>```python\nx = 0\n```</think>```python\nx = 1\n```", "x = 1\n"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_program_that_a_person_would_take(name: str) -> None:
    shape = SHAPES[name]
    found = extract(shape.reply, "auto", shape.language, shape.entry)
    assert found.code.strip() == shape.code.strip()
    assert bool(found.rule) == bool(shape.code)


def test_there_are_many_shapes_and_lcb_runner_gets_many_wrong() -> None:
    wrong = [
        name
        for name, shape in SHAPES.items()
        if extract(shape.reply, "upstream").code.strip() != shape.code.strip()
    ]
    assert len(SHAPES) >= 140
    assert len(wrong) >= 60


@pytest.mark.parametrize(
    ("reply", "entry", "rule"),
    [
        (fenced(), None, "block"),
        (fenced(FUNCTION) + "\n" + fenced(EXAMPLE), "double", "defines"),
        (fenced(OTHER) + "\n" + fenced("x = 1\n"), None, "reads"),
        (fenced("def f():\n    print(input())\n") + "\n" + fenced("f()\n"), None, "joined"),
        (fenced("y = 1\n") + "\n" + fenced("x = 1\n"), None, "parses"),
        (fenced("y = (\n") + "\n" + fenced("x = (\n"), None, "last-block"),
        (PROGRAM, None, "whole"),
        ('{"code": "print(1)"}', None, "json"),
        ("<code>print(1)</code>", None, "tag"),
        (fenced("+print(1)\n", "diff"), None, "diff"),
        (f"So:\n\n{PROGRAM}", None, "part"),
        ("a ``` b\nx = (\n c ``` d", None, "upstream"),
        ("no", None, ""),
    ],
)
def test_the_rule_is_named(reply: str, entry: str | None, rule: str) -> None:
    assert extract(reply, entry=entry).rule == rule


def test_the_last_resort_is_a_block_that_names_the_language() -> None:
    assert extract(fenced("y = (\n") + "\n" + fenced("x = (\n", "")) == Extracted(
        "y = (\n", "last-block"
    )


def test_a_long_block_at_the_end_is_looked_at_alone() -> None:
    """It may be all that there is time for; what stands before is then not taken instead."""
    long = "x = 1\n" * (LONGEST // 6 + 1)
    found = extract(fenced(PROGRAM) + "\n" + fenced(long))
    assert (found.code == long, found.rule) == (True, "last-block")
    assert extract(fenced(long) + "\n" + fenced(PROGRAM)) == Extracted(PROGRAM, "reads")


def test_a_block_of_the_same_lines_that_are_indented_anew_is_no_excerpt() -> None:
    wrong = "for n in range(int(input())):\n    print(n)\n    print('end')\n"
    right = wrong.replace("    print('end')", "print('end')")
    assert extract(fenced(wrong) + "\n" + fenced(right)) == Extracted(right, "reads")
    excerpt = wrong.splitlines(keepends=True)[1].strip()
    assert extract(fenced(wrong) + "\n" + fenced(excerpt)) == Extracted(wrong, "reads")


def test_a_program_is_joined_only_with_what_calls_it() -> None:
    defines = "def solve():\n    print(input())\n"
    for later, found in (
        ("print('so')\n", Extracted(defines, "reads")),
        ("solve()\n", Extracted(f"{defines}\nsolve()\n", "joined")),
    ):
        assert extract(fenced(defines) + "\n" + fenced(later)) == found


def test_a_class_that_is_asked_for_has_the_method() -> None:
    one, other = (f"class Solution:\n    def {name}(self):\n        return 1\n" for name in "fg")
    for entry, code in (("f", one), ("g", other), ("Solution", other)):
        assert extract(fenced(one) + "\n" + fenced(other), entry=entry) == Extracted(
            code, "defines"
        )


@pytest.mark.parametrize(
    ("last", "found"),
    [
        ("    return n * 2\n", Extracted("    return n * 2\n", "last-block")),
        ("\treturn n * 2\n", Extracted("\treturn n * 2\n", "last-block")),
        ("y = (\n", Extracted("print(1)\n", "parses")),
    ],
)
def test_what_is_no_module_may_complete_a_function_only_if_it_is_indented(
    last: str, found: Extracted
) -> None:
    assert extract(fenced("print(1)\n") + "\n" + fenced(last), entry="double") == found


def test_rules_of_other_languages() -> None:
    explained = fenced(CPP, "cpp") + "\n" + fenced("n = 1;\n", "cpp")
    assert extract(explained, language="cpp") == Extracted(CPP, "main")
    assert extract(fenced("x\n", "ruby"), language="cpp") == Extracted("x", "upstream")


@pytest.mark.parametrize("name", LAST_BLOCK)
def test_last_block(name: str) -> None:
    reply, code = LAST_BLOCK[name]
    assert extract(reply, "last-block").code == code


def test_first_block() -> None:
    found = extract(LAST_BLOCK["last of several"][0], "first-block")
    assert found == Extracted("x = 1\n", "first-block")


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
    assert extract(reply, "upstream").code == code


def test_whole() -> None:
    assert extract(" x ", "whole") == Extracted(" x ", "whole")


def test_unknown_policy() -> None:
    with pytest.raises(InputError, match="last-block"):
        extract("", "best")


def test_a_reply_of_tags_or_tokens_only_takes_no_time() -> None:
    """Patterns that look ahead from every tag would take hours."""
    assert answer("<think>" * 100_000) == ""
    assert answer("<think></think>" * 100_000 + "x") == "x"
    assert answer("<|im_end|> " * 100_000) == ""
    assert answer("<|channel|>x<|message|>" * 100_000) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["```python\nx\n```\n", "```", "```\n", "> " * 50 + "```\n", "<code>", "`x`", "{", "+\n",
     "import x\n\n", "```python\nx = 1\n", "a```", "~~~\n", "- - - ```md\n", "<|a|>"],
)  # fmt: skip
def test_a_reply_of_one_piece_many_times_takes_no_time(piece: str) -> None:
    """With work that grows by the square of a reply's length these would take an hour."""
    for language in ("python", "cpp"):
        for entry in (None, "x"):
            extract(piece * (1_000_000 // len(piece)), "auto", language, entry)


def test_real_replies(test_data: Path) -> None:
    """Of 164 chat replies in Python each gives the function that was asked for."""
    lines = (test_data / "chat-replies" / "llama3-python.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    rules = Counter[str]()
    for row in rows:
        entry = row["prompt"].rpartition("def ")[2].partition("(")[0]
        found = extract(row["generation"], entry=entry)
        rules[found.rule] += 1
        ast.parse(found.code)
    assert sum(rules.values()) == len(rows) >= 160
    assert rules["block"] + rules["defines"] == len(rows), rules


def test_real_replies_in_another_language(test_data: Path) -> None:
    lines = (test_data / "chat-replies" / "llama3-cpp.jsonl").read_text().splitlines()
    replies = [json.loads(line)["generation"] for line in lines]
    found = [extract(reply, language="cpp").code for reply in replies]
    assert all("{" in code for code in found)
    named = [reply for reply in replies if "```cpp" in reply or "```c++" in reply]
    assert not any(extract(reply).code for reply in named), "C++ is not Python"


@pytest.mark.parametrize(
    ("code", "defines"),
    [
        ("int f(int x) {", True),
        ("std::vector<std::pair<int, int>> f(std::string s)\n{", True),
        ("public static long f(long a) throws X {", True),
        ("fn f(a: isize) -> isize {", True),
        ("local function f(x)", True),
        ("def f(x)", True),
        ("f() {", True),
        ("const f = (a) => a", True),
        ("if (f(2) == 4) {", False),
        ("return f(x) {", False),
        ("assert(f({1, 2}) == 2);", False),
        ("std::cout << f({1}) << std::endl;", False),
        ('int f(int);\nint main() { if (f(2) == 4) { puts("ok"); } }', False),
    ],
)
def test_block_that_defines_what_is_asked_for_in_other_languages(code: str, defines: bool) -> None:
    other = "int other() { return 1; }"
    text = f"```cpp\n{code}\n```\n\n```cpp\n{other}\n```\n"
    found = extract(text, "auto", "cpp17", "f")
    assert (found.code.strip() == code) == defines, found
    assert (found.rule == "defines") == defines
