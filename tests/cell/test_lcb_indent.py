"""A program that is indented as text is compiled to what its syntax tree would give."""

import dis
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType

import pytest
from compiling_process import by_text, by_tree

from proctor.cell import lcb_load
from proctor.cell.lcb_indent import wrapped

NAME = "wrapped_function"
INDENTED = {
    "plain": "n = int(input())\nprint(n)",
    "imports": "import sys, math as m\nprint(1)\nfrom a.b import *\nprint(2)\nimport os \nprint(3)",
    "guard": "def main():\n    print(1)\nif __name__ == '__main__':\n    main()\n# end\n\n  # end\n",
    "guard_in_a_line": 'x = 1\nif __name__ == "__main__": print(x)',
    "nested_import": "def f():\n    import os\ntry:\n    import sys\nexcept ImportError: pass\nf()",
    "brackets": "a = [\n1,\n  2,\n]\nprint(a,\n      sep='')\n",
    "comments_first": "   # a\n\n# b\nprint(1)",
    "words": "importer = fromage = 1\nprint(importer)",
    "text": "'a doc'\nprint('import os')",
    "return": "if input():\n    return\nprint(1)",
    "names": "global g\ng = 1\ndef f():\n    return g",
}
NOT_INDENTED = {
    "long_text": 'x = """\na\n"""',
    "long_quote": "x = '''a'''",
    "joined": "x = 1 + \\\n    2",
    "joined_to_nothing": "x = 1\\",
    "tab": "if x:\n\ty = 1",
    "form_feed": "\fx = 1",
    "carriage_return": "x = 1\ry = 2",
    "nul": "x = 1\0",
    "all_indented": " x = 1\n y = 2",
    "comment_then_indented": "# a\n\n  x = 1",
    "only_imports": "import os\nfrom math import *",
    "nothing": "",
    "import_in_brackets": "from a import (b,\n    c)\nprint(b)",
    "import_then_more": "import os; x = 1",
    "more_then_import": "x = 1; import os",
    "import_and_comment": "import os  # (\nx = 1",
    "guard_with_import": "x = 1\nif __name__ == '__main__':\n    import os\n    x = 2",
    "guard_with_else": "x = 1\nif __name__ == '__main__':\n    x = 2\nelse:\n    x = 3",
    "guard_in_the_middle": "if __name__ == '__main__':\n    x = 2\ny = 3",
    "other_guard": "if '__main__' == __name__:\n    x = 2",
    "name_beside_guard": "print(__name__)\nif __name__ == '__main__':\n    x = 2",
}
BROKEN = {
    "import_in_list": "x = [\nimport os\n]\nprint(x)",
    "import_for_body": "x = 1\nif x:\nimport os\nprint(x)",
    "import_decorated": "@f\nimport os\ndef g(): pass",
    "indent_after_import": "x = 1\nimport os\n  y = 2",
    "first_indent_after_import": "import os\n  y = 2\nx = 1",
    "bad_import": "import os as\nx = 1",
    "no_names": "from math import\nx = 1",
    "guard_without_body": "x = 1\nif __name__ == '__main__':\n",
    "yield_from": "x = (yield\nfrom y)\n(",
    "nonlocal": "nonlocal x\nx = 1",
    "late_global": "x = 1\nglobal x",
    "star_in_function": "def f():\n    from math import *\nf()",
}


@pytest.mark.parametrize("source", INDENTED.values(), ids=INDENTED)
def test_gives_the_code_that_the_tree_gives(source: str) -> None:
    assert by_text(source) is not None
    _assert_same(source)


@pytest.mark.parametrize("source", NOT_INDENTED.values(), ids=NOT_INDENTED)
def test_leaves_to_the_tree(source: str) -> None:
    assert wrapped(source, NAME) is None


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN)
def test_mends_no_program(source: str) -> None:
    assert by_text(source) is None


@pytest.mark.parametrize(
    "nested",
    [
        lambda n: f"x = {'a + ' * n}a",
        lambda n: f"x = {'[' * n}{']' * n}",
        lambda n: "if a: b\n" + "elif a: b\n" * n,
        lambda n: f"x = {'lambda: ' * n}0",
    ],
    ids=["operators", "lists", "branches", "functions"],
)
def test_gives_up_no_later_than_the_tree(nested: Callable[[int], str]) -> None:
    for depth in range(100, 150):
        if by_tree(nested(depth)) is None:
            assert by_text(nested(depth)) is None


def test_recorded_programs_and_what_mutilates_them(test_data: Path) -> None:
    """Most are indented, and none is mended."""
    rng = random.Random(0)
    programs = list(_recorded(test_data))
    assert sum(wrapped(source, NAME) is not None for source in programs) > 0.9 * len(programs)
    pieces = [
        "import os",
        " x",
        "(",
        "]",
        "'",
        "else:",
        "    import os",
        "if x:",
        "#",
        "\\",
        "pass",
    ]
    for source in programs:
        if lcb_load._needs_text(source):
            continue
        _assert_same(source)
        lines = source.split("\n")
        for _ in range(3):
            lines.insert(rng.randrange(len(lines)), rng.choice(pieces))
            mutilated = "\n".join(lines)
            if by_text(mutilated) is not None:
                assert by_tree(mutilated) is not None, mutilated


def _recorded(data: Path) -> Iterator[str]:
    home = data / "livecodebench"
    rows = map(json.loads, (home / "problems.jsonl").read_text().splitlines())
    stdio = {row["question_id"] for row in rows if "func_name" not in row["metadata"]}
    for row in map(json.loads, (home / "programs.jsonl").read_text().splitlines()):
        if row["question_id"] in stdio:
            yield row["code"]


def _assert_same(source: str) -> None:
    text, tree = by_text(source), by_tree(source)
    if text is not None:
        assert tree is not None, source
        assert _shape(_function(text)) == _shape(_function(tree)), source
        assert _hoisted(text) == _hoisted(tree), source


def _function(module: CodeType) -> CodeType:
    (found,) = (item for item in module.co_consts if isinstance(item, CodeType))
    return found


def _hoisted(module: CodeType) -> list[object]:
    """Names that the module's own code imports and sets, in order."""
    return [one.argval for one in dis.get_instructions(module) if "IMPORT" in one.opname]


def _shape(code: CodeType) -> object:
    """All of a function's code but places: in the text, and in the code where it goes on."""
    steps = [
        (one.opname, _operand(one.argval))
        for one in dis.get_instructions(code)
        if one.opname not in {"NOP", "CACHE", "EXTENDED_ARG"}
        and "JUMP" not in one.opname and "FOR_ITER" not in one.opname
    ]  # fmt: skip
    return code.co_name, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags, steps


def _operand(value: object) -> object:
    if isinstance(value, CodeType):
        return _shape(value)
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)
