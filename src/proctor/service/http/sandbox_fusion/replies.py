"""Code in a model's reply, found as SandboxFusion's helpers find it, but in linear time."""

import re
from dataclasses import dataclass

_ALIASES = {
    "python": "python Python py Python3 python3 PY",
    "cpp": "cpp c++ C++ Cpp CPP",
    "nodejs": "JS js",
    "go": "go Go",
    "java": "java Java",
    "csharp": "csharp c# C#",
    "bash": "bash Bash BASH sh shell",
    "typescript": "typescript",
    "rust": "rust Rust rs",
    "sql": "sql SQL Sql",
    "D": "D d",
    "julia": "julia Julia jl",
    "lua": "lua Lua",
    "php": "php PHP",
    "perl": "perl Perl PERL",
    "R": "R r",
    "ruby": "ruby Ruby",
    "scala": "scala Scala",
    "kotlin": "kotlin Kotlin",
    "c": "c C",
    "html": "html Html HTML",
    "javascript": "javascript Javascript JavaScript",
    "verilog": "verilog Verilog VERILOG",
    "racket": "racket",
    "swift": "swift",
}
_LANGUAGES = {alias: name for name, aliases in _ALIASES.items() for alias in aliases.split()}
_FENCE = "```"
_CLOSING = re.compile(r"\n[^\S\n]*```")
_SQL = re.compile(r"^[^\S\n]*(?:select|with\s[^\n]+as)[^;]*", re.MULTILINE | re.IGNORECASE)
_ENTRIES = {"python": 'if __name__ == "__main__":', "cpp": "int main()"}
_EXAMPLE = "# Example usage"
_PACKAGE = re.compile(r"package\s+(\w+)")
_IMPORT = re.compile(r'import\s+("\w+")')
_IMPORTS = re.compile(r"import\s+\(")


@dataclass(frozen=True, slots=True)
class ReplyBlock:
    """A part of a reply that may be the program."""

    language: str
    """Language by the block's tag; empty for an unknown one."""
    code: str


def program_of(reply: str, language: str) -> str:
    """Return the program in a reply, empty if there is none.

    It is taken from whole blocks, else from the text after the first fence, else from text that
    looks like the language: the first in that language, or else the first of all.
    """
    blocks = blocks_of(reply, language)
    wanted = [each for each in blocks if each.language == language]
    return (wanted or blocks)[0].code if blocks else ""


def blocks_of(reply: str, language: str) -> list[ReplyBlock]:
    """Return the parts of a reply that may be the program, of the most certain kind found."""
    blocks = fenced(reply) or _unclosed(reply)
    return blocks or [ReplyBlock(language, code) for code in _without_fences(reply, language)]


def fenced(reply: str) -> list[ReplyBlock]:
    """Return the blocks between fences; the last one may begin anywhere in a line."""
    blocks: list[ReplyBlock] = []
    closing = _CLOSING.search(reply)
    opening = reply.find(_FENCE)
    while opening >= 0 and closing is not None:
        line_end = reply.find("\n", opening)
        if line_end < 0:
            break
        while closing is not None and closing.start() <= line_end:
            closing = _CLOSING.search(reply, closing.end())
        if closing is None:
            break
        text = reply[line_end + 1 : closing.start() + 1]
        end = text.index("\n", len(text.rstrip()))  # blank lines before the fence are left out
        blocks.append(ReplyBlock(_tag(reply[opening + 3 : line_end]), text[:end]))
        opening = reply.find(_FENCE, closing.end())
    return blocks


def _tag(text: str) -> str:
    return _LANGUAGES.get(text.strip(), "")


def _unclosed(reply: str) -> list[ReplyBlock]:
    opening = reply.find(_FENCE)
    line_end = reply.find("\n", opening)
    if opening < 0 or line_end < 0:
        return []
    return [ReplyBlock(_tag(reply[opening + 3 : line_end]), reply[line_end + 1 :])]


def _without_fences(reply: str, language: str) -> list[str]:
    """Return what looks like a program of this language in a reply without fences."""
    lines = [line for line in reply.split("\n") if line.strip()]
    text = "\n".join(lines) + "\n"
    if language == "bash":
        return [text]
    if language == "sql":
        return [match.group() for match in _SQL.finditer(text)]
    return _definitions(lines) if language == "python" else []


def _definitions(lines: list[str]) -> list[str]:
    """Return functions and classes, each with the imports and comments right before it."""
    found, at = [], 0
    while at < len(lines):
        head = at
        while head < len(lines) and lines[head].startswith(("import", "from", "#")):
            head += 1
        end = head + 1
        if head < len(lines) and lines[head].startswith(("def ", "class ")):
            while end < len(lines) and lines[end][0].isspace():
                end += 1
            if end > head + 1:
                found.append("\n".join(lines[at:end]) + "\n")
        at = end
    return found


def without_entry_point(code: str, language: str) -> str:
    """Return a program without its main part, or its example, and what follows those."""
    for mark in (_ENTRIES.get(language), _EXAMPLE):
        if language == "go" and mark is None:
            code = code.replace("package main", "")
        elif mark is not None and mark in code:
            code = code[: code.index(mark)].strip()
    return code


def one_go_file(code: str) -> str:
    """Return Go code with its packages and imports, wherever they are, at the beginning."""
    packages = dict.fromkeys(_PACKAGE.findall(code))
    code = _PACKAGE.sub("", code)
    imports = dict.fromkeys(_IMPORT.findall(code))
    kept, at = [], 0
    for match in _IMPORTS.finditer(code):
        end = code.find(")", match.end())
        if end < 0:
            break
        if match.start() >= at:
            lines = code[match.end() : end].split("\n")
            imports |= dict.fromkeys(line.strip() for line in lines if line.strip())
            kept.append(code[at : match.start()])
            at = end + 1
    rest = _IMPORT.sub("", "".join([*kept, code[at:]]))
    head = [*(f"package {name}" for name in packages), ""]
    return "\n".join([*head, *(f"import {name}" for name in imports), "", rest])
