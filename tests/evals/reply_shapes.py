"""Shapes that models' replies have, each with the program that a person would take.

Written for this corpus, after habits seen in recorded replies of Llama, Qwen, DeepSeek, Gemini, GPT,
Claude, Mistral, Kimi and others, and in what their servers leave in a reply.
"""

from dataclasses import dataclass

PROGRAM = "n = int(input())\nprint(n * 2)\n"
"""Reads and writes."""
OTHER = "print(2 * int(input()))\n"
"""Another such program, which is not meant."""
FUNCTION = "def double(n):\n    return n * 2\n"
"""Defines `double`."""
METHOD = "class Solution:\n    def double(self, n: int) -> int:\n        return n * 2\n"
CPP = "#include <iostream>\nint main() {\n    int n;\n    std::cin >> n;\n    std::cout << n * 2;\n}\n"
QUOTED = 's = """\n```\n"""\nprint(s + input())\n'
"""Holds a fence in a string."""
EXAMPLE = "print(double(4))  # 8\n"
F = "```"


@dataclass(frozen=True, slots=True)
class Shape:
    """One reply."""

    reply: str
    code: str = PROGRAM
    entry: str | None = None
    language: str = "python"


def fenced(code: str = PROGRAM, label: str = "python", before: str = "", after: str = "") -> str:
    return f"{before}{F}{label}\n{code}{F}{after}"


def indented(code: str, by: str) -> str:
    return "".join(by + line for line in code.splitlines(keepends=True))


def asked(reply: str, code: str = FUNCTION) -> Shape:
    return Shape(reply, code, "double")


