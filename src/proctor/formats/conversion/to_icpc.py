"""Packages in the legacy format of ICPC and Kattis.

It is written because both DOMjudge and Kattis judge by it today, points included; each supports
only a part of the newer formats. Groups are scored as Kattis reads them; DOMjudge gives the same
score for groups that are all or nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import yaml

from proctor.formats.conversion.draft import (
    Draft,
    add_submission,
    file_names,
    main_file,
    tells_language,
)
from proctor.formats.conversion.labels import Labels
from proctor.formats.packages.icpc_submissions import by_directory
from proctor.formats.packages.model import Expectation, Package
from proctor.formats.packages.validator_flags import DEFAULT
from proctor.grading import Checker, Comparison, Convention, Match
from proctor.limits import MIB
from proctor.problem import Aggregate, Batch, Interactive, Problem, Stub, Subtask
from proctor.program import Program

_WORDS = (
    "accepted", "time_limit_exceeded", "wrong_answer", "memory_limit_exceeded",
    "output_limit_exceeded", "run_time_error", "compiler_error", "partially_accepted", "rejected",
)  # fmt: skip
"""Directories of submissions, those that say more before others."""
_PYTHON = {"python", "pypy"}
_CPP = {"cpp11", "cpp14", "cpp17", "cpp20", "cpp23"}


def write(package: Package, draft: Draft) -> None:
    """Draft the package."""
    problem = package.problem
    groups = _Groups(draft, problem)
    settings: dict[str, Any] = {
        "problem_format_version": "legacy",
        "name": problem.title or problem.id,
        "type": "scoring" if groups.scoring else "pass-fail",
        "validation": _validation(
            draft, problem, by_validator=groups.scoring and groups.by_validator
        ),
        "limits": _limits(package, draft),
    }
    if flags := _flags(problem):
        settings["validator_flags"] = _joined(draft, flags)
    if problem.languages:
        settings["languages"] = " ".join(_languages(problem.languages))
    if problem.test_limits.disk:
        settings["allow_file_writing"] = True
    draft.add("problem.yaml", _yaml(settings))
    if problem.statement:
        kind = "tex" if "\\begin{" in problem.statement else "md"
        draft.add(f"problem_statement/problem.en.{kind}", problem.statement)
    _stubs(draft, problem.stubs)
    groups.write()
    _submissions(draft, package, scoring=groups.scoring)


def _yaml(value: object) -> str:
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=100)


def _number(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value


def _limits(package: Package, draft: Draft) -> dict[str, Any]:
    limits, timing = package.problem.test_limits, package.timing
    found = {
        "memory": _number(limits.memory / MIB),
        "output": _number(limits.output / MIB),
        "time_multiplier": _number(timing.multiplier),
        "time_safety_margin": _number(timing.margin),
    }
    if timing.given:
        found = {"time_limit": _number(limits.cpu), **found}
        draft.add(".timelimit", f"{_number(limits.cpu)}\n")  # problemtools reads the limit here
    checker = package.problem.grading
    running = package.problem.running
    program = running if isinstance(running, Interactive) else checker
    if isinstance(program, Checker | Interactive) and program.passes > 1:
        found["validation_passes"] = program.passes
    return found


def _validation(draft: Draft, problem: Problem, *, by_validator: bool) -> str:
    """Value of `validation`, after the validator is added to the draft."""
    grading, running = problem.grading, problem.running
    words = ["custom"]
    program: Program | None = None
    passes = 1
    match running:
        case Interactive():
            words.append("interactive")
            program, convention, passes = running.interactor, running.convention, running.passes
            if isinstance(grading, Checker):
                draft.refuse("grading.program", "an interactor decides alone there")
        case Batch() if isinstance(grading, Checker):
            program, convention, passes = grading.program, grading.convention, grading.passes
        case Batch():
            pass
        case _:
            kind = type(running).__name__
            draft.refuse("running", f"{kind} problems have no counterpart there")
    if program is None:
        if isinstance(grading, Comparison):
            _check_comparison(draft, grading)
        return "default"
    if convention is not Convention.KATTIS:
        what = "an interactor" if isinstance(running, Interactive) else "a checker"
        field = "running.interactor" if isinstance(running, Interactive) else "grading.program"
        draft.refuse(
            field,
            f"{what} by the convention {convention} is called otherwise there; write an output"
            " validator",
        )
    if not tells_language(program, main_file(program)):
        draft.refuse("grading.program.language", f"its ending does not tell {program.language}")
    draft.add_program("output_validators/validator", program)
    if by_validator:
        words.append("score")
    return " ".join([*words, "multi-pass"] if passes > 1 else words)


def _check_comparison(draft: Draft, grading: Comparison) -> None:
    nearest = replace(DEFAULT, case_sensitive=grading.case_sensitive,
                      space_sensitive=grading.space_sensitive, absolute=grading.absolute,
                      relative=grading.relative)  # fmt: skip
    if grading.match is not Match.TOKENS and grading != nearest:
        draft.refuse(
            "grading.match", f"outputs are compared as {grading.match} here, only as tokens there"
        )


def _flags(problem: Problem) -> list[str]:
    grading = problem.grading
    if isinstance(problem.running, Interactive):
        return list(problem.running.flags)
    if isinstance(grading, Checker):
        return list(grading.flags)
    flags = [
        name
        for name, wanted in (
            ("case_sensitive", grading.case_sensitive),
            ("space_change_sensitive", grading.space_sensitive),
        )
        if wanted
    ]
    for name, epsilon in (
        ("float_absolute_tolerance", grading.absolute),
        ("float_relative_tolerance", grading.relative),
    ):
        flags += [] if epsilon is None else [name, repr(epsilon)]
    return flags


def _joined(draft: Draft, flags: Sequence[str]) -> str:
    """Flags as one text, which is split at blank space."""
    if any(flag.split() != [flag] for flag in flags):
        draft.refuse("grading.flags", "one of them has blank space in it")
    return " ".join(flags)


def _languages(ids: Sequence[str]) -> list[str]:
    """Codes of Kattis, where they stand for exactly these."""
    left, codes = dict.fromkeys(ids), []
    for code, group in (("cpp", _CPP), ("python3", _PYTHON)):
        if group <= left.keys():
            codes.append(code)
            left = {each: None for each in left if each not in group}
    return [*codes, *left]


def _stubs(draft: Draft, stubs: Mapping[str, Stub]) -> None:
    for kind, stub in stubs.items():
        draft.add_all(f"include/{kind}", stub.files)


class _Groups:
    """Tests by directory: samples first, then a group for each subtask."""

    def __init__(self, draft: Draft, problem: Problem) -> None:
        self._draft, self._problem = draft, problem
        self._tests = problem.tests_by_name()
        only = problem.subtasks[0]
        adds_up = only.aggregate is Aggregate.SUM and len(only.tests) > 1
        self.scoring = len(problem.subtasks) > 1 or only.points != 1 or adds_up
        self.by_validator = self.scoring and any(test.full != 1 for test in problem.tests)

    def write(self) -> None:
        """Add the tests, and how groups are scored."""
        first, *rest = self._problem.subtasks
        if not self.scoring:
            samples = tuple(takewhile(lambda name: self._tests[name].public, first.tests))
            self._group("sample", samples, {})
            self._group("secret", first.tests[len(samples) :], {})
            return
        # Samples are run before all other tests.
        sample = first.points == 0 and all(self._tests[name].public for name in first.tests)
        units = rest if sample else [first, *rest]
        total = _number(sum(each.points for each in units))
        settings = {"on_reject": "continue", "range": f"0 {total}"}
        if sample:
            self._group("sample", first.tests, {})
            settings["grader_flags"] = "ignore_sample"
        self._draft.add("data/testdata.yaml", _yaml(settings))
        settings = {"grader_flags": "accept_if_any_accepted"}  # the scores of groups are added up
        self._draft.add("data/secret/testdata.yaml", _yaml(settings))
        groups = file_names([each.name.removeprefix("secret/") for each in units])
        seen = set(first.tests) if sample else set()
        for unit, group in zip(units, groups.values(), strict=True):
            if seen & set(unit.tests):
                what = "some are in another subtask too; there a test is in one group"
                self._draft.refuse(f"subtasks[{unit.name}].tests", what)
                continue
            seen |= set(unit.tests)
            self._unit(f"secret/{group}", unit)

    def _unit(self, group: str, unit: Subtask) -> None:
        adds_up = unit.aggregate is Aggregate.SUM and len(unit.tests) > 1
        share = len(unit.tests) if adds_up and not self.by_validator else 1
        if unit.depends:
            self._draft.refuse(f"subtasks[{unit.name}].depends", "no group depends on others there")
        settings = {
            "on_reject": "continue" if adds_up else "break",
            "accept_score": _number(unit.points / share),
            "range": f"0 {_number(unit.points)}",
            "grader_flags": "sum accept_if_any_accepted" if adds_up else "min",
        }
        self._group(group, unit.tests, settings)

    def _group(self, group: str, names: Sequence[str], settings: dict[str, Any]) -> None:
        """Add tests with the group's settings, and with flags that are the same for all."""
        short = [name.rpartition("/")[2] for name in names]
        files = file_names(short if len(set(short)) == len(short) else names).values()
        for name, file in zip(names, files, strict=True):
            test, path = self._tests[name], f"data/{group}/{file}"
            self._draft.add(f"{path}.in", test.input)
            self._draft.add(f"{path}.ans", b"" if test.output is None else test.output)
        flags = {self._tests[name].flags for name in names}
        if len(flags) == 1 and (own := flags.pop()):
            settings = {**settings, "output_validator_flags": _joined(self._draft, own)}
        if settings:
            self._draft.add(f"data/{group}/testdata.yaml", _yaml(settings))


def _submissions(draft: Draft, package: Package, *, scoring: bool) -> None:
    labels = Labels(package.problem)
    words = {
        word: Expectation(named[0])
        for word in _WORDS
        if (named := by_directory(package.problem, word, is_scoring=scoring)) is not None
    }
    for each in package.submissions:
        if each.limits is not None:
            draft.leave_out(each, "it has limits of its own")
        elif not tells_language(each.program, main_file(each.program)):
            draft.leave_out(each, f"its ending does not tell {each.program.language}")
        elif (word := labels.strongest(each.expected, words)) is None:
            draft.leave_out(each, "no directory says what is expected of it")
        else:
            add_submission(draft, f"submissions/{word}", each)
