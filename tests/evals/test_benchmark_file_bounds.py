"""Benchmark files whose authors want the host's secrets, or all of its time and memory."""

import json
import os
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import jinja2
import pytest
from benchmark_files import ADD, ANSWER, QUESTIONS, STDIO, SUB, prompt_of, write
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.evals.benchmark_file import evaluation
from proctor.evals.benchmark_file.environment import PlainEnvironment
from proctor.evals.benchmark_file.evaluation import BOUND
from proctor.evals.benchmark_file.expressions import Expression, TemplateCompiler
from proctor.evals.benchmark_file.loading import load
from proctor.evals.settings import Settings
from proctor.formats.plain_values import decode, encode

FORMAT = "{0.__globals__[os].environ}"
LEAKS = [
    "{{ '" + FORMAT + "'.format(json) }}",
    "{{ ('" + FORMAT + "'|safe).format(json) }}",
    "{{ '" + FORMAT + "'['format'](json) }}",
    "{{ '" + FORMAT + "'.format_map({'0': json}) }}",
    "{% set f = '" + FORMAT + "'.format %}{{ f(json) }}",
    "{{ '" + FORMAT + "'|attr('format')(json) }}",
    "{{ ['" + FORMAT + "']|map('attr', 'format')|first }}",
    "{{ ['" + FORMAT + "']|map(attribute='format')|first }}",
    "{{ json.__globals__ }}",
    "{{ json|attr('__globals__') }}",
    "{{ [json]|sum(attribute='__globals__') }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ lipsum.__globals__ }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ self.__init__.__globals__ }}",
    "{% macro m() %}{% endmacro %}{{ m.__init__.__globals__ }}",
    "{% for x in [1] %}{{ loop.__init__.__globals__ }}{% endfor %}",
]


@pytest.mark.parametrize("template", LEAKS)
def test_a_template_sees_no_modules(template: str) -> None:
    with pytest.raises((jinja2.TemplateError, KeyError)):
        PlainEnvironment({}).from_string(template).render()


def test_nothing_that_a_template_can_name_leads_to_modules() -> None:
    environment = PlainEnvironment({})
    assert {type(value) for value in environment.globals.values()} == {object}
    assert "attr" not in environment.filters


def test_the_process_that_evaluates_has_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    evaluation._workers.get().close()
    assert (
        TemplateCompiler(tmp_path, "x.toml").template("{{ 1 }}", "prompt.user").rendered({}) == "1"
    )
    process = evaluation._workers.get()._process
    assert process is not None
    assert b"sk-secret" not in Path(f"/proc/{process.pid}/environ").read_bytes()
    assert "OPENAI_API_KEY" in os.environ


POWER = "number ** (number ** 8)"
OVER = [
    ("task }}", "9 ** (9 ** 8) }}", "prompt.user", 0),  # when it is compiled
    ("task }}", POWER + " }}", "prompt.user", 2),
    ("task }}", "'a' * number ** 12 }}", "prompt.user", 2),
    ("task }}", "task|map('center', number ** 10)|join }}", "prompt.user", 2),
    ("task }}", "'%999999999d'|format(number) }}", "prompt.user", 1),
    ("[rows]", f'[let]\nbig = "{POWER}"\n[rows]', "let.big", 2),
    ('id = "name"', f'id = "name ~ ({POWER})"', "rows.id", 2),
    ('tests = "hidden"', 'tests = "([1] * number ** 8)"', "grading.tests", 2),
    ("[rows]", '[rows]\nwhere = "([1] * number ** 9)|join"', "rows.where", 2),
]


@pytest.mark.parametrize(("old", "new", "field", "line"), OVER)
def test_what_takes_too_much_is_told_by_file_field_and_row(
    tmp_path: Path, old: str, new: str, field: str, line: int
) -> None:
    rows = [{**ADD, "number": 1}, {**SUB, "number": 9}, {**ADD, "name": "more", "number": 1}]
    path = write(tmp_path, STDIO.replace(old, new, 1), rows)
    with pytest.raises(InputError) as caught:
        list(load(path).open_source(Settings()).infos())
    assert BOUND in str(caught.value)
    assert field in str(caught.value)
    if line:
        assert (caught.value.file, caught.value.line) == (str(tmp_path / "rows.jsonl"), line)
    else:
        assert caught.value.file == str(path)


