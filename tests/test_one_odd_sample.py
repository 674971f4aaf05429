"""Thirteen programs, one of them odd: at every door twelve right results, and one for the odd one.

The odd ones say what no UTF-8 can hold, half of a surrogate pair, wherever a program can say
something: on its stdout, by what a function returns, in the text of an exception, in its source.
"""

import asyncio
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

import proctor
from daemon_process import Spoken, speaking
from proctor import JudgeSettings, Pool, Problem, Test
from proctor.clients import JudgeRequest, ProblemJson, ProgramJson, TestJson, connect
from proctor.evals.store import RunStore
from proctor.integrations import lcb_runner
from proctor.integrations.rewards import make_code_reward
from served import PROCTOR, Served, serving
from waiting import PATIENCE

COUNT, ODD_AT = 13, 5
MODES = ["official", "standard"]


@dataclass(frozen=True)
class Kind:
    """A problem, a program that solves it, an odd one, and the verdicts on that."""

    id: str
    tests: tuple[Test, ...]
    honest: str
    odd: str
    official: str
    standard: str
    function: str | None = None

    def programs(self) -> list[str]:
        """Thirteen programs, no two the same."""
        found = [f"{self.honest}\n# {number}\n" for number in range(COUNT)]
        found[ODD_AT] = self.odd
        return found


STDIO = (Test("1\n", "2\n"), Test("21\n", "42\n"))
CALLS = (Test("1", '"2"'), Test("21", '"42"'))
SOLVES = "print(2 * int(input()))"
RETURNS = "class Solution:\n    def f(self, n):\n        return str(2 * n)"


def stdio(name: str, odd: str, official: str, standard: str) -> Kind:
    return Kind(name, STDIO, SOLVES, odd, official, standard)


def call(name: str, odd: str, official: str, standard: str) -> Kind:
    odd = f"class Solution:\n    def f(self, n):\n        {odd}\n"
    return Kind(name, CALLS, RETURNS, odd, official, standard, "f")


KINDS = [
    # Standard mode has a real stdout, on which printing it raises UnicodeEncodeError.
    stdio("printed", r"print('\ud800')", "WA", "RE"),
    stdio("printed-late", r"print('2' if input() == '1' else '\udfff')", "WA", "RE"),
    stdio("bytes", r"import os; os.write(1, b'\xed\xa0\x80\xff')", "WA", "WA"),
    stdio("raised", r"raise ValueError('\ud800')", "RE", "RE"),
    stdio("raised-on-loading", "E = type('E', (Exception,), {'__str__': lambda s: chr(0xd800)})\n"
          "raise E", "RE", "RE"),
    stdio("said", r"import os; os.write(2, b'\xed\xa0\x80'); os._exit(1)", "RE", "RE"),
    call("returned", r"return '\ud800'", "WA", "WA"),
    call("shown", r"return type('T', (), {'__repr__': lambda s: '\ud800'})()", "WA", "WA"),
    call("keyed", r"return {'\ud800': ['\udfff']}", "WA", "WA"),
    call("raised-in-a-call", r"raise KeyError('\ud800')", "RE", "RE"),
]  # fmt: skip
PROBLEMS = {kind.id: Problem(kind.id, kind.tests, kind.function) for kind in KINDS}
SAMPLES = [(kind.id, program) for kind in KINDS for program in kind.programs()]
Found = list[str]
"""Verdicts, in the order of the samples; of doors that know none, AC or nothing."""


def wanted(mode: str) -> Found:
    verdicts = []
    for kind in KINDS:
        of_kind = ["AC"] * COUNT
        of_kind[ODD_AT] = kind.official if mode == "official" else kind.standard
        verdicts += of_kind
    return verdicts


@dataclass
class Doors:
    """What the doors need."""

    pool: Pool
    http: httpx.Client
    served: Served
    daemon: Spoken
    place: Path


@pytest.fixture(scope="module")
def open_doors(pool: Pool) -> Iterator[tuple[Pool, Served, Spoken]]:
    with serving("--cells", "2") as served, speaking("--cells", "2") as daemon:
        yield pool, served, daemon


@pytest.fixture
def doors(open_doors: tuple[Pool, Served, Spoken], tmp_path: Path) -> Iterator[Doors]:
    pool, served, daemon = open_doors
    with served.client() as http:
        yield Doors(pool, http, served, daemon, tmp_path)


