"""Every parser of the host that meets what programs, models and strangers wrote."""

import atexit
import contextlib
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from proctor.cell import plain_data
from proctor.errors import ProctorError
from proctor.evals import predictions
from proctor.evals.benchmark_file.loading import bundled
from proctor.evals.extraction import extract, policies
from proctor.evals.ioi.piston_list import checked_url
from proctor.evals.ioi.piston_requests import PistonDown, PistonUnsure, read_answer
from proctor.evals.livecodebench import output_prediction
from proctor.evals.livecodebench.rows import upstream_row
from proctor.evals.replaying.bundles import bundle, of_bundle
from proctor.evals.replaying.recorded import RecordedJudgement
from proctor.evals.replaying.rows import judgement_of_points, judgement_of_row
from proctor.execution import Execution, Guarantee, Isolation, Strength
from proctor.formats import codeforces_rows, ioi_rows, livecodebench
from proctor.formats.hub_configs import choose_files
from proctor.formats.packages.package import load
from proctor.formats.packages.yaml_text import parse_yaml
from proctor.formats.programs import read_programs
from proctor.formats.replies import between_last_fences, code_blocks, extract_code
from proctor.formats.tables import Row, columns_of, read_table
from proctor.formats.thoughts import answer
from proctor.grading import Comparison, Convention, Match
from proctor.integrations import rows as reward_rows
from proctor.integrations.open_r1 import add_includes
from proctor.judgement import Judgement, Machine, SubtaskResult, TestResult, UpstreamReport
from proctor.judging import checkers, comparison, foreign, packed, values
from proctor.judging.cache import sealing
from proctor.judging.cache.sealing import Remembered, VerdictSeal
from proctor.judging.official import upstream
from proctor.judging.packed import pack
from proctor.judging.remote import Payload
from proctor.judging.settings import JudgeSettings
from proctor.languages import naming, registry
from proctor.languages.headers import _FIRST_INCLUDE
from proctor.limits import Limits
from proctor.prediction import CallTask
from proctor.problem import Aggregate, Communication, Problem, Stub, Subtask, Test
from proctor.program import Program
from proctor.sandbox import notebook
from proctor.service.http.judge0 import request as judge0
from proctor.service.http.judge0.archive import unpacked
from proctor.service.http.judge0.languages import Judge0Language
from proctor.service.http.judge0.settings import Judge0Settings
from proctor.service.http.native import convert, packed_schema, schema
from proctor.service.http.piston import request as piston
from proctor.service.http.piston.runtimes import Runtime
from proctor.service.http.piston.semver import satisfies, version_in
from proctor.service.http.piston.settings import PistonSettings
from proctor.service.http.sandbox_fusion import schema as fusion
from proctor.solver import claim, digest, strict_json
from proctor.timetable import profile as timetable_profile
from proctor.verdict import Verdict

HERE = Path(__file__).parent
PACKAGES = HERE.parent / "packages"


