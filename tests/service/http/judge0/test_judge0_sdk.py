"""Judge0's own Python client against both editions."""

import base64
import json

import pytest
from judge0_client import ANN, Called

import needs
from served import Served
from waiting import PATIENCE

pytest.importorskip("judge0.clients", reason=needs.package("judge0"))

import judge0
from judge0.base_types import LanguageAlias, Status

pytestmark = pytest.mark.package("judge0")

ECHO = "print(f'hello {input()}')"


@pytest.fixture(scope="module")
def ce(server: Served) -> judge0.Client:
    return judge0.Client(server.url, {"X-Auth-Token": ANN})


@pytest.fixture(scope="module")
def extra(server: Served) -> judge0.Client:
    return judge0.Client(f"{server.url}/judge0-extra", {"X-Auth-Token": ANN})


def test_what_it_asks_when_it_is_made(ce: judge0.Client, extra: judge0.Client) -> None:
    assert (ce.version, extra.version) == ("1.13.1", "1.13.1-extra")
    assert ce.config.enable_batched_submissions
    assert ce.config.wall_time_limit == 10
    assert ce.get_language(LanguageAlias.CPP.value).id == LanguageAlias.CPP.value
    assert ce.is_language_supported(judge0.PYTHON)
    assert not ce.is_language_supported(judge0.PYTHON_FOR_ML)
    assert extra.is_language_supported(judge0.PYTHON_FOR_ML)
    clojure = ce.get_language(86)
    assert (clojure.name, clojure.is_archived, clojure.run_cmd) == ("Clojure", True, None)


@pytest.mark.parametrize(
    ("language", "source", "printed"),
    [
        (judge0.PYTHON, "print(input() * 2)", "2121\n"),
        (judge0.BASH, "echo $(cat)3", "213\n"),
        (judge0.C, '#include <stdio.h>\nint main(){int n;scanf("%d",&n);printf("%d",n*2);}', "42"),
        (judge0.PLAIN_TEXT, "no program at all", "no program at all"),
        (judge0.EXECUTABLE, b"#!/bin/cat\nas \xc3\xa9", "#!/bin/cat\nas é"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_languages_by_its_names(
    ce: judge0.Client, language: LanguageAlias, source: str | bytes, printed: str
) -> None:
    found = judge0.run(client=ce, source_code=source, language=language, stdin="21")
    assert (found.status, found.stdout) == (Status.ACCEPTED, printed), found
    assert (found.exit_code, found.created_at is None) == (0, False)


def test_its_usual_language_is_of_the_other_edition(extra: judge0.Client) -> None:
    cases = [judge0.TestCase("you", "hello you"), judge0.TestCase("me", "hello you")]
    found = judge0.run(client=extra, source_code=ECHO, test_cases=cases)
    assert [each.status for each in found] == [Status.ACCEPTED, Status.WRONG_ANSWER]


@pytest.mark.namespaces
def test_files_that_a_run_leaves(ce: judge0.Client) -> None:
    files = judge0.Filesystem(content=judge0.File(name="./in/a.txt", content="from a file"))
    source = "import shutil; shutil.copy('in/a.txt', '.b.txt'); print(open('.b.txt').read())"
    found = judge0.run(
        client=ce, source_code=source, language=judge0.PYTHON, additional_files=files
    )
    assert found.stdout == "from a file\n"
    assert found.post_execution_filesystem is not None
    left = found.post_execution_filesystem
    assert str(left.find("in/a.txt")) == str(left.find(".b.txt")) == "from a file"


def test_a_callback_brings_what_it_reads(ce: judge0.Client, called: Called) -> None:
    sent = judge0.async_run(
        client=ce, source_code="print('called')", language=judge0.PYTHON,
        callback_url=f"http://{called.host}/sdk",
    )  # fmt: skip
    path, _, body = called.requests.get(timeout=PATIENCE)
    assert path == "/sdk"
    found = judge0.Submission(**json.loads(body))
    assert str(found.token) == sent.token
    assert (found.status, found.stdout) == (Status.ACCEPTED, "called\n")
    assert base64.b64decode(json.loads(body)["stdout"]) == b"called\n"
