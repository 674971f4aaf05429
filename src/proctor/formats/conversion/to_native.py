"""Packages in proctor's own format, which holds whatever a package of any format does."""

from collections.abc import Sequence
from dataclasses import fields
from decimal import Decimal
from typing import Any

from proctor.formats.conversion.draft import Draft, add_submission, file_names, main_file
from proctor.formats.conversion.toml_text import toml_text
from proctor.formats.packages.model import Claim, Labelled, Package, Part, Timing, Verdicts
from proctor.formats.packages.native import ALL
from proctor.formats.packages.native_submissions import FILE, usual_bound
from proctor.formats.packages.programs import DATA, by_extension
from proctor.grading import Comparison, Grading
from proctor.limits import Limits
from proctor.problem import (
    Aggregate,
    Batch,
    Communication,
    Interactive,
    OutputOnly,
    Problem,
    Running,
    Subtask,
    Test,
    TwoSteps,
)
from proctor.program import Program
from proctor.units import size_text

_Table = dict[str, Any]


def write(package: Package, draft: Draft) -> None:
    """Draft the package."""
    problem = package.problem
    if problem.group_grading is not None:
        draft.refuse("group_grading", "groups graded by Kattis's rules are in ICPC packages alone")
    table: _Table = {"id": problem.id, **_stated(title=problem.title)}
    if problem.statement:
        table["statement"] = draft.add("statement.md", problem.statement)
    if problem.precision != Problem.__dataclass_fields__["precision"].default:
        table["precision"] = problem.precision
    table |= _stated(languages=list(problem.languages), integrity=problem.integrity)
    table["limits"] = _limits(problem.test_limits)
    if package.timing != Timing():
        table["timing"] = _changed(package.timing, Timing())
    table |= _stated(
        running=_running(draft, problem.running), grading=_grading(draft, problem.grading)
    )
    table |= _tests(draft, problem)
    if problem.subtasks != (Subtask(ALL, 1.0, tuple(problem.tests_by_name())),):
        table["subtask"] = [_subtask(each) for each in problem.subtasks]
    if problem.stubs:
        table["stubs"] = {kind: _stub(draft, kind, problem) for kind in problem.stubs}
    if package.submissions:
        table["submission"] = [_submission(draft, each) for each in package.submissions]
    draft.add(FILE, toml_text(table))


def _stated(**values: object) -> _Table:
    """Keys that have a value."""
    return {key: value for key, value in values.items() if value}


def _changed(value: object, usual: object) -> _Table:
    """Fields of a record that are not as usual."""
    names = [each.name for each in fields(usual)]  # type: ignore[arg-type]
    pairs = {name: getattr(value, name) for name in names}
    return {name: each for name, each in pairs.items() if each != getattr(usual, name)}


def _limits(limits: Limits) -> _Table:
    seconds = {
        key: f"{Decimal(repr(value)):f}s"
        for key in ("cpu", "wall", "elapsed")
        if (value := getattr(limits, key)) is not None
    }
    sizes = {key: size_text(getattr(limits, key)) for key in ("memory", "output", "disk", "stack")}
    usual = {
        **{key: size_text(getattr(Limits(), key)) for key in sizes},
        "cpu": None,
        "memory": None,
    }
    others = {"processes": limits.processes} if limits.processes != Limits().processes else {}
    return seconds | {key: each for key, each in sizes.items() if each != usual[key]} | others


def _program(draft: Draft, directory: str, program: Program) -> str | _Table:
    path = draft.add_program(directory, program)
    if program.files:
        main = path.removeprefix(f"{directory}/")
        return {"path": directory, "main": main, "language": program.language}
    if by_extension(path, program.source) == program.language:
        return path
    return {"path": path, "language": program.language}


def _running(draft: Draft, running: Running) -> _Table:
    match running:
        case Batch():
            table = _changed(running, Batch())
            lists = {key: list(table[key]) for key in ("outputs", "outputs_only") if key in table}
            return table | lists
        case Interactive():
            return {
                "type": "interactive",
                "interactor": _program(draft, "interactor", running.interactor),
                "convention": running.convention,
                **_stated(flags=list(running.flags)),
                **({"passes": running.passes} if running.passes != 1 else {}),
            }
        case Communication():
            return {
                "type": "communication",
                "manager": _program(draft, "manager", running.manager),
                "processes": running.processes,
                **_stated(fifo_io=running.fifo_io, manager_args=list(running.manager_args)),
                **_stated(graded=running.graded),
            }
        case OutputOnly():
            return {"type": "output-only"}
        case TwoSteps():
            return {"type": "two-steps"}
    draft.refuse("running", "questions for one value are in no package")
    return {}


def _grading(draft: Draft, grading: Grading) -> _Table:
    if isinstance(grading, Comparison):
        return _changed(grading, Comparison())
    return {
        "checker": _program(draft, "checker", grading.program),
        "convention": grading.convention,
        **_stated(flags=list(grading.flags)),
        **({"passes": grading.passes} if grading.passes != 1 else {}),
    }


