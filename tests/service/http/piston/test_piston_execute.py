"""Piston's API v2: what is asked for, what is answered, what is refused and in which words."""

import asyncio
from typing import Any

import httpx
import pytest
from piston_requests import execute

from proctor.errors import InfraFault, NoLanguage, SettingsError
from proctor.limits import check_limits
from proctor.service.admission import RequestContext
from proctor.service.engine import open_engine
from proctor.service.http.piston.request import Refused, parsed
from proctor.service.http.piston.routes import AGAIN, failed
from proctor.service.http.piston.runtimes import Runtime
from proctor.service.http.piston.service import PistonService
from proctor.service.http.piston.settings import PistonSettings, read_settings
from served import serving

OK = {"code": 0, "signal": None, "status": None, "message": None, "limit": None}


def facts(stage: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: stage[name] for name in names or OK}


def test_python(http: httpx.Client) -> None:
    answer = execute(http, "py", "print(input()[::-1])", stdin="abc")
    assert set(answer) == {"run", "language", "version"}
    run = answer["run"]
    assert (run["stdout"], run["stderr"], run["output"]) == ("cba\n", "", "cba\n")
    assert facts(run) == OK
    assert answer["language"] == "python"
    assert {"cpu_time", "wall_time", "memory"} <= set(run)


def test_stdin_ends_with_a_line_end(http: httpx.Client) -> None:
    source = "import sys; print(repr(sys.stdin.read()))"
    assert execute(http, "python", source)["run"]["stdout"] == "'\\n'\n"
    assert execute(http, "python", source, stdin="a\n")["run"]["stdout"] == "'a\\n'\n"


def test_large_stdin_arrives_whole(http: httpx.Client) -> None:
    text = "x" * 5_000_000
    source = "import sys; print(len(sys.stdin.read()))"
    assert execute(http, "python", source, stdin=text)["run"]["stdout"] == "5000001\n"


def test_files_and_arguments(http: httpx.Client) -> None:
    source = "import sys, helper\nprint(sys.argv, helper.x, open('data/raw', 'rb').read())"
    answer = execute(
        http, "python",
        {"name": "raw.bin", "content": "AP8=", "encoding": "base64"},
        {"name": "prog.py", "content": source},
        {"name": "helper.py", "content": "x = 7", "encoding": "no such thing"},
        {"name": "data/raw", "content": "00ff", "encoding": "hex"},
        args=["a b", "$HOME"],
    )  # fmt: skip
    assert answer["run"]["stdout"] == "['prog.py', 'a b', '$HOME'] 7 b'\\x00\\xff'\n", answer


@pytest.mark.namespaces
def test_processes_that_share_memory(http: httpx.Client) -> None:
    source = (
        "import multiprocessing\ndef square(n): return n * n\n"
        "if __name__ == '__main__':\n"
        "    for method in ('fork', 'spawn'):\n"
        "        with multiprocessing.get_context(method).Pool(2) as pool:\n"
        "            print(pool.map(square, [1, 2, 3]))\n"
    )
    answer = execute(http, "python", {"name": "prog.py", "content": source})
    assert answer["run"]["output"] == "[1, 4, 9]\n" * 2


@pytest.mark.compiler
def test_a_compiled_program(http: httpx.Client) -> None:
    source = "#include <cstdio>\nint main(int, char **v) { std::puts(v[1]); }"
    answer = execute(http, "c++", {"content": source}, args=["given"])
    assert answer["run"]["stdout"] == "given\n"
    assert facts(answer["compile"]) == OK
    assert answer["language"] == "c++"


@pytest.mark.compiler
def test_what_does_not_compile_runs_as_it_compiled(http: httpx.Client) -> None:
    answer = execute(http, "c++", {"name": "a.cpp", "content": "int main( {"})
    assert answer["compile"] == answer["run"]
    assert facts(answer["run"], "code", "status", "signal") == {
        "code": 1, "status": "RE", "signal": None,
    }  # fmt: skip
    assert "a.cpp:1" in answer["compile"]["stderr"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import sys; sys.exit(3)",
         {"code": 3, "status": "RE", "signal": None, "message": "Exited with error status 3"}),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
         {"code": None, "status": "SG", "signal": "SIGSEGV", "message": "Caught fatal signal 11"}),
        ("while True: pass",
         {"code": None, "status": "TO", "signal": "SIGKILL", "message": "Time limit exceeded", "limit": "cpu"}),
        ("print('x' * 200_000)",
         {"code": None, "status": "OL", "signal": "SIGKILL", "message": "stdout length exceeded"}),
        ("import sys; sys.stderr.write('x' * 200_000)",
         {"code": None, "status": "EL", "signal": "SIGKILL", "message": "stderr length exceeded"}),
    ],
)  # fmt: skip
def test_how_a_run_ends(http: httpx.Client, source: str, expected: dict[str, Any]) -> None:
    run = execute(http, "python", source, run_timeout=500)["run"]
    assert facts(run, *expected) == expected


