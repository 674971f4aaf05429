"""The definitions that come with proctor."""

from pathlib import Path

import pytest

import proctor.languages
from proctor.languages import registry
from proctor.languages.language import Language, read

DIRECTORY = Path(proctor.languages.__file__).parent / "definitions"
FILES = sorted(DIRECTORY.glob("*.toml"))
WANTED = [
    "bash",
    "build-run",
    "c",
    "cpp11",
    "cpp14",
    "cpp17",
    "cpp20",
    "cpp23",
    "csharp",
    "d",
    "go",
    "go-test",
    "haskell",
    "java",
    "javascript",
    "jest",
    "junit",
    "kotlin",
    "kotlin-script",
    "lua",
    "ocaml",
    "pascal",
    "perl",
    "php",
    "pypy",
    "pytest",
    "python",
    "r",
    "racket",
    "ruby",
    "rust",
    "scala",
    "typescript",
    "verilog",
]


def test_all_are_there() -> None:
    assert sorted(path.stem for path in FILES) == WANTED
    assert sorted(registry.languages()) == WANTED


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_is_whole(path: Path) -> None:
    language = read(path.read_text("utf-8"), path.name)
    assert language.selftest.source.strip()
    assert language.selftest.output.endswith("\n")
    assert language.install
    assert language.source.endswith(language.extensions)
    assert not set(language.headers) & set(language.extensions)


def test_names_and_endings_lead_to_one_language() -> None:
    names: dict[str, str] = {}
    defaults: dict[str, str] = {}
    for language in registry.languages().values():
        for name in language.names:
            assert names.setdefault(name, language.id) == language.id
        for ending in language.extensions if language.default else ():
            assert defaults.setdefault(ending, language.id) == language.id
    endings = {each for one in registry.languages().values() for each in one.extensions}
    assert endings == defaults.keys()


def test_the_defaults_of_shared_endings() -> None:
    shared: dict[str, list[Language]] = {}
    for language in registry.languages().values():
        for ending in language.extensions:
            shared.setdefault(ending, []).append(language)
    chosen = {
        ending: next(each.id for each in having if each.default)
        for ending, having in shared.items()
        if len(having) > 1
    }
    assert chosen == {
        ".cpp": "cpp17", ".cc": "cpp17", ".cxx": "cpp17", ".c++": "cpp17", ".py": "python",
        ".go": "go", ".java": "java", ".js": "javascript", ".ts": "typescript",
        ".sh": "bash",
    }  # fmt: skip


def test_every_language_is_in_the_documentation() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "languages.md"
    text = page.read_text("utf-8")
    for language in registry.languages().values():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{language.id}` |"))
        for each in (*language.aliases, *language.extensions):
            assert f"`{each}`" in row