def judge(doors: Doors, mode: Any) -> Found:
    settings = JudgeSettings(mode)
    made = [proctor.judge(PROBLEMS[name], program, settings=settings, pool=doors.pool)
            for name, program in SAMPLES]  # fmt: skip
    return [each.verdict for each in made]


def judge_many(doors: Doors, mode: Any) -> Found:
    pairs = [(PROBLEMS[name], program) for name, program in SAMPLES]
    many = proctor.judge_many(pairs, settings=JudgeSettings(mode), pool=doors.pool)
    return [each.judgement.verdict for each in sorted(many, key=lambda each: each.index)]


def judge_many_fast(doors: Doors, _mode: str) -> Found:
    pairs = [(PROBLEMS[name], program) for name, program in SAMPLES]
    many = proctor.judge_many(pairs, settings=JudgeSettings(fast=True), pool=doors.pool)
    return [each.judgement.verdict for each in sorted(many, key=lambda each: each.index)]


def judge_many_async(doors: Doors, mode: Any) -> Found:
    async def go() -> dict[int, str]:
        pairs = [(PROBLEMS[name], program) for name, program in SAMPLES]
        many = proctor.judge_many_async(pairs, settings=JudgeSettings(mode), pool=doors.pool)
        return {each.index: each.judgement.verdict async for each in many}

    found = asyncio.run(go())
    return [found[index] for index in range(len(SAMPLES))]