def test_out_of_memory(http: httpx.Client) -> None:
    run = execute(
        http,
        "python",
        "x = bytearray(1 << 29); x[::4096] = bytes(1 << 17)",
        run_memory_limit=64 << 20,
    )["run"]
    assert run["limit"] == "memory"
    assert run["status"] in {"SG", "RE"}


def test_the_clock_on_the_wall_does_not_count(http: httpx.Client) -> None:
    source = "import time; time.sleep(1); print('slept')"
    run = execute(http, "python", source, run_timeout=600, run_cpu_time=500)["run"]
    assert (run["stdout"], run["code"]) == ("slept\n", 0)


FILES = [{"content": "print(1)"}]
WHOLE = {"language": "python", "version": "*", "files": FILES}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"language": None}, "language is required as a string"),
        ({"language": 3}, "language is required as a string"),
        ({"version": ""}, "version is required as a string"),
        ({"files": "x"}, "files is required as an array"),
        ({"files": [{"content": "x"}, {}]}, "files[1].content is required as a string"),
        ({"files": [None]}, "files[0].content is required as a string"),
        ({"language": "brainfork"}, "brainfork-* runtime is unknown"),
        ({"version": "1.2.3"}, "python-1.2.3 runtime is unknown"),
        ({"files": []}, "files must include at least one utf8 encoded file"),
        ({"files": [{"content": "00", "encoding": "hex"}]},
         "files must include at least one utf8 encoded file"),
        ({"run_timeout": "3"}, "If specified, run_timeout must be a number"),
        ({"compile_memory_limit": True}, "If specified, compile_memory_limit must be a number"),
        ({"run_timeout": 20001}, "run_timeout cannot exceed the configured limit of 20000"),
        ({"run_timeout": -1}, "run_timeout must be non-negative"),
        ({"files": [{"name": "../x.py", "content": ""}]},
         'File path "../x.py" tries to escape parent directory: ../x.py'),
        ({"files": [{"name": "a/../../x.py", "content": ""}]},
         'File path "a/../../x.py" tries to escape parent directory: ../x.py'),
    ],
)  # fmt: skip
def test_refusals(http: httpx.Client, changes: dict[str, Any], message: str) -> None:
    answer = http.post("/execute", json=WHOLE | changes)
    assert (answer.status_code, answer.json()) == (400, {"message": message})


def test_limits_that_are_not_configured_may_be_anything(http: httpx.Client) -> None:
    run = execute(
        http, "python", "print(1)", run_memory_limit=-1, compile_timeout=-1, run_cpu_time=0
    )
    assert run["run"]["stdout"] == "1\n"


