"""Reading LiveCodeBench problem rows: real ones, compressed ones and hostile ones."""

import base64
import contextlib
import io
import json
import os
import pickle
import time
import zlib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.formats import livecodebench
from proctor.formats.livecodebench import (
    load_problems,
    plain_string,
    problem_ids,
    read_problems,
)
from proctor.problem import Test as Case

CASES = [{"input": "1\n", "output": "2\n", "testtype": "stdin"}]


def row(**fields: Any) -> dict[str, Any]:
    return {
        "question_title": "Add one",
        "question_content": "Print n + 1.",
        "platform": "atcoder",
        "question_id": "abc1_a",
        "contest_id": "abc1",
        "contest_date": "2024-03-02T21:00:00",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": json.dumps(CASES),
        "private_test_cases": "[]",
        "metadata": "{}",
    } | fields


def written(path: Path, *rows: Any) -> Path:
    file = path / "problems.jsonl"
    file.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return file


def packed(pickled: bytes) -> str:
    return base64.b64encode(zlib.compress(pickled)).decode()


def failure(file: Path, **options: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        load_problems(file, **options)
    assert caught.value.file == str(file)
    return caught.value


def test_a_row_becomes_a_problem(tmp_path: Path) -> None:
    private = json.dumps([{"input": "5", "output": "6", "testtype": "stdin"}])
    file = written(tmp_path, row(private_test_cases=private, note={"by": "hand"}))
    (problem,) = load_problems(file).values()
    assert problem.id == "abc1_a"
    assert problem.tests == (Case("1\n", "2\n", public=True), Case("5", "6"))
    assert problem.function is None
    assert (problem.title, problem.statement) == ("Add one", "Print n + 1.")
    assert (problem.platform, problem.difficulty) == ("atcoder", "easy")
    assert problem.published == date(2024, 3, 2)
    assert problem.extra == {
        "contest_id": "abc1",
        "contest_date": "2024-03-02T21:00:00",
        "metadata": "{}",
        "note": {"by": "hand"},
    }


def test_metadata_names_the_function(tmp_path: Path) -> None:
    rows = [
        row(question_id="1", metadata='{"func_name": "addOne"}'),
        row(question_id="2", metadata={"func_name": "addOne"}),
        row(question_id="3", metadata=""),
        row(question_id="4", metadata=None),
    ]
    problems = load_problems(written(tmp_path, *rows))
    assert [p.function for p in problems.values()] == ["addOne", "addOne", None, None]


def test_tests_given_as_a_list(tmp_path: Path) -> None:
    file = written(tmp_path, row(public_test_cases=CASES, private_test_cases=CASES))
    assert load_problems(file)["abc1_a"].tests == (
        Case("1\n", "2\n", public=True),
        Case("1\n", "2\n"),
    )


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("size", [1, 200, 70_000])
def test_compressed_tests_of_every_pickle_protocol(
    tmp_path: Path, protocol: int, size: int
) -> None:
    cases = [{"input": "é\n\\" * size, "output": "\u4e2d", "testtype": "stdin"}]
    text = json.dumps(cases, ensure_ascii=False)
    file = written(tmp_path, row(private_test_cases=packed(pickle.dumps(text, protocol))))
    assert load_problems(file)["abc1_a"].tests[1] == Case("é\n\\" * size, "\u4e2d")


@given(text=st.text(), protocol=st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_the_walker_reads_what_pickle_would(text: str, protocol: int) -> None:
    assert plain_string(pickle.dumps(text, protocol)) == text.encode()


@given(data=st.binary(max_size=40), protocol=st.sampled_from([b"", b"\x80\x04\x8c\x02[]"]))
def test_the_walker_never_fails_otherwise_than_by_input_error(data: bytes, protocol: bytes) -> None:
    with contextlib.suppress(InputError):
        plain_string(protocol + data)


class _Harmless(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name}")


@given(
    st.lists(
        st.sampled_from([b"\x80\x04", b"\x94", b"q\0", b"p0\n", b"\x95" + bytes(8), b"0", b"h\0"])
        | st.sampled_from([b"\x8c\x01a", b"X\x01\0\0\0b", b"Vc\\u00e9\n", b".", b"2", b"(", b"N"]),
        max_size=6,
    )
)
def test_what_the_walker_admits_is_what_pickle_reads(opcodes: list[bytes]) -> None:
    pickled = b"".join(opcodes) + b"."
    try:
        text = bytes(plain_string(pickled)).decode()
    except InputError:
        return
    # pickle refuses more than the walker does: an unknown protocol, a memo of nothing. No harm.
    with contextlib.suppress(pickle.UnpicklingError, IndexError, EOFError, ValueError):
        assert _Harmless(io.BytesIO(pickled)).load() == text


class _RunsACommand:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self.command,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_malicious_pickle_is_refused_unread(tmp_path: Path, protocol: int) -> None:
    trace = tmp_path / "executed"
    attack = pickle.dumps(_RunsACommand(f"touch {trace}"), protocol)
    error = failure(
        written(tmp_path, row(), row(question_id="x", private_test_cases=packed(attack)))
    )
    assert (error.line, error.field) == (2, "private_test_cases")
    assert "something other than one string" in error.message
    assert not trace.exists()
    pickle.loads(attack)
    assert trace.exists(), "the attack is a dud: this test proves nothing"


@pytest.mark.parametrize(
    "content",
    [
        b"cos\nsystem\n(S'touch /tmp/x'\ntR.",  # GLOBAL, hand-made
        pickle.dumps("[]")[:-1] + b"0cos\nsystem\n.",  # after a string
        pickle.dumps([CASES]),
        pickle.dumps(b"[]"),
        pickle.dumps(None),
        pickle.dumps("[]") + pickle.dumps("[]"),
        b"\x80\x04.",
        b"X\x01\x00\x00\x00[X\x01\x00\x00\x00].",
        b"X\xff\xff\xff\xff[].",  # a length far beyond the end
        b"\x8d\xff\xff\xff\xff\xff\xff\xff\xff[].",
        b"X\x02\x00",
        b"V[]",
        b"",
    ],
)
def test_anything_but_one_plain_string_is_refused(tmp_path: Path, content: bytes) -> None:
    error = failure(written(tmp_path, row(private_test_cases=packed(content))))
    assert (error.line, error.field) == (1, "private_test_cases")
    assert "pickle" in error.message


def test_a_zip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(livecodebench, "MAX_DECOMPRESSED", 1 << 20)
    for size in ((1 << 20) + 1, 1 << 26):
        error = failure(written(tmp_path, row(private_test_cases=packed(b"\0" * size))))
        assert "unpacks to more than" in error.message
    exact = pickle.dumps(json.dumps(CASES).ljust((1 << 20) - 30))
    monkeypatch.setattr(livecodebench, "MAX_DECOMPRESSED", len(exact))
    assert load_problems(written(tmp_path, row(private_test_cases=packed(exact))))


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"question_id": None}, "question_id", "expected `str`, got `null`"),
        ({"question_id": 7}, "question_id", "ids are strings"),
        ({"question_id": ""}, "question_id", "is empty"),
        ({"contest_date": "2024-13-01"}, "contest_date", "is not a date"),
        ({"contest_date": 20240301}, "contest_date", "expected `str"),
        ({"metadata": "{"}, "metadata", "broken JSON"),
        ({"metadata": "[]"}, "metadata", "expected `object`"),
        ({"metadata": {"func_name": 3}}, "metadata.func_name", "expected `str"),
        ({"metadata": {"func_name": ""}}, "metadata.func_name", "not the name of a function"),
        ({"public_test_cases": "[{]"}, "public_test_cases", "broken JSON"),
        ({"public_test_cases": "{}"}, "public_test_cases", "expected `array`"),
        ({"public_test_cases": "???"}, "public_test_cases", "base64"),
        ({"private_test_cases": "é"}, "private_test_cases", "neither JSON nor base64"),
        ({"private_test_cases": "aGVsbG8="}, "private_test_cases", "not of zlib data"),
        (
            {"private_test_cases": base64.b64encode(zlib.compress(b"x" * 99)[:-5]).decode()},
            "private_test_cases",
            "end too early",
        ),
        (
            {"private_test_cases": packed(pickle.dumps('[{"input": 1, "output": ""}]'))},
            "private_test_cases[0].input",
            "expected `str`, got `int`",
        ),
        ({"private_test_cases": [{"input": "1"}]}, "private_test_cases[0].output", "is missing"),
        ({"private_test_cases": 5}, "private_test_cases", "got `int`"),
        ({"starter_code": ["x"]}, "starter_code", "expected `str"),
    ],
)
def test_errors_say_where_and_what(
    tmp_path: Path, fields: dict[str, Any], field: str, words: str
) -> None:
    error = failure(written(tmp_path, row(question_id="first"), "", row(**fields)))
    assert error.line == 3
    assert error.field == field
    assert words in error.message


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"question_id": "a"', "broken JSON: it breaks off"),
        ("[1]", "expected `object`, got `array`"),
        ('{"question_id": "b", "x": ' + "[" * 100_000, "nested too deeply"),
        ("{}", "is missing"),
    ],
)
def test_lines_that_are_no_row(tmp_path: Path, line: str, words: str) -> None:
    error = failure(written(tmp_path, row(), line))
    assert error.line == 2
    assert words in error.message


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    assert "No such file" in failure(tmp_path / "absent.jsonl").message
    assert "directory" in failure(tmp_path).message