CLOSINGS = {
    f"closing fence with {name}": Shape(fenced(after=tail))
    for name, tail in {
        "</answer>": "</answer>",
        "<|im_end|>": "<|im_end|>",
        "<|eot_id|>": "<|eot_id|>",
        "a full stop": ".",
        "a zero-width space": "\u200b",
        "</s>": "</s>",
        "<|endoftext|>": "<|endoftext|>",
        "<end_of_turn>": "<end_of_turn>\n",
        "DeepSeek's token": "<｜end▁of▁sentence｜>",
        "spaces": "   \n\nThat is all.",
        "a bold mark": "**\n",
        "a bracket": ")\n",
        "</code>": "</code>\n",
        "a fourth tick": "`\n",
    }.items()
}
OPENINGS = {
    f"opening fence labelled {label or 'by nothing'}": Shape(fenced(label=label, before="So:\n"))
    for label in (
        "",
        "python",
        "Python",
        "PYTHON",
        "py",
        "python3",
        "python3.11",
        "Python 3",
        "{.python}",
        "{python}",
        "python:main.py",
        "main.py",
        "language-python",
        "lang-python",
        "tool_code",
        "solution",
        "code",
        "python {.numberLines}",
        'python title="main.py"',
        " python",
        "python=",
        "py3",
        "python-3",
        "solution.py",
        "answer",
    )
} | {
    "opening fence behind text": Shape(f"Here is the program: {F}python\n{PROGRAM}{F}\n"),
    "opening fence behind a tag": Shape(f"<answer>{F}python\n{PROGRAM}{F}</answer>"),
    "opening fence without label behind text": Shape(f"Here is the program: {F}\n{PROGRAM}{F}\n"),
    "opening fence behind a byte order mark": Shape("\ufeff" + fenced()),
    "opening fence behind a no-break space": Shape("\u00a0" + fenced()),
    "opening fence behind a zero-width space": Shape("So:\n\u200b" + fenced()),
    "both fences in a list": Shape("1. So\n\n" + indented(fenced(), "   ")),
    "opening fence behind a list's dash": Shape(f"- {F}python\n{indented(PROGRAM, '  ')}  {F}\n"),
    "both fences in a quote": Shape(indented(fenced(), "> ")),
    "both fences far to the right": Shape("So:\n\n" + indented(fenced(), "        ")),
    "both fences far to the right by tabs": Shape("So:\n\n" + indented(fenced(), "\t\t")),
    "both fences of tildes": Shape(fenced().replace("`", "~")),
    "both fences of four ticks": Shape(fenced().replace(F, F + "`")),
    "Windows lines": Shape(("So:\n" + fenced() + "\nDone.").replace("\n", "\r\n")),
    "one line": Shape(f"{F}python print(input()){F}", "print(input())"),
}
ENDS = {
    "never closed": Shape(f"So:\n{F}python\n{PROGRAM}"),
    "never closed, a token behind it": Shape(f"{F}python\n{PROGRAM}<|im_end|>"),
    "never closed, prose behind it": Shape(
        f"{F}python\n{PROGRAM}\nThis program reads a number and doubles it.\n"
    ),
    "closed at the end of its last line": Shape(f"{F}python\n{PROGRAM.rstrip()}{F}\n"),
    "closed so, then an example": Shape(
        f"{F}python\n{PROGRAM.rstrip()}{F}\nFor example:\n{F}\n4\n{F}\n"
    ),
    "another opened before it is closed": Shape(f"{F}python\nx = (\nNo:\n{fenced()}"),
    "output opened before it is closed": Shape(f"{F}python\n{PROGRAM}{F}output\n8\n{F}\n"),
    "a fence within a string": Shape(fenced(QUOTED, after="\nDone."), QUOTED),
    "a labelled fence within a string": Shape(
        fenced(QUOTED.replace(F, f"{F}text"), after="\nDone."), QUOTED.replace(F, f"{F}text")
    ),
    "two fences within a docstring": asked(
        fenced(
            f'def double(n):\n    """Double.\n\n    {F}python\n    double(1)\n    {F}\n    """\n'
            "    return n * 2\n",
            after="\n",
        ),
        f'def double(n):\n    """Double.\n\n    {F}python\n    double(1)\n    {F}\n    """\n'
        "    return n * 2\n",
    ),
    "within Markdown": Shape(f"{F}`markdown\n# Answer\n{fenced()}\n{F}`\n"),
    "within Markdown with too few ticks": Shape(f"{F}markdown\n# T\n{fenced()}\n{F}\nI doubled.\n"),
}
SEVERAL = {
    "two programs": Shape(fenced(OTHER) + "\nOr better:\n" + fenced()),
    "brute force first": Shape(
        fenced("for i in range(int(input())):\n    print(i)\n", before="Slow:\n")
        + fenced(before="\nFast:\n")
    ),
    "input behind it": Shape(fenced() + f"\nInput:\n{F}\n4\n{F}\nOutput:\n{F}\n8\n{F}\n"),
    "input before it": Shape(f"Input:\n{F}\n4\n{F}\n" + fenced()),
    "output labelled text": Shape(fenced() + f"\n{F}text\n8\n{F}\n"),
    "shell behind it": Shape(fenced() + f"\n{F}bash\npython3 main.py < in.txt\n{F}\n"),
    "a test of it behind it": Shape(fenced() + "\nTry:\n" + fenced("assert 4 * 2 == 8\n")),
    "an excerpt of it behind it": Shape(fenced() + "\nHere\n" + fenced("n = int(input())\n")),
    "an excerpt that writes, too": Shape(
        fenced("import sys\n" + PROGRAM) + "\nAs said:\n" + fenced(), "import sys\n" + PROGRAM
    ),
    "a helper before it": Shape(fenced("def f(n):\n    return n\n") + "\nThen\n" + fenced()),
    "a program that another block starts": Shape(
        fenced("def main():\n    print(2 * int(input()))\n") + "\nAnd\n" + fenced("main()\n"),
        "def main():\n    print(2 * int(input()))\n\nmain()\n",
    ),
    "an unnamed program, then its output": Shape(
        fenced(label="") + f"\nprints\n{F}\n8 apples\n{F}\n"
    ),
    "a program, then in C++": Shape(fenced() + "\nIn C++:\n" + fenced(CPP, "cpp")),
    "in C++, then a program": Shape(fenced(CPP, "cpp") + "\nIn Python:\n" + fenced()),
    "a sketch in pseudo-code behind it": Shape(fenced() + "\n" + fenced("read n, write 2n\n", "")),
    "a broken draft behind it": Shape(fenced() + "\n" + fenced("n = int(input()\nprint(n)\n")),
    "a usage example behind a function": asked(
        fenced(FUNCTION) + "\nYou can test it:\n" + fenced(EXAMPLE)
    ),
    "an unnamed example behind a function": asked(
        fenced(FUNCTION) + "\nYou can test it:\n" + fenced(EXAMPLE, "")
    ),
    "tests behind a function": asked(
        fenced(FUNCTION) + "\n" + fenced("import unittest\nclass T(unittest.TestCase): pass\n")
    ),
    "a named example behind an unnamed function": asked(
        fenced(FUNCTION, "") + "\nFor example:\n" + fenced(EXAMPLE)
    ),
    "an example before a function": asked(fenced(EXAMPLE) + "\n" + fenced(FUNCTION)),
    "two functions of the name": asked(
        fenced("def double(n):\n    return n + n\n") + "\nBetter:\n" + fenced(FUNCTION)
    ),
    "a usage example behind a class": asked(
        fenced(METHOD) + "\n" + fenced("print(Solution().double(4))\n"), METHOD
    ),
    "another class behind it": asked(
        fenced(METHOD) + "\nA node is\n" + fenced("class Node:\n    pass\n"), METHOD
    ),
    "the rest of a function, then an example": asked(
        fenced("    return n * 2\n") + "\n" + fenced(EXAMPLE), "    return n * 2\n"
    ),
    "the explanation in steps": asked(
        fenced(FUNCTION) + "\n1. We double:\n" + fenced("return n * 2\n") + "\n2. Done\n"
    ),
    "a function and its call by input": asked(
        fenced(FUNCTION) + "\n" + fenced("n = int(input())\nprint(double(n))\n")
    ),
}
THOUGHTS = {
    "thoughts in tags": Shape(f"<think>\n{fenced(OTHER)}\n</think>\n{fenced()}"),
    "thoughts whose start is missing": Shape(f"{fenced(OTHER)}\n</think>\n{fenced()}"),
    "thoughts that end nowhere": Shape(f"<think>\n{fenced(OTHER)}", ""),
    "thoughts, then a bare program": Shape(f"<think>\nEasy.\n</think>\n{PROGRAM}"),
    "Kimi's thoughts": Shape(f"◁think▷{fenced(OTHER)}◁/think▷{fenced()}"),
    "Mistral's thoughts": Shape(f"[THINK]{fenced(OTHER)}[/THINK]{fenced()}"),
    "Seed's thoughts": Shape(f"<seed:think>{fenced(OTHER)}</seed:think>\n{fenced()}"),
    "Sky's thoughts": Shape(
        f"<|begin_of_thought|>\n{fenced(OTHER)}\n<|end_of_thought|>\n"
        f"<|begin_of_solution|>\n{fenced()}\n<|end_of_solution|>"
    ),
    "harmony's channels": Shape(
        f"<|channel|>analysis<|message|>{fenced(OTHER)}<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{fenced()}<|return|>"
    ),
    "harmony's final channel alone": Shape(f"<|channel|>final<|message|>{fenced()}<|return|>"),
    "harmony's channels, never final": Shape(f"<|channel|>analysis<|message|>{fenced(OTHER)}", ""),
    "harmony without its tokens": Shape(f"analysis{fenced(OTHER)}assistantfinal{fenced()}"),
    "a tag of thoughts in a program": Shape(
        fenced("print('<think>' + input())\n"), "print('<think>' + input())\n"
    ),
}
BARE = {
    "bare": Shape(PROGRAM),
    "bare, a token behind it": Shape(PROGRAM.rstrip() + "<|eot_id|>"),
    "bare behind prose": Shape("Here is the program.\n\n" + PROGRAM),
    "bare between prose": Shape(f"Here it is.\n\n{PROGRAM}\nThis program doubles a number.\n"),
    "a bare function between prose": asked(f"Sure!\n\n{FUNCTION}\nIt doubles n.\n"),
    "expressions in single ticks": asked("Call `s.strip()`, then `n *= 2`; no program.", ""),
    "in single ticks": Shape("Use `print(2 * int(input()))`.", OTHER),
    "JSON": Shape('{"code": "n = int(input())\\nprint(n * 2)\\n"}'),
    "JSON in a block": Shape(
        f'{F}json\n{{"thought": "x", "solution": "n = int(input())\\nprint(n * 2)\\n"}}\n{F}'
    ),
    "JSON with fences in it": Shape(
        '{"answer": "```python\\nn = int(input())\\nprint(n * 2)\\n```"}'
    ),
    "JSON behind prose": Shape('So: {"code": "n = int(input())\\nprint(n * 2)\\n"}'),
    "<code>": Shape(f"I do this:\n<code>\n{PROGRAM}</code>\n"),
    "<answer>": Shape(f"<reason>I double.</reason>\n<answer>\n{PROGRAM}</answer>\n"),
    "<solution> with CDATA": Shape(f"<solution><![CDATA[\n{PROGRAM}]]></solution>\n"),
    "<python> with entities": Shape(
        "<python>\nn = int(input())\nprint(n &lt; 2)\n</python>", "n = int(input())\nprint(n < 2)\n"
    ),
    "[PYTHON]": Shape(f"[PYTHON]\n{PROGRAM}[/PYTHON]\n[TESTS]\n4\n[/TESTS]"),
    "LaTeX": Shape(f"\\begin{{lstlisting}}\n{PROGRAM}\\end{{lstlisting}}\n"),
    "a diff of a new file": Shape(
        f"{F}diff\n--- /dev/null\n+++ b/main.py\n@@ -0,0 +1,2 @@\n{indented(PROGRAM, '+')}{F}\n"
    ),
    "a diff of a change": Shape(
        f"{F}diff\n--- a/main.py\n+++ b/main.py\n@@ -1,2 +1,2 @@\n n = int(input())\n"
        f"-print(n)\n+print(n * 2)\n{F}\n"
    ),
    "labelled as text": Shape(fenced(label="text")),
    "labelled as another language": Shape(fenced(label="ruby")),
    "a fence only behind it": Shape(f"{PROGRAM}{F}\n"),
    "prose": Shape("I do not know how to solve this.", ""),
    "a refusal": Shape("I'm sorry, but I can't help with that.", ""),
    "one word": Shape("Sorry", ""),
    "nothing": Shape("", ""),
    "an empty block": Shape(f"{F}python\n{F}\n", ""),
    "another language alone": Shape(fenced(CPP, "cpp"), ""),
    "output alone": Shape(f"{F}\n8\n{F}", "8\n"),
}
CPLUSPLUS = {
    "C++": Shape(fenced(CPP, "cpp"), CPP, language="cpp"),
    "C++ with version": Shape(fenced(CPP, "C++17"), CPP, language="cpp"),
    "C++ by a file's name": Shape(fenced(CPP, "main.cpp"), CPP, language="cpp"),
    "C++ with its parts explained": Shape(
        fenced(CPP, "cpp") + "\nWe read:\n" + fenced("std::cin >> n;\n", "cpp"), CPP, language="cpp"
    ),
    "C++ with a helper behind it": Shape(
        fenced(CPP, "cpp") + "\nA struct:\n" + fenced("struct A { int b; };\n", "cpp"), CPP,
        language="cpp",
    ),
    "a C++ function, then a program that calls it": Shape(
        fenced("int twice(int n) {\n    return 2 * n;\n}\n", "cpp")
        + "\n" + fenced("int main() { return twice(1); }\n", "cpp"),
        "int twice(int n) {\n    return 2 * n;\n}\n", "twice", "cpp",
    ),
    "C++ without a fence": Shape(CPP, CPP, language="cpp"),
}  # fmt: skip
SHAPES = {**CLOSINGS, **OPENINGS, **ENDS, **SEVERAL, **THOUGHTS, **BARE, **CPLUSPLUS}
