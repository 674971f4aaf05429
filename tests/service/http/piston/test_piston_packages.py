"""Packages that the operator has: run by their own scripts, through a real server."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from piston_requests import execute

from proctor.errors import SettingsError
from proctor.service.http.piston.packages import runtimes
from proctor.service.http.piston.settings import read_settings
from served import serving
from waiting import PATIENCE

COMPILE = """
test -z "$(cat)" || exit 9
for each in "$@"; do shout "$each" || { echo "no such thing: $each" >&2; exit 4; }; done > made
touch .hidden
"""
RUN = """
test -e .hidden && cat made && echo "$PISTON_LANGUAGE $TOOLS $#: $*"
cat
cat "$(dirname "$0")/secret" > /dev/null && exit "$2"
"""
SHOUT = '#!/bin/sh\ngrep -q hush "$1" && exit 1\ntr a-z A-Z < "$1"\n'


def write(place: Path) -> Path:
    place.chmod(0o755)
    package = place / "shout" / "2.1.0"
    (package / "bin").mkdir(parents=True)
    provides = [{"language": "shout", "aliases": ["loud"], "limit_overrides": {"run_timeout": 900}},
                {"language": "shout-too"}]  # fmt: skip
    info = {"language": "s", "version": "2.1.0", "provides": provides, "build_platform": "any"}
    (package / "pkg-info.json").write_text(json.dumps(info))
    (package / "compile").write_text(COMPILE)
    (package / "run").write_text(RUN)
    (package / "environment").write_text("export PATH=$PWD/bin:$PATH TOOLS=mine\n")
    (package / "bin" / "shout").write_text(SHOUT)
    (package / "bin" / "shout").chmod(0o755)
    (package / "secret").touch()
    plain = place / "upper" / "1.0.0"
    plain.mkdir(parents=True)
    (plain / "pkg-info.json").write_text('{"language": "upper", "version": "1.0.0"}')
    (plain / "run").write_text('tr a-z A-Z < "$1"')
    return place


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    place = write(tmp_path_factory.mktemp("packages"))
    with (
        serving(
            "--no-access-log",
            PISTON_PACKAGES=str(place),
            PISTON_RUN_TIMEOUT="5000",
            PISTON_LIMIT_OVERRIDES='{"upper": {"run_timeout": 700, "output_max_size": 2}}',
        ) as served,
        httpx.Client(base_url=f"{served.url}/api/v2", timeout=PATIENCE) as client,
    ):
        yield client


@pytest.mark.namespaces
def test_a_package_has_its_scripts_and_its_environment(server: httpx.Client) -> None:
    files = [{"name": "a", "content": "hello\n"}, {"name": "b", "content": "you\n"},
             {"name": "raw", "content": "AA==", "encoding": "base64"}]  # fmt: skip
    answer = execute(server, "loud", *files, args=["3", "x y"], stdin="in")
    assert (answer["language"], answer["version"]) == ("shout", "2.1.0")
    assert (answer["compile"]["code"], answer["run"]["code"]) == (0, 3), answer
    assert answer["run"]["stdout"] == "HELLO\nYOU\nshout mine 3: a 3 x y\nin\n", answer
    answer = execute(server, "shout", *files, {"name": "c", "content": "hush"})
    assert (answer["compile"]["code"], answer["run"]["code"]) == (4, 4)
    assert answer["compile"]["stderr"] == "no such thing: c\n"
    answer = execute(server, "upper", "ab")
    assert (answer["run"]["stdout"], answer.get("compile")) == ("AB", None)
    listed = {(each["language"], each["version"]) for each in server.get("/runtimes").json()}
    assert {("shout", "2.1.0"), ("shout-too", "2.1.0"), ("upper", "1.0.0")} < listed


@pytest.mark.parametrize(
    ("language", "most"), [("upper", 700), ("loud", 900), ("shout-too", 5000), ("bash", 5000)]
)
def test_a_language_has_limits_of_its_own(server: httpx.Client, language: str, most: int) -> None:
    files = [{"content": "abc"}]
    asked = {"language": language, "version": "*", "files": files, "run_timeout": most + 1}
    message = server.post("/execute", json=asked).json()["message"]
    assert message == f"run_timeout cannot exceed the configured limit of {most}"


def test_an_output_limit_of_its_own(server: httpx.Client) -> None:
    assert execute(server, "upper", "abc")["run"]["status"] == "OL"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "PISTON_LIMIT_OVERRIDES"),
        ('{"c": {"run_timeout": "2s"}}', r"Expected `int`"),
        ('{"c": {"run_time": 2}}', "c: 'run_time' is not one of run_timeout, "),
    ],
)
def test_overrides_that_cannot_be_read(text: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        read_settings({"PISTON_LIMIT_OVERRIDES": text})


def test_what_is_wrong_with_packages_is_said_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="not a directory"):
        runtimes(str(tmp_path / "none"), [])
    with pytest.raises(SettingsError, match="may not read"):
        runtimes(str(tmp_path), [])
    with pytest.raises(SettingsError, match="may not read"):
        runtimes(str(tmp_path), [str(tmp_path)])
    place = write(tmp_path) / "upper" / "1.0.0"
    (place / "run").unlink()
    with pytest.raises(SettingsError, match=r"1\.0\.0 has no script"):
        runtimes(str(tmp_path), [str(tmp_path)])
    (place / "pkg-info.json").write_text("{}")
    with pytest.raises(SettingsError, match="language"):
        runtimes(str(tmp_path), [str(tmp_path)])