def test_bodies_that_are_no_json(http: httpx.Client) -> None:
    answer = http.post("/execute", content=b"{", headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert "stack" in answer.json()
    answer = http.post("/execute", content=b"{}", headers={"content-type": "text/plain"})
    assert answer.status_code == 415
    assert answer.json() == {"message": "requests must be of type application/json"}
    answer = http.post("/execute", json=[])
    assert answer.json() == {"message": "language is required as a string"}


def test_hostile_bodies(http: httpx.Client) -> None:
    deep = http.post(
        "/execute", content=b"[" * 100_000, headers={"content-type": "application/json"}
    )
    assert (deep.status_code, set(deep.json())) == (400, {"stack", "message"})
    huge = execute(http, "python", "print(1)", run_cpu_time=1e300, run_memory_limit=1e300)
    assert huge["run"]["stdout"] == "1\n"
    assert http.post("/execute", json=WHOLE | {"args": ["a\0b"]}).status_code == 400
    assert (
        http.post("/execute", json=WHOLE | {"files": [{"name": "a\0", "content": ""}]}).status_code
        == 400
    )
    surrogate = (
        b'{"language":"python","version":"*","files":[{"content":"print(len(\'\\ud800\'))"}]}'
    )
    answer = http.post("/execute", content=surrogate, headers={"content-type": "application/json"})
    assert answer.status_code in {200, 400}


@pytest.mark.slow
def test_a_body_that_is_too_large() -> None:
    with serving("--no-access-log", "--max-body", "10k") as server, server.client() as client:
        large = WHOLE | {"stdin": "x" * 20_000}
        answer = client.post("/api/v2/execute", json=large)
    assert answer.status_code == 413
    assert set(answer.json()) == {"message"}


def test_the_public_instances_path(http: httpx.Client) -> None:
    answer = http.post("/piston/execute", json=WHOLE)
    assert answer.json()["run"]["stdout"] == "1\n"
    assert http.get("/piston/runtimes").json() == http.get("/runtimes").json()


@pytest.mark.compiler
def test_runtimes(http: httpx.Client) -> None:
    found = http.get("/runtimes").json()
    by_name = {each["language"]: each for each in found if each["version"] != "1.0.0"}
    assert "py" in by_name["python"]["aliases"]
    assert "cpp" in by_name["c++"]["aliases"]
    assert all(len(each["version"].split(".")) == 3 for each in found)
    packages = {name for each in found if each["version"] == "1.0.0"
                for name in (each["language"], *each["aliases"])}  # fmt: skip
    assert {"cms_ioi", "c++17", "cf_c++17", "cf_python3"} <= packages
    version = by_name["python"]["version"]
    answer = execute(
        http, "python", "import platform; print(platform.python_version())", version=version
    )
    assert answer["run"]["stdout"] == f"{version}\n"


@pytest.mark.compiler
def test_packages_are_installed_already(http: httpx.Client) -> None:
    found = http.get("/packages").json()
    assert {"language", "language_version", "installed"} == set(found[0])
    assert all(each["installed"] for each in found)
    assert "codeforces" in {each["language"] for each in found}
    # The set-up steps of open-r1 and of huggingface/ioi.
    for name in ("cms_ioi", "codeforces"):
        answer = http.post("/packages", json={"language": name, "version": "1.0.0"})
        assert (answer.status_code, answer.json()) == (200, {"language": name, "version": "1.0.0"})
    assert http.post("/packages", json={"language": "python", "version": "*"}).status_code == 200
    for asked in ({"language": "python", "version": "2.x"}, {"language": "no"}, []):
        answer = http.post("/packages", json=asked)
        assert answer.status_code == 404
        assert "does not exist" in answer.json()["message"]
    assert http.post("/packages", content=b"{").status_code == 415
    removed = http.request("DELETE", "/packages", json={"language": "cms_ioi", "version": "1.0.0"})
    assert removed.status_code == 403


@pytest.mark.parametrize(
    "language", ["python", pytest.param("c++", marks=pytest.mark.compiler), "cf_python3"]
)
def test_faults_are_no_results(language: str) -> None:
    """open-r1's client asks again for another status than 200, and for a run whose stderr says so.

    By the second it knows a fault after blanks went out; there is nothing else to take for a result.
    """
    engine = open_engine(cells=1)
    try:
        engine.pool.close()  # no cell is to be had any more
        service = PistonService(engine, PistonSettings())

        async def ask() -> None:
            files = [{"content": "print(1)"}, {"name": "correct_output.txt", "content": "1"}]
            job = await service.job({"language": language, "version": "*", "files": files})
            await service.execute(job, RequestContext())

        with pytest.raises(InfraFault) as fault:
            asyncio.run(ask())
    finally:
        engine.close()
    reply = failed(fault.value)
    assert reply.status == 500
    message = reply.body["message"]
    assert message
    assert reply.body == {"message": message, "run": {"stderr": f"{AGAIN}: {message}"}}
    lacking = failed(NoLanguage("no compiler"))  # and would be the next time
    assert (lacking.status, set(lacking.body)) == (400, {"message"})


def test_what_pipelines_set_is_no_more_than_the_machine_has() -> None:
    """Their image is started with 1 GB of output; a request that gets refused would be the end."""
    settings = read_settings(
        {"PISTON_OUTPUT_MAX_SIZE": "1000000000", "PISTON_MAX_FILE_SIZE": str(1 << 40)}
    )
    known = [Runtime("python", (3, 11, 0), (), "python")]
    job = parsed(WHOLE | {"run_memory_limit": 1 << 60}, known, settings)
    assert check_limits(job.limits) is not None


@pytest.mark.parametrize(
    "name",
    ["run_timeout", "run_cpu_time", "run_memory_limit",
     "compile_timeout", "compile_cpu_time", "compile_memory_limit"],
)  # fmt: skip
def test_every_limit_has_its_variable(name: str) -> None:
    """More than its variable says is refused in Piston's words; so is what is not a number."""
    settings = read_settings({f"PISTON_{name.upper()}": "5000"})
    known = [Runtime("python", (3, 11, 0), (), "python")]
    assert parsed(WHOLE | {name: 5000}, known, settings)
    for value, says in (
        (5001, f"{name} cannot exceed the configured limit of 5000"),
        (-1, f"{name} must be non-negative"),
        ("1", f"If specified, {name} must be a number"),
    ):
        with pytest.raises(Refused, match=says):
            parsed(WHOLE | {name: value}, known, settings)


def test_settings() -> None:
    found = read_settings({"PISTON_RUN_TIMEOUT": " 60000 ", "PISTON_LOG_LEVEL": "INFO"})
    assert found == PistonSettings(run_timeout=60000)
    for name, value in (("RUN_TIMEOUT", "1s"), ("OUTPUT_MAX_SIZE", "0")):
        with pytest.raises(SettingsError, match=name):
            read_settings({f"PISTON_{name}": value})
