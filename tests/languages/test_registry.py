"""Finding languages: by name, by file, and on this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from test_language import WHOLE

from proctor.errors import InputError, NoLanguage
from proctor.languages import registry


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of the user's own definitions."""
    place = tmp_path / "languages"
    place.mkdir()
    settings = tmp_path / "config.toml"
    settings.write_text(f'[languages]\ndirectory = "{place}"\n')
    monkeypatch.setenv("PROCTOR_CONFIG", str(settings))
    registry._load.cache_clear()
    yield place
    registry._load.cache_clear()


def test_by_id_and_alias() -> None:
    assert registry.get("cpp17").id == "cpp17"
    assert registry.get("C++").id == "cpp17"
    assert registry.get("gnu++20").id == "cpp20"
    assert registry.get("Python3").id == "python"


def test_an_unknown_one_says_what_there_is() -> None:
    with pytest.raises(InputError, match="did you mean 'javascript'") as caught:
        registry.get("javascrpt")
    assert "cpp17" in str(caught.value)
    with pytest.raises(InputError, match="'xyzzy' is not a language \\(there are"):
        registry.get("xyzzy")


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.cpp", "", "cpp17"),
        ("dir.c/a.cc", "", "cpp17"),
        ("a.c", "", "c"),
        ("a.h", "", None),
        ("a.hpp", "", None),
        ("a", "", None),
        ("Makefile.txt", "", None),
        ("a.py", "print(1)", "python"),
        ("a.py", "#!/usr/bin/python3\n", "python"),
        ("a.py", "#!/usr/bin/env python3.11\n", "python"),
        ("a.py", "#! /usr/bin/env -S python -u\n", "python"),
        ("a.py", "#!/usr/bin/env pypy3\n", "pypy"),
        ("a.py", b"#!/usr/bin/pypy3\nprint('\xff')", "pypy"),
        ("a.py", "#!/usr/bin/python2.7\n", None),
        ("a.py", "#!/usr/bin/env python2\n", None),
        ("a.sh", "#!/bin/bash\n", "bash"),
        ("a.sh", "#!\n", "bash"),
        ("A.java", "", "java"),
        ("a.rs", "", "rust"),
    ],
)
def test_by_file(name: str, source: str | bytes, expected: str | None) -> None:
    found = registry.by_extension(name, source)
    assert (found.id if found else None) == expected


def test_what_is_here_is_found_with_its_version() -> None:
    found = registry.find(registry.get("c"))  # a C compiler has built proctor
    assert found.tools["compiler"].startswith(("/usr", "/bin"))
    assert any(letter.isdigit() for letter in found.version)
    assert "c" in [each.language.id for each in registry.available()]


def test_what_is_missing_says_how_to_get_it(directory: Path) -> None:
    (directory / "mine.toml").write_text(WHOLE)
    with pytest.raises(NoLanguage, match="no minec that cells could execute; build it"):
        registry.find(registry.get("mine"))
    assert "mine" not in [each.language.id for each in registry.available()]


def test_a_tool_that_cells_would_not_see_is_none(directory: Path, tmp_path: Path) -> None:
    tool = tmp_path / "minec"
    tool.write_text("#!/bin/sh\necho mine 1.5\n")
    tool.chmod(0o755)
    named = WHOLE.replace('["minec"]', f'["{tool}"]')
    (directory / "mine.toml").write_text(named)
    with pytest.raises(NoLanguage):
        registry.find(registry.get("mine"))
    registry._load.cache_clear()
    seen = named.replace("[tools", f'reads = ["{tmp_path.parent}/*"]\n[tools', 1)
    (directory / "mine.toml").write_text(seen)
    found = registry.find(registry.get("mine"))
    assert found.tools == {"compiler": str(tool)}
    assert found.version == "mine 1.5"
    assert str(tmp_path) in registry.reads()


def test_a_tool_that_changes_is_asked_again(directory: Path, tmp_path: Path) -> None:
    for version in ("1.5", "1.15"):
        _make_tool(directory, tmp_path, f"echo 'a warning of 9'\necho mine {version}\n")
        assert registry.find(registry.get("mine")).version == f"mine {version}"


def test_a_tool_is_asked_once_for_all_processes(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    asked = tmp_path / "asked"
    _make_tool(directory, tmp_path, f"echo x >> {asked}\necho mine 1.2\n")
    for _ in range(2):
        registry._version.cache_clear()  # as in a new process
        assert registry.find(registry.get("mine")).version == "mine 1.2"
    assert asked.read_text() == "x\n"


def _make_tool(directory: Path, place: Path, script: str) -> None:
    tool = place / "minec"
    text = WHOLE.replace('["minec"]', f'["{tool}"]')
    (directory / "mine.toml").write_text(text.replace("[tools", f'reads = ["{place}"]\n[tools', 1))
    tool.write_text("#!/bin/sh\n" + script)
    tool.chmod(0o755)


def test_the_users_file_goes_first(directory: Path) -> None:
    (directory / "bash.toml").write_text(WHOLE.replace('id = "mine"', 'id = "bash"'))
    assert registry.get("bash").name == "Mine"
    with pytest.raises(InputError):
        registry.get("shell")
    assert registry.get("c").name == "C17"


def test_names_and_endings_are_claimed_once(directory: Path) -> None:
    taken = WHOLE.replace("install", 'aliases = ["py"]\ninstall')
    (directory / "mine.toml").write_text(taken)
    with pytest.raises(InputError, match=r"mine\.toml.*python.*|python\.toml.*mine"):
        registry.languages()
    (directory / "mine.toml").write_text(WHOLE.replace('[".mine"]', '[".mine", ".rs"]'))
    with pytest.raises(InputError, match="default = false"):
        registry.languages()


def test_a_directory_that_is_not_there(directory: Path) -> None:
    directory.rmdir()
    with pytest.raises(InputError, match=r"languages\.directory"):
        registry.languages()


def test_directories_to_read_are_there() -> None:
    for path in registry.reads():
        assert Path(path).is_dir()
