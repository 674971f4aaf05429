"""Package sets by name, at every native door and through the clients."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from proctor.clients import (
    Client,
    ComparisonJson,
    JudgeRequest,
    ProblemJson,
    ProgramJson,
    RunResult,
    TestJson,
    connect,
)
from proctor.errors import InputError
from served import Served, serving
from waiting import PATIENCE

ASK = "import sys\nearly = 'fish' in sys.modules\nimport fish, common\nprint(fish.name, early)"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("packages")
    for name, content in (("a/fish", "carp"), ("b/fish", "pike"), ("all/common", "")):
        file = place / f"{name}.py"
        file.parent.mkdir()
        file.write_text(f"name = {content!r}")
    return place


@pytest.fixture(scope="module")
def served(place: Path) -> Iterator[Served]:
    config = place / "config.toml"
    config.write_text(
        f"[serve]\npackages = ['{place}/all']\n[serve.package_sets]\n"
        f"a = '{place}/a'\nab = ['{place}/b', '{place}/a']\n"
        f"b = {{packages = ['{place}/b'], preload = ['fish']}}\n"
    )
    typed = ("--package-set", f"typed={place}/all", "--package-set", f"typed={place}/b")
    with serving("--cells", "2", "--config", str(config), *typed) as server:
        yield server


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[Client]:
    with connect(served.url) as connected:
        yield connected


def printed(found: RunResult) -> str:
    assert found.execution is not None
    return found.execution.stdout.text.strip()


def test_runs(client: Client) -> None:
    assert client.capabilities().package_sets == ("a", "ab", "b", "typed")
    found = {name: printed(client.run(ASK, packages=name)) for name in ("a", "ab", "b", "typed")}
    assert found == {
        "a": "carp False", "ab": "pike False", "b": "pike True", "typed": "pike False",
    }  # fmt: skip
    without = client.run(ASK)
    assert without.verdict == "RE"
    assert without.execution is not None
    assert "No module named 'fish'" in without.execution.stderr.text
    # A process of its own finds them, too.
    assert printed(client.run(ASK, packages="a", args=("x",))) == "carp False"
    with client.stream(ASK, packages="a") as live:
        assert b"".join(each.data for each in live) == b"carp False\n"


def test_judgements(client: Client) -> None:
    tests = (TestJson("", "carp False"),)
    for comparison in (
        None,
        ComparisonJson("lines"),
    ):  # judged as tests, and as a contest's problem
        problem = ProblemJson("fish", tests, comparison=comparison)
        assert client.judge(problem, ASK, packages="a").verdict == "AC"
        assert client.judge(problem, ASK, packages="b").verdict == "WA"
        assert client.judge(problem, ASK).verdict == "RE"
    requests = [
        JudgeRequest(ProgramJson(ASK), ProblemJson(tests=tests), packages=name)
        for name in ("a", "b", "c")
    ]
    found = {each.index: each for each in client.judge_many(requests)}
    assert [found[at].result.verdict for at in (0, 1)] == ["AC", "WA"]  # type: ignore[union-attr]
    assert isinstance(found[2].error, InputError)


def test_sessions(client: Client) -> None:
    with client.session(packages="a") as session, client.session(packages="b") as other:
        assert session.run_cell("import fish, common; fish.name").result == "'carp'"
        assert other.run("import fish; print(fish.name)").stdout.text == "pike\n"
    with client.session() as session:
        assert session.run_cell("import fish").verdict == "RE"


def test_names_that_are_none(client: Client, served: Served, place: Path) -> None:
    for name in ("c", f"{place}/a", "../a"):
        with pytest.raises(InputError, match="there are: a, ab, b, typed") as caught:
            client.run("1", packages=name)
        assert caught.value.field == "packages"
        with pytest.raises(InputError, match="there are"):
            client.session(packages=name)
        with pytest.raises(InputError, match="there are"), client.stream("", packages=name) as live:
            live.result()
    request = {"program": {"source": ""}, "packages": "c"}
    for route, more in (("run", {}), ("judge", {"problem": {"tests": [{}]}})):
        answer = httpx.post(f"{served.url}/v1/{route}", json={**request, **more}, timeout=PATIENCE)
        assert (answer.status_code, answer.json()["field"]) == (422, "packages")


@pytest.mark.slow
@pytest.mark.parametrize("url", ["local:", "daemon:"])
def test_sets_of_a_client_of_its_own(url: str, place: Path) -> None:
    named = {"b": f"{place}/b", "ab": [f"{place}/all", f"{place}/a"]}
    with connect(url, cells=1, package_sets=named) as client:
        assert client.capabilities().package_sets == ("ab", "b")
        assert printed(client.run(ASK, packages="ab")) == "carp False"
        assert client.run(ASK, packages="b").verdict == "RE"  # for want of `common`
        with client.session(packages="ab") as session:
            assert session.run_cell("import fish; fish.name").result == "'carp'"