def test_duplicate_ids_are_refused_with_both_lines(tmp_path: Path) -> None:
    error = failure(written(tmp_path, row(), row(question_id="b"), row()))
    assert (error.line, error.field) == (3, "question_id")
    assert "line 1" in error.message


def test_a_row_without_tests_loads(tmp_path: Path) -> None:
    bare = {"question_id": "bare"}
    file = written(tmp_path, bare, row(public_test_cases="", private_test_cases=None))
    problems = load_problems(file)
    assert [p.tests for p in problems.values()] == [(), ()]
    assert problems["bare"].published is None
    assert problems["bare"].extra == {}


def test_only_what_is_asked_for_is_decoded(tmp_path: Path) -> None:
    bad_tests = row(question_id="other", private_test_cases="not decoded")
    file = written(tmp_path, bad_tests, row(), row(question_id="abc1_b"))
    assert list(load_problems(file, {"abc1_b", "abc1_a"})) == ["abc1_a", "abc1_b"]
    assert [p.id for p in read_problems(file, ["abc1_b", "nobody"])] == ["abc1_b"]
    assert problem_ids(file) == ["other", "abc1_a", "abc1_b"]
    assert load_problems(file, ()) == {}
    error = failure(file, only={"abc1_c"})
    assert "has no problem 'abc1_c'; did you mean 'abc1_b' or 'abc1_a'?" in error.message