def _tests(draft: Draft, problem: Problem) -> _Table:
    tests = problem.tests_by_name()
    names = file_names(list(tests), folders=True)
    for name, test in tests.items():
        draft.add(f"tests/{names[name]}.in", test.input)
        if test.output is not None:
            draft.add(f"tests/{names[name]}.ans", test.output)
    own = {name: _test(draft, name, names[name], test) for name, test in tests.items()}
    answered = {test.output is None for test in problem.tests}
    plain = all(each.keys() <= {"name", "input", "answer", "sample"} for each in own.values())
    if not (plain and len(answered) == 1 and list(names) == list(names.values())):
        return {"test": list(own.values())}
    samples = [_pattern(name) for name, test in tests.items() if test.public]
    answers = {} if answered == {True} else {"answers": "tests/*.ans"}
    return {"tests": {"inputs": "tests/*.in", **answers, **_stated(samples=samples)}}


def _test(draft: Draft, name: str, file: str, test: Test) -> _Table:
    files = test.files or {}
    table: _Table = {"name": name, "input": f"tests/{file}.in"}
    if test.output is not None:
        table["answer"] = f"tests/{file}.ans"
    for key in ("weight", "full"):
        if getattr(test, key) != 1:
            table[key] = getattr(test, key)
    return table | _stated(
        sample=test.public,
        flags=list(test.flags),
        args=list(test.args),
        files={
            each: draft.add(f"tests/{file}.files/{each}", content)
            for each, content in files.items()
        },
    )


def _subtask(subtask: Subtask) -> _Table:
    table: _Table = {"name": subtask.name, "points": subtask.points}
    table["tests"] = [_pattern(name) for name in subtask.tests]
    if subtask.aggregate is not Aggregate.MIN:
        table["aggregate"] = subtask.aggregate
    if subtask.threshold != 1:
        table["threshold"] = subtask.threshold
    return table | _stated(depends=list(subtask.depends))


def _pattern(name: str) -> str:
    """The pattern that only this name matches."""
    return "".join(f"[{each}]" if each in "*?[" else each for each in name)


def _stub(draft: Draft, kind: str, problem: Problem) -> _Table:
    stub = problem.stubs[kind]
    paths = {}
    for name, content in stub.files.items():
        alike = {each.files.get(name, content) for each in problem.stubs.values()}
        place = "stubs" if len(alike) == 1 and name not in problem.stubs else f"stubs/{kind}"
        paths[name] = draft.add(f"{place}/{name}", content)
    flat = not any("/" in name for name in paths)
    files = list(paths.values()) if flat else paths
    table = {"files": files, **_stated(name=stub.name, flags=list(stub.flags))}
    for key, text in (("before", stub.before), ("after", stub.after)):
        if text:
            table[key] = draft.add(f"stubs/{kind}.{key}", text)
    if not stub.starts:
        table["starts"] = False
    return table


def _submission(draft: Draft, submission: Labelled) -> _Table:
    program, expected = submission.program, submission.expected
    path = add_submission(draft, "submissions", submission)
    table: _Table = {"path": path}
    if program.files and program.language != DATA:
        table["main"] = main_file(program)
    if program.language not in (DATA, by_extension(main_file(program), program.source)):
        table["language"] = program.language
    table |= _claim(expected.whole)
    parts = [part for part in expected.parts if part.claim != Claim()]
    short = {part.name: part.claim.verdicts for part in parts if _is_short(part)}
    if len(short) == len(parts):
        table |= _stated(subtasks={name: _words(some) for name, some in short.items()})
    else:
        table["part"] = [_part(part) for part in parts]
    silent = table.keys() <= {"path", "main", "language"}
    if silent or submission.bound != usual_bound(expected):
        table["time"] = submission.bound
    if submission.complete:
        table["complete"] = True
    if submission.limits is not None:
        table["limits"] = _limits(submission.limits)
    return table


def _is_short(part: Part) -> bool:
    return part.tests is None and part.claim == Claim(part.claim.verdicts or frozenset())


def _part(part: Part) -> _Table:
    tests = {} if part.tests is None else {"tests": [_pattern(name) for name in part.tests]}
    return {"name": part.name, **tests, **_claim(part.claim)}


def _claim(claim: Claim) -> _Table:
    table: _Table = {}
    for key, some in (
        ("verdict", claim.verdicts),
        ("permitted", claim.permitted),
        ("required", claim.required),
    ):
        if some is not None:
            table[key] = _words(some)
    if claim.points is not None:
        least, most = claim.points
        table["points"] = least if least == most else [least, most]
    return table


def _words(some: Verdicts | None) -> str | Sequence[str]:
    words = sorted(str(each) for each in some or ())
    return words[0] if len(words) == 1 else words