def test_what_functions_have_other_processes_do_counts() -> None:
    slow = "last('(a+)+$', 'a' * 40 ~ 'b')"  # takes another process to a bound of its own
    one = evaluation.EvaluationStep("once", f"{slow} ~ 1")
    (found,) = evaluation.evaluate([one], ["{}"], {})
    assert found == {"once": {"plain": "1"}}
    often = evaluation.EvaluationStep("often", f"{slow} ~ {slow} ~ {slow} ~ {slow}")
    (found,) = evaluation.evaluate([often], ["{}"], {})
    assert found["often"]["bound"]


def test_a_reply_that_takes_too_long_has_no_answer(tmp_path: Path) -> None:
    greedy = ANSWER + "[extraction]\nwhole = \"{{ reply|length ** (9 ** 8) if reply else '' }}\"\n"
    benchmark = load(write(tmp_path, greedy, "id,question,right\n1,2 + 2,4\n"))
    (task,) = benchmark.open_source(Settings()).instances(["1"])
    assert benchmark.extract(task, "4" * 9, Settings(extraction="whole")).code == ""


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", ".hidden", "pipe", "out", "large"])
def test_a_template_includes_files_beside_it_alone(tmp_path: Path, name: str) -> None:
    place = tmp_path / "benchmark"
    place.mkdir()
    (tmp_path / "secret").write_text("sk-secret")
    (place / ".hidden").write_text("sk-secret")
    (place / "out").symlink_to(tmp_path / "secret")
    os.mkfifo(place / "pipe")
    with (place / "large").open("wb") as file:
        file.truncate(1 << 34)
    for tag in ("include", "import", "extends"):
        text = "{% " + tag + f" '{name}'" + (" as x" if tag == "import" else "") + " %}"
        with pytest.raises(InputError, match="not a text file beside it"):
            TemplateCompiler(place, "x.toml").template(text, "prompt.user")


def test_a_checker_of_no_blocks_is_not_read_into_memory(tmp_path: Path) -> None:
    path = write(tmp_path, ANSWER + '[grading.checker]\nfile = "c.cpp"\n', QUESTIONS)
    (tmp_path / "c.cpp").touch()
    os.truncate(tmp_path / "c.cpp", 1 << 36)
    with pytest.raises(InputError, match="has 68719476736 bytes, more than"):
        list(load(path).open_source(Settings()).infos())


def test_templates_that_include_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("{% include 'b' %}")
    (tmp_path / "b").write_text("{% include 'a' %}")
    with pytest.raises(InputError, match="RecursionError"):
        prompt_of(write(tmp_path, STDIO.replace("{{ task }}", "{% include 'a' %}"), [ADD]))


def test_rows_are_evaluated_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()
    plain = evaluation._asked

    def counted(steps: Any, rows: Any, included: Any) -> Any:
        asked.append(len(rows))
        return plain(steps, rows, included)

    monkeypatch.setattr(evaluation, "_asked", counted)
    rows = [{**ADD, "name": f"add-{number}"} for number in range(100)]
    path = write(tmp_path, STDIO.replace('id = "name"', 'id = "name ~ 1"'), rows)
    infos = list(load(path).open_source(Settings()).infos())
    assert [each.id for each in infos] == [f"add-{number}1" for number in range(100)]
    assert asked == [64, 36]


def test_a_column_s_name_needs_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "_workers", None)
    plain = Expression("rows.id", " task_id ", frozenset({"task_id"}), {})
    assert plain.value({"task_id": 7}) == 7


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    | st.binary() | st.dates() | st.datetimes() | st.timedeltas() | st.decimals(allow_nan=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)  # fmt: skip


@given(PLAIN)
def test_values_cross_unchanged(value: Any) -> None:
    found = decode(json.loads(encode(value)))
    assert found == value
    assert type(found) is type(value)


def test_values_of_parquet_cross_unchanged() -> None:
    value = {
        "at": datetime(2030, 1, 2, 3, tzinfo=UTC), "on": date(2030, 1, 2),
        "took": timedelta(seconds=1.5), "price": Decimal("1.10"), "raw": b"\xff",
        "odd": [{"\0kind": "date", "value": "x", "more": 1}, {"\0kind": "nothing", "value": 1}],
    }  # fmt: skip
    assert decode(json.loads(encode(value))) == value