def test_what_python_writes_though_it_is_not_json(tmp_path: Path) -> None:
    lone = '{"question_id": "a", "question_title": "\\ud800", "weight": NaN}'
    file = tmp_path / "problems.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + lone.encode() + b"\r\n")
    problem = load_problems(file)["a"]
    assert problem.title == "\ud800"


@pytest.mark.slow
def test_big_rows_load_fast(tmp_path: Path) -> None:
    big = " ".join(map(str, range(1_500_000)))
    cases = [{"input": big, "output": big}] + [{"input": str(i), "output": ""} for i in range(199)]
    compressed = packed(pickle.dumps(json.dumps(cases)))
    file = written(tmp_path, row(private_test_cases=compressed))
    start = time.process_time()
    (problem,) = load_problems(file).values()
    assert time.process_time() - start < 5  # takes 0.2; quadratic reading would take minutes
    assert len(problem.tests) == 201
    assert problem.tests[1].input == big
    assert compressed not in problem.extra.values()


def test_real_rows(test_data: Path) -> None:
    file = test_data / "livecodebench" / "problems.jsonl"
    problems = load_problems(file)
    assert list(problems) == problem_ids(file)
    assert len(problems) == 471
    assert sum(p.function is not None for p in problems.values()) == 206
    assert all(p.tests and p.published for p in problems.values())
    assert {p.platform for p in problems.values()} == {"leetcode", "atcoder", "codeforces"}
    assert {p.difficulty for p in problems.values()} == {"easy", "medium", "hard"}
    for line in file.read_text().splitlines():
        fields = json.loads(line)
        cases = [
            *json.loads(fields["public_test_cases"]),
            *json.loads(fields["private_test_cases"]),
        ]
        found = [(t.input, t.output) for t in problems[fields["question_id"]].tests]
        assert found == [(case["input"], case["output"]) for case in cases]