def command(*arguments: str | Path) -> str:
    done = subprocess.run(
        [PROCTOR, *map(str, arguments)], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_files(place: Path, samples: list[tuple[str, str]] = SAMPLES) -> tuple[Path, Path]:
    problems, programs = place / "problems.jsonl", place / "programs.jsonl"
    with problems.open("w") as file:
        for kind in KINDS:
            cases = [{"input": test.input, "output": test.output} for test in kind.tests]
            row = {"question_id": kind.id, "public_test_cases": cases,
                   "metadata": {"func_name": kind.function}}  # fmt: skip
            print(json.dumps(row), file=file)
    with programs.open("w") as file:
        for name, program in samples:
            print(json.dumps({"question_id": name, "code": program}), file=file)
    return problems, programs


def judge_command(doors: Doors, mode: str) -> Found:
    problems, programs = write_files(doors.place)
    out = doors.place / "results.jsonl"
    for _ in range(2):  # the second time it goes on with what the first has left
        command("judge", "--problems", problems, "--programs", programs, "--mode", mode,
                "--out", out)  # fmt: skip
    rows = {row["row"]: row["verdict"] for row in map(json.loads, out.read_text().splitlines())}
    return [rows[number] for number in range(len(SAMPLES))]


def evaluation(doors: Doors, mode: str) -> Found:
    problems, programs = write_files(doors.place)
    run = doors.place / "run"
    command("eval", "livecodebench", "--source", problems, "--model", f"replay:{programs}",
            "--mode", mode, "--out", run)  # fmt: skip
    command("resume", run)
    return stored(run)


def stored(run: Path) -> Found:
    with RunStore.open(run) as store:
        made = {(each.problem_id, each.number): each for each in store.samples()}
    found = []
    for kind in KINDS:
        for number in range(COUNT):
            (judged,) = made[kind.id, number].judgements
            found.append(judged.verdict)
    return found


def drop_in(doors: Doors, _mode: str) -> Found:
    lcb_runner.use_pool(doors.pool)
    try:
        samples = [
            {"input_output": json.dumps({
                "inputs": [test.input for test in kind.tests],
                "outputs": [test.output for test in kind.tests],
                "fn_name": kind.function,
            })}
            for kind in KINDS
        ]  # fmt: skip
        generations = [kind.programs() for kind in KINDS]
        _metrics, results, metadata = lcb_runner.codegen_metrics(samples, generations, k_list=[1])
    finally:
        lcb_runner.use_pool(None)
    names = {None: "AC", -2: "WA", -4: "RE", -5: "RE"}
    found = []
    for problem, texts in enumerate(metadata):
        for codes, text in zip(results[problem], texts, strict=True):
            found.append(names[json.loads(text).get("error_code")])
            assert (found[-1] == "AC") == all(code is True for code in codes)
    return found


def asked(mode: str, name: str, program: str) -> dict[str, Any]:
    problem = PROBLEMS[name]
    tests = [{"input": test.input, "output": test.output} for test in problem.tests]
    return {
        "program": {"source": program},
        "problem": {"id": name, "tests": tests, "function": problem.function},
        "mode": mode,
    }


def http_judge(doors: Doors, mode: str) -> Found:
    answers = [doors.http.post("/v1/judge", json=asked(mode, *each)) for each in SAMPLES]
    assert {each.status_code for each in answers} == {200}
    return [each.json()["verdict"] for each in answers]


def batch(mode: str) -> dict[str, Any]:
    return {"requests": [asked(mode, *each) for each in SAMPLES]}


def in_order(found: list[Any]) -> Found:
    assert len(found) == len(SAMPLES)
    made = {each["index"]: each["result"]["verdict"] for each in found}
    return [made[index] for index in range(len(SAMPLES))]


def http_batch(doors: Doors, mode: str) -> Found:
    answer = doors.http.post("/v1/batch", json=batch(mode))
    assert answer.status_code == 200
    return in_order([json.loads(line) for line in answer.text.splitlines() if line])


def told(text: str) -> list[Any]:
    """What a batch's events have told, to its end."""
    events = [dict(line.split(": ", 1) for line in each.splitlines() if not line.startswith(":"))
              for each in text.strip().split("\n\n")]  # fmt: skip
    assert events[-1]["event"] == "done"
    return [json.loads(each["data"]) for each in events if each.get("event") == "judged"]


def http_batch_events(doors: Doors, mode: str) -> Found:
    headers = {"Accept": "text/event-stream"}
    return in_order(told(doors.http.post("/v1/batch", json=batch(mode), headers=headers).text))


def http_batch_job(doors: Doors, mode: str) -> Found:
    job = doors.http.post("/v1/batch", json=batch(mode), params={"wait": "false"}).json()["id"]
    found = in_order(told(doors.http.get(f"/v1/jobs/{job}/events").text))
    assert doors.http.get(f"/v1/jobs/{job}").json()["state"] == "done"
    return found


def daemon(doors: Doors, mode: str) -> Found:
    doors.daemon.send(*(
        {"id": number, "method": "judge", "params": asked(mode, *each)}
        for number, each in enumerate(SAMPLES)
    ))  # fmt: skip
    found: dict[int, str] = {}
    while len(found) < len(SAMPLES):
        message = doors.daemon.read()
        if "result" in message or "error" in message:
            found[message["id"]] = message["result"]["verdict"]
    return [found[number] for number in range(len(SAMPLES))]


def tools(doors: Doors, _mode: str) -> Found:
    async def go() -> Found:
        found = []
        async with httpx2.AsyncClient(timeout=PATIENCE) as http:
            way = streamable_http_client(f"{doors.served.url}/mcp", http_client=http)
            async with Client(way) as client:
                for name, program in SAMPLES:
                    problem = asked("standard", name, program)["problem"]
                    arguments = {"code": program, "tests": problem["tests"],
                                 "function": problem["function"]}  # fmt: skip
                    answer = await client.call_tool("judge_solution", arguments)
                    assert not answer.is_error, answer
                    found.append(answer.structured_content["verdict"])
        return found

    return asyncio.run(go())


def client_of(url: Callable[[Doors], str]) -> Callable[[Doors, str], Found]:
    def door(doors: Doors, mode: Any) -> Found:
        requests = []
        for name, program in SAMPLES:
            problem = PROBLEMS[name]
            tests = tuple(TestJson(test.input, test.output) for test in problem.tests)
            there = ProblemJson(name, tests, function=problem.function)
            requests.append(JudgeRequest(ProgramJson(program), there, mode=mode))
        with connect(url(doors)) as client:
            found = {each.index: each for each in client.judge_many(requests)}
        return [found[index].result.verdict for index in range(len(SAMPLES))]

    return door


def rewards(doors: Doors, _mode: str) -> Found:
    reward = make_code_reward(extraction="whole", pool=doors.pool)
    completions = [program for _, program in SAMPLES]
    found = reward(completions, problem=[PROBLEMS[name] for name, _ in SAMPLES])
    assert None not in found
    return ["AC" if each == 1.0 else "" for each in found]


BOTH = {
    "judge": judge,
    "judge_many": judge_many,
    "judge_many_async": judge_many_async,
    "proctor judge": judge_command,
    "proctor eval": evaluation,
    "POST /v1/judge": http_judge,
    "POST /v1/batch": http_batch,
    "POST /v1/batch, events": http_batch_events,
    "POST /v1/batch, a job": http_batch_job,
    "daemon": daemon,
    "client, local": client_of(lambda _: "local:"),
    "client, daemon": client_of(lambda _: "daemon:"),
    "client, HTTP": client_of(lambda doors: doors.served.url),
}
CASES = [
    *((mode, name, door) for mode in MODES for name, door in BOTH.items()),
    ("official", "lcb_runner", drop_in),
    ("standard", "judge_many, fast", judge_many_fast),
    ("standard", "MCP", tools),
    ("standard", "rewards", rewards),
]


@pytest.mark.sampled(3)
@pytest.mark.slow(
    "MCP, standard",
    "POST /v1/judge, standard",
    "client, daemon, official",
    "client, daemon, standard",
    "judge, standard",
    "proctor eval, official",
    "proctor eval, standard",
    "proctor judge, official",
    "proctor judge, standard",
)
@pytest.mark.parametrize(
    ("mode", "door"),
    [pytest.param(mode, door, id=f"{name}, {mode}") for mode, name, door in CASES],
)
def test_one_odd_sample(doors: Doors, mode: str, door: Callable[[Doors, str], Found]) -> None:
    found, right = door(doors, mode), wanted(mode)
    if door is rewards:
        right = [each if each == "AC" else "" for each in right]
    assert found == right


PRINTING = [kind for kind in KINDS if kind.function is None]
PRINTED = [program for kind in PRINTING for program in kind.programs()]
RIGHT = [number != ODD_AT for _ in PRINTING for number in range(COUNT)]
"""Of those that read and print, whether they are right; some doors know no other programs."""


def judge0(doors: Doors) -> list[bool]:
    """In two batches: of texts, of which those that are none say so, and as base64."""
    asked = [{"source_code": program, "language_id": 71, "stdin": "21\n", "expected_output": "42\n"}
             for program in PRINTED]  # fmt: skip
    found = []
    for start in range(0, len(asked), 20):
        made = doors.http.post(
            "/submissions/batch", json={"submissions": asked[start : start + 20]}
        ).json()
        tokens = [each["token"] for each in made]
        for token in tokens:  # which waits for its end
            doors.http.get(f"/v1/jobs/{token}/events")
        query = {"tokens": ",".join(tokens), "fields": "status_id,stdout,stderr"}
        told = doors.http.get("/submissions/batch", params=query).json()["submissions"]
        packed = doors.http.get(
            "/submissions/batch", params=query | {"base64_encoded": "true"}
        ).json()["submissions"]
        for text, other in zip(told, packed, strict=True):
            assert "base64_encoded=true" in text.get("error", "base64_encoded=true")
            assert ("error" in text) <= (other["status_id"] != 3)
            found.append(other["status_id"] == 3)
    return found


def sandbox_fusion(doors: Doors) -> list[bool]:
    found = []
    for program in PRINTED:
        tests = [{"input": {"stdin": test.input}, "output": {"stdout": test.output}}
                 for test in STDIO]  # fmt: skip
        config = {"dataset_type": "CommonOJDataset", "language": "python",
                  "provided_data": {"id": 1, "content": "", "test": tests}}  # fmt: skip
        body = {"dataset": "d", "id": 1, "completion": f"```python\n{program}\n```",
                "config": config}  # fmt: skip
        found.append(doors.http.post("/submit", json=body).json()["accepted"])
    return found


def piston(doors: Doors) -> list[bool]:
    found = []
    for program in PRINTED:
        body = {"language": "python", "version": "*", "files": [{"content": program}],
                "stdin": "21\n"}  # fmt: skip
        run = doors.http.post("/api/v2/execute", json=body).json()["run"]
        found.append(run["stdout"] == "42\n")
    return found


def nemo(doors: Doors) -> list[bool]:
    found = []
    for program in PRINTED:
        body = {"generated_code": program, "language": "python", "std_input": "21\n"}
        answer = doors.http.post("/execute", json=body).json()
        assert answer["process_status"] == "completed"
        found.append(answer["stdout"] == "42\n")
    return found


def run_each(doors: Doors) -> list[bool]:
    found = []
    for program in PRINTED:
        asked = {"program": {"source": program}, "stdin": "21\n"}
        execution = doors.http.post("/v1/run", json=asked).json()["execution"]
        assert (
            doors.daemon.ask("run", **asked)["result"]["execution"]["exit_code"]
            == (execution["exit_code"])
        )
        found.append(execution["stdout"]["text"] == "42\n")
    return found


@pytest.mark.parametrize("door", [judge0, sandbox_fusion, piston, nemo, run_each])
def test_one_odd_program(doors: Doors, door: Callable[[Doors], list[bool]]) -> None:
    assert door(doors) == RIGHT


ODD_NAME = r"import os; open(b'caf\xe9', 'w').close(); open('plain', 'w').close()"
NAMES = {r"caf\udce9", "plain"}


def test_a_file_whose_name_is_no_text(doors: Doors) -> None:
    with proctor.open_session(pool=doors.pool) as session:
        session.run(ODD_NAME)
        assert set(session.files()) == NAMES
    identity = doors.http.post("/v1/sessions", json={}).json()["id"]
    doors.http.post(f"/v1/sessions/{identity}/execute", json={"program": {"source": ODD_NAME}})
    listed = doors.http.get(f"/v1/sessions/{identity}/files")
    assert (listed.status_code, {each["path"] for each in listed.json()}) == (200, NAMES)
    session = doors.daemon.ask("session_open")["result"]["id"]
    doors.daemon.ask("session_execute", session=session, program={"source": ODD_NAME})
    found = doors.daemon.ask("session_files", session=session)["result"]
    assert {each["path"] for each in found} == NAMES


@pytest.mark.parametrize("size", [0, 3 << 20])
def test_a_request_of_a_batch_that_is_broken(doors: Doors, size: int) -> None:
    """Half a character that JSON brings, a field that is missing, or one of another type."""
    requests = [asked("standard", "printed", f"{SOLVES}# {number}") for number in range(COUNT)]
    requests[1]["program"]["source"] += "x" * size
    requests[3]["program"] = {"source": chr(0xD800)}
    requests[ODD_AT]["problem"]["tests"] = [{"input": "1\ud800\\n", "output": "1"}]
    del requests[7]["program"]
    requests[9]["mode"] = "odd"
    body = json.dumps({"requests": requests}).encode()
    headers = {"Content-Type": "application/json"}
    answer = doors.http.post("/v1/batch", content=body, headers=headers)
    found = {each["index"]: each for each in map(json.loads, answer.text.splitlines())}
    assert set(found) == set(range(COUNT))
    broken = {index for index, each in found.items() if "error" in each}
    assert broken == {3, ODD_AT, 7, 9}
    assert {found[index]["error"]["code"] for index in broken} == {"bad-input"}
    assert found[9]["error"]["field"] == "mode"
    assert all(found[index]["result"]["passed"] for index in set(found) - broken)
    for wrong in (b"", b"[]", b'{"requests": 5}', b'{"requests": [}', b'{"requests": [], "x": []}'):
        assert doors.http.post("/v1/batch", content=wrong, headers=headers).status_code == 400


@pytest.mark.slow
def test_half_a_character_in_a_source(doors: Doors) -> None:
    """In files it may stand, and upstream's verdict is that it does not load; JSON doors refuse."""
    broken = f"{SOLVES}; '{chr(0xD800)}'"
    samples = [("printed", SOLVES), ("printed", broken), ("printed", SOLVES + " ")]
    problems, programs = write_files(doors.place, samples)
    for mode, verdict in (("official", "RE"), ("standard", "CE")):
        out, run = doors.place / f"{mode}.jsonl", doors.place / mode
        command("judge", "--problems", problems, "--programs", programs, "--mode", mode,
                "--out", out)  # fmt: skip
        rows = {row["row"]: row["verdict"] for row in map(json.loads, out.read_text().splitlines())}
        assert [rows[0], rows[1], rows[2]] == ["AC", verdict, "AC"]
        command("eval", "livecodebench", "--source", problems, "--model", f"replay:{programs}",
                "--mode", mode, "--out", run)  # fmt: skip
        command("rejudge", run)
        with RunStore.open(run) as store:
            made = {each.number: each for each in store.samples()}
        for number, right in enumerate(["AC", verdict, "AC"]):
            assert {each.verdict for each in made[number].judgements} == {right}
        command("export", run, "--format", "jsonl", "--out", doors.place / f"{mode}-export")
        assert r"\ud800" in made[1].generation.code
    many = proctor.judge_many([(PROBLEMS[name], code) for name, code in samples], pool=doors.pool)
    found = {each.index: each.judgement.verdict for each in many}
    assert found == {0: "AC", 1: "CE", 2: "AC"}
    request = {"id": "odd", "method": "judge", "params": asked("standard", *samples[1])}
    doors.daemon.send(request)
    assert doors.daemon.answer("odd")["error"]["code"] == "bad-input"
