"""`proctor languages`."""

import json
from pathlib import Path

import pytest
from command import proctor

BROKEN = """
id = "{id}"
name = "Broken"
family = "python"
extensions = [".{id}"]
source = "main.{id}"
install = "apt install python3"

[tools.python]
names = ["{tool}"]

[run]
command = ["{{python}}", "{{source}}"]

[selftest]
source = "print(int(input()) + 1)"
input = "1"
output = "3\\n"
"""


def with_broken(tmp_path: Path, tool: str = "python3") -> dict[str, str]:
    (tmp_path / "broken.toml").write_text(BROKEN.format(id="broken", tool=tool))
    config = tmp_path / "config"
    config.write_text(f'[languages]\ndirectory = "{tmp_path}"\n')
    return {"PROCTOR_CONFIG": str(config)}


def test_the_list() -> None:
    done = proctor("languages", "--json")
    assert done.returncode == 0
    rows = {row["id"]: row for row in json.loads(done.stdout)["languages"]}
    assert len(rows) >= 23
    assert rows["c"]["found"]
    assert rows["c"]["tools"].keys() == rows["c"]["versions"].keys() == {"compiler"}
    for row in rows.values():
        assert row["found"] or row["install"]
    shown = proctor("languages").stdout.decode().splitlines()
    assert [line.split()[1] for line in shown] == list(rows)


def test_names_choose() -> None:
    done = proctor("languages", "c++", "py", "--json")
    assert [row["id"] for row in json.loads(done.stdout)["languages"]] == ["cpp17", "python"]
    wrong = proctor("languages", "pyhton")
    assert wrong.returncode == 2
    assert b"did you mean 'python'" in wrong.stderr


def test_selftests() -> None:
    done = proctor("languages", "--selftest", "python", "bash", "--json")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["selftests"]
    assert [(each["id"], each["status"]) for each in results] == [
        ("python", "passed"), ("bash", "passed"),
    ]  # fmt: skip
    assert all(each["cpu_seconds"] > 0 for each in results)


def test_a_wrong_answer_is_told(tmp_path: Path) -> None:
    done = proctor("languages", "--selftest", "bash", "broken", env=with_broken(tmp_path))
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith("passed  bash")
    assert lines[1].split(None, 2)[:2] == ["failed", "broken"]
    assert r"it printed '2\n', not '3\n'" in lines[1]


def test_a_missing_language_fails_only_if_named(tmp_path: Path) -> None:
    environment = with_broken(tmp_path, tool="no-such-tool")
    done = proctor("languages", "broken", env=environment)
    assert done.returncode == 0
    assert done.stdout.decode().split() == [
        "missing",
        "broken",
        "Broken",
        "apt",
        "install",
        "python3",
    ]
    named = proctor("languages", "--selftest", "broken", "--json", env=environment)
    assert named.returncode == 1
    assert json.loads(named.stdout)["selftests"][0]["status"] == "missing"


def test_a_broken_definition_is_named(tmp_path: Path) -> None:
    environment = with_broken(tmp_path)
    (tmp_path / "broken.toml").write_text("id = 'broken'\n")
    done = proctor("languages", env=environment)
    assert done.returncode == 2
    assert b"broken.toml" in done.stderr


@pytest.mark.slow
@pytest.mark.language("cpp")
def test_headers_are_made_once(tmp_path: Path) -> None:
    home = {"XDG_CACHE_HOME": str(tmp_path)}
    first = proctor("languages", "--warm", env=home)
    assert (first.returncode, first.stdout) == (0, b"C++17: ready\nC++17 -DEVAL: ready\n")
    made = {path: path.stat().st_ino for path in tmp_path.rglob("*.gch")}
    assert len(made) == 2
    assert proctor("languages", "--warm", "cpp17", env=home).stdout == first.stdout
    assert {path: path.stat().st_ino for path in tmp_path.rglob("*.gch")} == made
    wrong = proctor("languages", "--warm", "python", env=home)
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert b"only C++ has headers" in wrong.stderr