def text_or_latin(data: bytes) -> str:
    """Any text, lone surrogates too."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def reply(data: bytes) -> None:
    said = text_or_latin(data)
    for policy in policies():
        for language in ("python", "cpp"):
            extract(said, policy, language)
    extract_code(said)
    answer(said)
    between_last_fences(said)
    code_blocks(said, "java")
    for policy in ("auto", "first-block", "last-block"):
        predictions.tagged(said, policy)
    predictions.sides(said)
    predictions.assertion(answer(said), first=True)
    output_prediction._taken(said, "")
    reward_rows.text_of([{"role": "assistant", "content": said}])


def source(data: bytes) -> None:
    said = text_or_latin(data)
    java = registry.get("java")
    naming.file_name(java, said)
    naming.main_class([said, said])
    naming.values(java, "A.java", {"A.java": said, "B.java": said})
    _FIRST_INCLUDE.match(data)
    for name in ("a.py", "a.cpp", "a.java", said[:50]):
        registry.by_extension(name, said)
        registry.by_extension(name, data)
    add_includes(said, "abc")


EXPECTED = '{"a": [1, 2.5, [true, null]], "b": "x,[{"}'
(CASE,) = upstream.parse_calls([Test("1", EXPECTED)])


def function_result(data: bytes) -> None:
    upstream.judge_call(data, CASE)
    with contextlib.suppress(ValueError):
        values.compare_values(
            plain_data.decode(data), json.loads(EXPECTED), values.Tolerance(1e-6, 1e-5)
        )
    values.Bounds.of(text_or_latin(data)).hold(data)


HOWS = tuple(
    Comparison(match, sensitive, spaces, 1e-6, 1e-6)
    for match in Match
    for sensitive in (True, False)
    for spaces in ((True, False) if match is Match.TOKENS else (False,))
)


def printed(data: bytes) -> None:
    for expected in (b"1 2\n3\n", b"yes", b"", data[: len(data) // 2]):
        upstream.judge_stdio(data, text_or_latin(expected))
        upstream.judge_stdio(expected, text_or_latin(data))
        for tolerance in (None, 1e-6):
            comparison.compare_tokens(data, expected, tolerance)
        for how in HOWS:
            comparison.compare(data, expected, how)


def checker(data: bytes) -> None:
    for convention in Convention:
        for code in (0, 1, 7, 42, 43, 60):
            run = Execution(code, None, data, data, 0.0, 0.0, 0, 0.0, None, Isolation("none", {}))
            names = ("score.txt", "score_multiplier.txt", "teammessage.txt", "judgemessage.txt")
            for files in ({}, {f"{checkers.FEEDBACK}/{name}": data for name in names}):
                for stderr_scores in (False, True):
                    found = checkers.opinion(convention, run, files, stderr_scores=stderr_scores)
                    assert 0 <= found.score <= 1
                    assert found.verdict is not Verdict.AC or found.score == 1


def result_json(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        value = strict_json.decode(data, 50, 10_000)
        assert len(json.dumps(value)) >= 0
        json.dumps(value, allow_nan=False).encode()
        timetable_profile.summary(value)
    claim.shown(data)
    digest.of_program(data, data, "solution.py")


def archive(data: bytes) -> None:
    unpacked(data, 1 << 20)


def lines(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "rows.jsonl")
        path.write_bytes(data)
        for read in (
            lambda: livecodebench.load_problems(path),
            lambda: list(read_programs(path, ["a"])),
            lambda: codeforces_rows.load_problems([path]),
            lambda: codeforces_rows.load_generated([path], {"a"}),
            lambda: ioi_rows.load_tasks([path], [path]),
            lambda: ioi_rows.task_keys([path]),
        ):
            with contextlib.suppress(ProctorError):
                read()


MAKERS = [bundled(f"{name}.toml").tasks for name in ("humaneval", "mbpp", "testoutputprediction")]


def row(data: bytes) -> None:
    content = livecodebench.parse_json(data)
    if not isinstance(content, dict):
        return
    here = Row(Path("rows"), 1, content)
    for read in (
        lambda: upstream_row(content),
        lambda: livecodebench.problem_of(upstream_row(content)),
        lambda: codeforces_rows.problem_of_row(content),
        lambda: ioi_rows.task_of_rows([content], {}),
        lambda: reward_rows.task_of(content),
        lambda: reward_rows.key_of(content),
        *(partial(maker.task, here) for maker in MAKERS),
    ):
        with contextlib.suppress(ProctorError):
            read()


def card(data: bytes) -> None:
    paths = ("data/train-0.jsonl", "a/b/test.parquet", "a" * 60 + "/b.jsonl")
    for config in (None, "a"):
        with contextlib.suppress(ProctorError):
            choose_files(text_or_latin(data), paths, config, "it")


def package(name: str, original: str) -> Callable[[bytes], object]:
    """Loading of a package whose main file is another."""
    place = Path(tempfile.mkdtemp(prefix="proctor-fuzz-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    shutil.copytree(PACKAGES / original, place, dirs_exist_ok=True)

    def read(data: bytes) -> object:
        (place / name).write_bytes(data)
        return load(place)

    return read


JUDGED = RecordedJudgement(
    "r#1", Problem("a", (Test("1", "2", name="x"), Test(b"\xff", None)), extra={"a": [1, 2.5]}),
    Program("x", "cpp17", files={"a.h": b"1"}), JudgeSettings(stop="never"),
    Judgement(Verdict.WA, 0.5, (TestResult(Verdict.AC, 0.1, 0.2, 3, "m", "x"),), points=1.0, of=2.0,
              upstream=UpstreamReport((True, -2), -2, "e", {"output": "1"})),
    ("s",), pool={"preload": ("os",)},
)  # fmt: skip


def bundle_with() -> tuple[Callable[[bytes], object], bytes]:
    """Reading of a bundle whose manifest is another, and its own manifest."""
    place = Path(tempfile.mkdtemp(prefix="proctor-fuzz-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    bundle(JUDGED, place / "b")
    manifest = place / "b" / "manifest.json"

    def read(data: bytes) -> object:
        manifest.write_bytes(data)
        return of_bundle(place / "b")

    return read, manifest.read_bytes()


def zipped_bundle() -> tuple[Callable[[bytes], object], bytes]:
    """Reading of a bundle that is an archive, and one."""
    place = Path(tempfile.mkdtemp(prefix="proctor-fuzz-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    archive_of = place / "b.zip"
    bundle(JUDGED, archive_of)

    def read(data: bytes) -> object:
        archive_of.write_bytes(data)
        return of_bundle(archive_of)

    return read, archive_of.read_bytes()


def parquet(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "rows.parquet")
        path.write_bytes(data)
        columns_of(path)
        list(read_table(path))


def parquet_file() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = io.BytesIO()
    rows = [{"id": "a", "n": 1, "list": [1.5, None], "in": {"x": b"y"}, "at": date(2030, 1, 2)}] * 9
    pq.write_table(pa.Table.from_pylist(rows), made, row_group_size=4)
    return made.getvalue()


def notebook_answer(data: bytes) -> None:
    found = notebook._decoded(data)
    notebook._error(found)
    json.dumps(notebook._displays(found))


def results_row(data: bytes) -> None:
    content = livecodebench.parse_json(data)
    if isinstance(content, dict):
        for read in (judgement_of_row, judgement_of_points):
            with contextlib.suppress(ProctorError):
                read(content)


def yaml(data: bytes) -> None:
    parse_yaml(text_or_latin(data))


RUNTIMES = (Runtime("python", (3, 11, 0), ("py",), "python"),)


def body(data: bytes) -> None:
    with contextlib.suppress(ProctorError, piston.Refused):
        job = piston.parsed(piston.decoded(data), RUNTIMES, PistonSettings())
        assert job.limits
        assert job.compile_memory
        job.program()
    for kind, made in (
        (schema.RunRequestJson, convert.run_request),
        (schema.JudgeRequest, convert.problem_of),
        (fusion.RunCodeRequest, None),
    ):
        try:
            asked: Any = msgspec.json.decode(data, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue  # what litestar answers with 400
        if made:
            with contextlib.suppress(ProctorError):
                made(asked)
    try:
        asked = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return
    if isinstance(asked, dict):
        offered = {71: Judge0Language(71, "Python", "python", "script.py"),
                   54: Judge0Language(54, "C++", "cpp17", "main.cpp", "g++")}  # fmt: skip
        for base64 in (False, True):
            with contextlib.suppress(judge0.InvalidSubmission):
                judge0.parsed(asked, offered, Judge0Settings(), base64=base64)


def piston_answer(data: bytes) -> None:
    with contextlib.suppress(PistonDown, PistonUnsure):
        read_answer(data)
    with contextlib.suppress(ValueError):
        checked_url(text_or_latin(data))


KEY = bytes(32)


def remembered(data: bytes) -> None:
    """A judgement that was sealed as it should be, whatever it is."""
    header = sealing._HASHED
    found = VerdictSeal(None).opened(KEY, header + sha256(header + KEY + data).digest() + data)
    assert found is None or isinstance(found, Remembered)


def version(data: bytes) -> None:
    said = text_or_latin(data)
    satisfies((3, 11, 0), said)
    version_in(said)


def packed_bytes(data: bytes) -> None:
    """What a server is sent, and a client answered, by POST /v1/judgements."""
    with contextlib.suppress(ProctorError):
        packed.unpack(data, Problem)
    for kind in (Problem, Payload, Judgement):
        with contextlib.suppress(ProctorError):
            packed.count_values(data, 1 << 16)
            found = packed.unpack(data, kind)
            if isinstance(found, Problem):
                foreign.check_foreign(found)
    with contextlib.suppress(ProctorError):
        for each in packed_schema.decoded_requests(data):
            packed_schema.checked_digest(each.problem)
    with contextlib.suppress(msgspec.DecodeError):
        list(packed_schema.FrameReader().answers(data))


@dataclass(frozen=True)
class Parser:
    """One of them, and what its inputs are made of. All raise ProctorError, if anything."""

    call: Callable[[bytes], object]
    documents: tuple[bytes, ...]
    """Inputs that are as they should be."""
    pieces: tuple[bytes, ...] = ()


PYTHON = b"def f(a):\n    return '''\n```\n''' + a\n"
REPLY = b"<think>\nno\n</think>\nSo:\n\n```python\n" + PYTHON + b"```\n\n~~~cpp\nint main;\n~~~\n"
JAVA = (
    b"package a.b;\n/* x */ public final class A { static void main(String[] a) {"
    b" String s = \"}\"; char c = '{'; } } // y\nrecord B() {}\n"
)
CPP = b'// a\n#pragma once\n/* b */ #define X "y"\n#include <bits/stdc++.h>\nint main() {}\n'
RESULT = plain_data.encode({"a": (1, 2.5, [True, None]), "b": "x,[{", 1 << 70: {1, 2}, b"": 1j})
LCB = {
    "question_id": "a", "question_title": "t", "question_content": "c", "platform": "leetcode",
    "contest_date": "2024-01-01", "difficulty": "easy",
    "starter_code": "class Solution:\n    def f(self, a):\n        ",
    "public_test_cases": [{"input": "a = [1, (2)], b = True", "output": "'x'"}],
    "private_test_cases": "eJxrYJlaxMDABAADdgEm", "metadata": "{}",
}  # fmt: skip
CODEFORCES = {
    "id": "1/A", "time_limit": 1.0, "memory_limit": 256.0, "input_mode": "stdio",
    "official_tests": [{"input": "1", "output": "2"}], "generated_checker": "print(1)",
    "problem_id": "a", "input": "1", "output": "2",
}  # fmt: skip
IOI = {
    "year": 2024, "day": "1", "name": "n", "id": "t", "problem_statement": "s", "time_limit": 1.0,
    "memory_limit": 256.0, "subtask": "01", "score": 10.0, "score_precision": 2,
    "test_names": ["a"], "test_cases": [["1", "2"]], "statement": "s", "starting_code": "",
    "grader_files": [["graders/checker.cpp", "int main() {}"], ["graders/grader_config.json", "{}"]],
}  # fmt: skip
REWARD = {
    "verification_info": {"language": "python", "test_cases": [{"input": "1", "output": "2"}]},
    "ground_truth": {"inputs": [[1]], "outputs": [[2]], "fn_name": "f"}, "test_cases": "[]",
}  # fmt: skip
EVALPLUS = {
    "task_id": "a", "prompt": "def f(a):\n", "entry_point": "f", "canonical_solution": "    pass",
    "test": "def check(c): pass", "base_input": "[[1]]", "plus_input": [[1]], "atol": "0.1",
    "text": "t", "code": "import os\ndef f(a): return a", "test_list": ["assert f(1) == 1"],
    "question_id": "q", "test_id": 1, "starter_code": LCB["starter_code"],
}  # fmt: skip
JUDGEMENT = Judgement(
    Verdict.WA, 0.5, (TestResult(Verdict.AC), TestResult(Verdict.WA, 0.1, 0.2, 3, "m", "n", 0.5)), "m",
    Isolation("none", {"kernel": Guarantee(Strength.PARTIAL, "h", "g")}),
    UpstreamReport((True, -2), -2, "e", {"a": [1, None]}), 1.5, 2.0,
    (SubtaskResult("s", Verdict.PA, 0.5, 1.5, 2.0, ("n",)),), machine=Machine("a", "b"),
)  # fmt: skip
PISTON = {
    "language": "python", "version": "3.x", "stdin": "a", "args": ["b", 1], "run_timeout": 1000,
    "files": [{"name": "a.py", "content": "x"}, {"content": "00", "encoding": "hex"}],
    "run_memory_limit": 1e9,
}  # fmt: skip
PISTON_ANSWER = {
    "compile": {"stdout": "", "stderr": "", "code": 0, "signal": None}, "message": None,
    "run": {"stdout": "1", "stderr": "fine", "code": 0, "signal": None}, "language": "cms",
}  # fmt: skip
JUDGE0 = {
    "source_code": "print(1)", "language_id": 54, "stdin": "MQ==", "expected_output": "1",
    "cpu_time_limit": "1.5", "command_line_arguments": "a 'b c'", "memory_limit": 1e5,
    "compiler_options": "-O2 -std=c++17", "number_of_runs": 1, "wall_time_limit": 5,
}  # fmt: skip
NATIVE = {
    "program": {"source": "x", "language": "python", "files": {"a": "YQ=="}},
    "problem": {"id": "a", "tests": [{"input": "1", "output": "2"}]}, "limits": {"cpu": 1.5},
}  # fmt: skip


TESTS = (Test("1", b"2", name="a", flags=("f",), files={"g": "h"}), Test("\ud800", None, name="b"))
SUBTASKS = (Subtask("s", 1.0, ("a", "b")), Subtask("t", 2.5, ("b",), Aggregate.SUM, depends=("s",)))
PACKED = tuple(
    packed.pack(each)
    for each in (
        Problem("p", TESTS, subtasks=SUBTASKS, limits=Limits(cpu=1.5), stubs={"cpp": Stub({"a": b"x"})}),
        Problem("q", TESTS[:1], running=Communication(Program("x", "cpp"), 2)),
        Problem("r", (), running=CallTask("a", "f", "f(1)", "2")),
        Problem("s", TESTS[:1], "f", extra={"x": [1, None, {"y": 2.5}]}),
        Payload(Program("x", files={"a": b"b"}), JudgeSettings("official"), ("s",)),
        Judgement(
            Verdict.WA, 0.5, (TestResult(Verdict.AC, 0.1, 0.2, 3),), points=1.0, of=2.0,
            upstream=UpstreamReport((True, -2), -2, "x", {"a": [1]}), machine=Machine("m"),
            subtasks=(SubtaskResult("s", Verdict.WA, None, None, 1.0, ("a",)),),
        ),
    )
)  # fmt: skip
ASKED = msgspec.msgpack.encode([packed_schema.PackedRequest("k", "0" * 64, PACKED[4])])
FRAME = packed_schema.framed(packed_schema.PackedAnswer("k", PACKED[5]))


def documents(*values: Mapping[str, object]) -> tuple[bytes, ...]:
    """Values as JSON, one a line."""
    return tuple(json.dumps(each).encode() + b"\n" for each in values)


def zipped() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/b.txt", b"b" * 1000)
        archive.writestr("run", b"echo 1", zipfile.ZIP_STORED)
    return made.getvalue()


def main_file(package: str, name: str) -> bytes:
    return (PACKAGES / package / name).read_bytes()


MANIFEST_OF_BUNDLE = bundle_with()
ZIPPED_BUNDLE = zipped_bundle()
NOTEBOOK = documents({
    "result": {"text/plain": "1"}, "shown": [{"image/png": "YQ=="}], "shown_at": [0],
    "error": {"name": "E", "value": "v", "lines": ["a\n"], "plain": "p", "brief": "b"},
})  # fmt: skip
PARQUET = {} if find_spec("pyarrow") is None else {
    "parquet": Parser(parquet, (parquet_file(),), (
        b"PAR1", b"\x00", b"\xff", b"\x15\x04", b"\x19\x1c", b"\x80\x80\x80\x80\x08", b"\x2c", b"\x00" * 8,
    )),
}  # fmt: skip
RESULTS = documents(
    {"verdict": "WA", "score": 0.5, "message": "m", "results": [True, -2], "error_code": -2,
     "error_message": "e", "metadata": {"output": "1"}, "machine": {"id": "a", "cpu": "b"},
     "tests": [{"verdict": "AC", "cpu": 0.1, "wall": 0.2, "memory": 3, "message": "m"}],
     "isolation": {"level": "namespaces", "guarantees": {}}},
    {"verdict": "PA", "points": 1.0, "of": 2.0, "code_compiles": True, "all_subtasks_results": [
        {"subtask": "s", "verdict": "PA", "score": 0.5, "weighted_score": 1.0, "points": 2.0,
         "test_results": [{"test_name": "x", "verdict": "PA", "cpu": 0.1, "wall": 0.2, "memory": 3,
                           "feedback": "m", "score": 0.5}]}]},
)  # fmt: skip
ROWS = documents(LCB, CODEFORCES, IOI, REWARD, EVALPLUS)
CARD = b"---\nconfigs:\n- config_name: a\n  default: true\n  data_files:\n  - split: x\n    path: data/*.jsonl\n---\n# It\n"

PARSERS = {
    "packed": Parser(packed_bytes, (pack(JUDGED.problem), *PACKED, ASKED, FRAME), (
        b"\x80", b"\x90", b"\x91", b"\xc0", b"\xc1", b"\xdc\x10\x00", b"\xdd\x7f\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff", b"\xc6\x00\x00\xff\xff", b"\xc7\x01\x01", b"\xc7\x0c\xff", b"\xd6\xff",
        b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", b"\xd9\x20",
        b"\xa5class", b"\xa7Problem", b"\xa4Test", b"\xa6limits", b"\xa5extra", b"\xa5tests", b"\x81\xa1a\x81\xa1a",
    )),
    "reply": Parser(reply, (REPLY, PYTHON), (
        b"```", b"```python\n", b"~~~\n", b"> ", b"- ", b"1. ", b"[ANSWER]", b"[/ANSWER]",
        b"<think>", b"</think>", b"assert ", b" == ", b"(", b"\t", b"    ", b"[a]: <b> \"", b"* * ",
        b"\\", b"`", b"[[", b"import a.", b"a.", b"'''", b"f'{", b"<!--", b"---\n", b"=", b"|",
    )),
    "source": Parser(source, (JAVA, CPP, b"#!/usr/bin/env python2\n"), (
        b"class a ", b"{", b"}", b"/*", b"*/", b"//", b'"', b"'", b'"""', b"public ", b"static ",
        b"void main(", b"package a.", b"#include <", b"#define ", b"#!", b"\\", b"record ", b"env -S ",
    )),
    "function result": Parser(function_result, (RESULT, b"[1,2]"), (
        b"[", b"]", b"{", b"}", b",", b'{"set":[', b'{"dict":[[', b'{"array":[[', b'{"int":"', b"f",
        b'{"tuple":[', b'{"float":"nan"}', b'{"text":"eda080"}', b'{"opaque":"x"}', b"1e999", b"9",
        b'{"complex":"1 nan"}', b'{"int":"1fffffffffffffff0"},', b"0.", b"[],", b"null,", b'"a",',
    )),
    "printed": Parser(printed, (b"1 2\n3\n", b"Yes\n", b"-1.50e3 nan 0x1\n"), (
        b"1 ", b"\n", b"\r\n", b"\v", b"1e999999", b"sNaN ", b"inf ", b"_", b".", b"9", b"-", b"\xff",
        b"\xc2\xa0", b"\xe2\x80\xa8", b"\x00", b"1_0 ", b"\xd9\xa1", b"e", b"NO ",
    )),
    "checker": Parser(checker, (b"0.5\n", b"points 0.5 ok\n", b"100 x"), (
        b"1", b"0", b".", b"e", b"+", b"-", b"nan", b"inf", b"points ", b"\n", b"\xff", b"\x00", b" ",
    )),
    "result.json": Parser(result_json, (
        b'{"status": "OPTIMAL", "schedule": [{"assignmentId": "a"}], "assignments": [{"id": 1}]}',
    ), (b"[", b"{", b'"a":', b"1,", b'"', b"\\ud800", b"1e999", b"9", b"NaN", b"\\", b"\n", b'{"a":[')),
    "archive": Parser(archive, (zipped(),), (
        b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"\x00", b"\xff",
        b"\x01\x00\x08\x00", b"up\x00\x00", b"../", b"/",
    )),
    "lines": Parser(lines, ROWS, (b"\n", b"\xef\xbb\xbf", b"[", b'{"question_id":"a","code":"', b"]", b"}")),
    "row": Parser(row, ROWS, (
        b"[", b"{", b"]", b"}", b'"', b"1", b"null", b"\\ud800", b"1e999", b"-", b"a.", b"(", b"NaN", b"\\n",
        b'{"test_cases":', b"true", b",", b'""', b"9" * 5000, b"1e400", b"\\u0000", b"0001-01-01",
    )),
    "bundle": Parser(MANIFEST_OF_BUNDLE[0], (MANIFEST_OF_BUNDLE[1],), (
        b"[", b"{", b"]", b"}", b'"', b"1", b"null", b"\\ud800", b"1e999", b"-1", b"../", b"/", b"true", b'""',
        b"9" * 5000, b"program/", b"beside/", b"tests/", b"XX", b"\\u0000", b"NaN", b".",
    )),
    "bundle.zip": Parser(ZIPPED_BUNDLE[0], (ZIPPED_BUNDLE[1],), (
        b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"\x00", b"\xff", b"../", b"manifest.json", b"\x01\x00\x08\x00",
    )),
    "notebook": Parser(notebook_answer, NOTEBOOK, (
        b"[", b"{", b"]", b"}", b'"', b"1", b"null", b"\\ud800", b"1e999", b"-1", b"true", b'""', b"9" * 5000, b"NaN",
    )),
    **PARQUET,
    "results row": Parser(results_row, RESULTS, (
        b"[", b"{", b"]", b"}", b'"', b"1", b"null", b"\\ud800", b"1e999", b"-1", b"true", b'""', b"SK", b"XX",
        b"9" * 5000, b"[]", b"{}",
    )),
    "card": Parser(card, (CARD,), (
        b"---\n", b"*", b"**/", b"[", b"{", b"&a ", b"*a", b"- ", b"  ", b"? ", b"!!python/name:os ",
        b"2024-99-99", b"1:1:", b"a: ", b"|\n", b"'", b"9" * 5000, b"path: ", b"data_dir: ",
    )),
    "yaml": Parser(yaml, (CARD,), (
        b"[", b"{", b"- ", b"? ", b": ", b"!!binary ", b"2024-99-99", b"1:1", b"&a ", b"*a ", b"<<: ",
        b"!!timestamp ", b"\n", b"  ", b"|\n", b"\"", b"\\", b"%YAML 9\n", b"!!set ", b"!!float ", b"9" * 5000,
        b"!!omap ", b"!!int ", b"0b", b".nan: 1\n", b"!!null ", b"\xed\xa0\x80", b"\x00", b"!!pairs ",
    )),
    "body": Parser(body, documents(PISTON, JUDGE0, NATIVE), (
        b"[", b"{", b"]", b"}", b'"', b"1", b"null", b"\\ud800", b"1e999", b"-1", b"../", b"\\u0000", b"1e400",
        b"9" * 5000, b"'", b"\\\\", b"true", b"/", b"0.0001",
    )),
    "answer of a Piston": Parser(piston_answer, (*documents(PISTON_ANSWER), b"http://[::1]:2000/api/v2"), (
        b"[", b"{", b"}", b'"', b"null", b"\\ud800", b"1e999", b"9" * 5000, b"http://", b"xn--", b".", b":",
        b"]", b"\xd9\xa1", b"@", b"/", b"?", b"%", b"\x00", b"\xe3\x80\x82",
    )),
    "remembered": Parser(remembered, (pack(Remembered(JUDGEMENT)),), (
        b"\x81", b"\xa5class", b"\xa9Judgement", b"\xaaTestResult", b"\xa7verdict", b"\xa2AC", b"\xa5tests",
        b"\x91", b"\xc0", b"\xc3", b"\xcb\x7f\xf0" + bytes(6), b"\xc4\x01a", b"\xc7\x01\x01\xed", b"\xdf",
        b"\xa9isolation", b"\xa6points", b"\xa7machine", b"\xa8upstream", b"\xd9\xff", b"\xdd\xff\xff\xff\xff",
    )),
    "version": Parser(version, (b">=3.11 <4 || ^1.2.x", b"1.0 - 2.0"), (
        b"1 ", b"1.", b"x", b"^", b"~", b">=", b" ", b"||", b" - ", b"v", b"*", b"9", b"-a", b"+", b"\xd9\xa1",
        b"\xc2\xb2",
    )),
    **{
        kind: Parser(package(name, original), (main_file(original, name),), (
            b"[", b"{", b"]", b"}", b'"', b"<", b">", b"&", b"/", b"../", b"9" * 5000, b"nan", b"inf", b"-1",
            b"\n", b"  ", b": ", b"1e999", b"\x00", b"\xff", b"\xed\xa0\x80", b"= ", b"'''", b"*", b"2024-99-99",
            b"(a+)+$", b"<!DOCTYPE a>", b"[[", b"null", b"true", b"[]", b"#ST:", b"#STDEP:", b"SUBTASK", b"#",
        ))
        for kind, name, original in (
            ("native", "problem.toml", "countdown"), ("icpc", "problem.yaml", "guess"),
            ("tps", "problem.json", "courier"), ("polygon", "problem.xml", "nearest"),
            ("dmoj", "init.yml", "onroad"), ("fps", "problem.xml", "splitsum"),
            ("qduoj", "problem.json", "dosage"),
            ("italian", "task.yaml", "cubes"), ("gen", "gen/GEN", "climb"),
            ("cases", "gen/cases.gen", "mirror"),
        )
    },
}  # fmt: skip
