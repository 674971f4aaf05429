"""Packages as TPS exports them for CMS: problem.json with `task_type`, and a file per subtask."""

import json
import re
from collections.abc import Mapping
from typing import Any

from proctor.formats.conversion.draft import (
    Draft,
    add_submission,
    file_names,
    main_file,
    plain_name,
    tells_language,
)
from proctor.formats.conversion.labels import Labels
from proctor.formats.packages.cms_programs import EVAL
from proctor.formats.packages.files import extension
from proctor.formats.packages.model import Claim, Expectation, Labelled, Package, Part
from proctor.formats.packages.programs import DATA
from proctor.formats.packages.tps import FILE
from proctor.formats.packages.tps_solutions import FILE as SOLUTIONS
from proctor.formats.packages.tps_solutions import VERDICTS, whole_claim
from proctor.formats.packages.tps_subtasks import ALL, SAMPLE_NAME
from proctor.grading import Checker, Convention, Match
from proctor.problem import (
    Aggregate,
    Batch,
    Communication,
    Interactive,
    OutputOnly,
    Problem,
    Subtask,
    TwoSteps,
    inherited,
)
from proctor.program import Program

_WORDS = (
    "correct", "partially_correct", "incorrect", "time_limit", "memory_limit", "runtime_error",
    "protocol_violation", "time_limit_and_runtime_error", "failed",
)  # fmt: skip
"""Words for submissions, those that say more before others."""
_PROGRAMS = ("cpp", "cc", "py")


def write(package: Package, draft: Draft) -> None:
    """Draft the package."""
    problem = package.problem
    names = file_names(list(problem.tests_by_name()))
    for name, test in problem.tests_by_name().items():
        draft.add(f"tests/{names[name]}.in", test.input)
        if test.output is not None or not isinstance(problem.running, Communication):
            draft.add(f"tests/{names[name]}.out", b"" if test.output is None else test.output)
    settings: dict[str, Any] = {
        "protocol_version": 1,
        "code": problem.id,
        "name": problem.title or problem.id,
        "time_limit": problem.test_limits.cpu,
        "memory_limit": problem.test_limits.memory,
        "score_precision": problem.precision,
    }
    kind, parameters = _running(draft, problem)
    named = {f"task_type_parameters_{kind}_{key}": value for key, value in parameters.items()}
    settings |= {"task_type": kind, "task_type_params": json.dumps(named)}
    draft.add(FILE, _json(settings))
    if problem.statement:
        draft.add("statements/en.md", problem.statement)
    _checker(draft, problem)
    subtasks = _subtasks(draft, problem, names)
    _submissions(draft, package, names, subtasks)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _running(draft: Draft, problem: Problem) -> tuple[str, dict[str, Any]]:
    """Type of the task and its parameters, with graders and manager added."""
    running = problem.running
    main = {Communication: "stub", TwoSteps: "manager"}.get(type(running), "grader")
    _graders(draft, problem, main)
    compilation = {"compilation": main if problem.stubs else "alone"}
    match running:
        case Batch():
            files = {"io_0_inputfile": running.input_file, "io_1_outputfile": running.output_file}
            return "Batch", compilation | {key: each for key, each in files.items() if each}
        case Communication():
            _program(draft, "graders", "manager", running.manager, "running.manager")
            args = {"manager_args": list(running.manager_args)} if running.manager_args else {}
            return "Communication", {
                "num_processes": running.processes,
                **compilation,
                "user_io": "fifo_io" if running.fifo_io else "std_io",
                **args,
            }
        case OutputOnly():
            return "OutputOnly", {}
        case TwoSteps():
            return "TwoSteps", {}
        case Interactive():
            draft.refuse("running.interactor", "there are managers there, no interactors")
        case _:
            draft.refuse("running", "questions for one value have no counterpart there")
    return "Batch", {}


def _graders(draft: Draft, problem: Problem, main: str) -> None:
    """Files compiled with submissions, all in one directory."""
    lacking = [
        kind
        for kind, stub in sorted(problem.stubs.items())
        if not any(name.partition(".")[0] == main for name in stub.files)
    ]
    if lacking:
        what = f"no {main} for {', '.join(lacking)}; CMS compiles the file of that name"
        draft.refuse("stubs.files", what)
    for kind, stub in problem.stubs.items():
        wanted = EVAL if kind in ("c", "cpp") else ()
        if stub.flags != wanted:
            has, gets = " ".join(stub.flags) or "none", " ".join(wanted) or "none"
            draft.refuse(f"stubs.{kind}.flags", f"{has} here, {gets} there")
        for name, content in stub.files.items():
            path = f"graders/{name}"
            if draft.files.get(path, content) != content:
                draft.refuse(f"stubs.{kind}.files", f"{name} is not the same for all languages")
            else:
                draft.add(path, content)


def _program(draft: Draft, directory: str, name: str, program: Program, field: str) -> None:
    ending = extension(main_file(program))
    if ending.removeprefix(".") not in _PROGRAMS or not tells_language(program, f"x{ending}"):
        draft.refuse(f"{field}.language", f"{program.language} here, C++ or Python there")
        return
    for file, content in program.files.items():
        path = f"{directory}/{file}"
        if draft.files.get(path, content) != content:
            draft.refuse(f"{field}.files", f"{file} is not the same as that of the graders")
        else:
            draft.add(path, content)
    draft.add(f"{directory}/{name}{ending}", program.encoded())


def _checker(draft: Draft, problem: Problem) -> None:
    grading = problem.grading
    if isinstance(grading, Checker):
        _program(draft, "checker", "checker", grading.program, "grading.program")
        if grading.convention is not Convention.SCORE:
            draft.refuse(
                "grading.program",
                f"a checker by the convention {grading.convention} is called otherwise there;"
                " write one that prints a score",
            )
    elif grading.match is not Match.LINES and not isinstance(
        problem.running, Communication | Interactive
    ):
        what = f"outputs are compared as {grading.match} here, as lines there"
        draft.refuse("grading.match", what)


def _subtasks(draft: Draft, problem: Problem, names: Mapping[str, str]) -> dict[str, str]:
    """Add the subtasks, and return the names of their files."""
    only = problem.subtasks[0]
    if len(problem.subtasks) == 1 and (only.points, only.aggregate) == (100, Aggregate.SUM):
        return {only.name: ALL}
    own = file_names([each.name for each in problem.subtasks])
    known = {each.name: each for each in problem.subtasks}
    width = max(2, len(str(len(known))))
    for number, subtask in enumerate(problem.subtasks):
        samples = subtask.points == 0 and all(
            problem.tests_by_name()[test].public for test in subtask.tests
        )
        name = own[subtask.name]
        if name != subtask.name or (samples and not SAMPLE_NAME.fullmatch(name)):
            text = "samples" if samples else re.sub(r"^\d+-", "", plain_name(subtask.name))
            own[subtask.name] = name = f"{number:0{width}d}-{text}"
        # A subtask's score is the least over its own tests and those of the subtasks it depends on:
        # so the latter become its tests too.
        tests = dict.fromkeys((*inherited(subtask, known), *subtask.tests))
        if subtask.aggregate is Aggregate.SUM and len(subtask.tests) > 1:
            what = "is the least of its tests' scores there, no sum"
            draft.refuse(f"subtasks[{subtask.name}].aggregate", what)
        settings = {"score": subtask.points, "testcases": [names[test] for test in tests]}
        draft.add(f"subtasks/{name}.json", _json(settings))
    return own


def _submissions(
    draft: Draft, package: Package, names: Mapping[str, str], subtasks: Mapping[str, str]
) -> None:
    """Add submissions in directories named for their verdicts; more about them in solutions.json.

    That file is proctor's addition, and there only if some label needs it.
    """
    labels = _CmsLabels(package.problem)
    listed, needed = {}, False
    for each in package.submissions:
        if each.limits is not None:
            draft.leave_out(each, "it has limits of its own")
            continue
        program = each.program
        if program.language != DATA and not tells_language(program, main_file(program)):
            draft.leave_out(each, f"its ending does not tell {program.language}")
            continue
        if (found := labels.of(each)) is None:
            draft.leave_out(each, "no word says what is expected of it")
            continue
        word, special, score = found
        path = add_submission(draft, f"solutions/{word}", each, outputs=names)
        needed = needed or bool(special) or score is not None
        entry: dict[str, Any] = {"verdict": word}
        if special:
            entry["except"] = {subtasks[name]: verdict for name, verdict in special.items()}
        if score is not None:
            entry["score"] = score
        listed[path.rpartition("/")[2]] = entry
    if needed:
        draft.add(SOLUTIONS, _json(listed))


class _CmsLabels:
    """Words for labels: one for the whole, or one for each subtask; and a score."""

    def __init__(self, problem: Problem) -> None:
        self._labels, self._subtasks = Labels(problem), problem.subtasks
        self._words = {word: Expectation(whole_claim(VERDICTS[word])) for word in _WORDS}

    def of(self, submission: Labelled) -> tuple[str, dict[str, str], float | None] | None:
        """The word, those of subtasks that differ, and the points if they are one number."""
        expected = submission.expected
        score = None
        if (points := expected.whole.points) is not None and points[0] == points[1]:
            score = points[0]
        word = self._labels.strongest(expected, self._words)
        own = [self._word_of(expected, each) for each in self._subtasks]
        if all(each is not None for each in own) and len(set(own)) > 1:
            usual = max(set(own), key=own.count) or ""
            special = {
                each.name: verdict
                for each, verdict in zip(self._subtasks, own, strict=True)
                if verdict is not None and verdict != usual
            }
            return usual, special, score
        return None if word is None else (word, {}, score)

    def _word_of(self, expected: Expectation, subtask: Subtask) -> str | None:
        words = {
            word: Expectation(Claim(), (Part(subtask.name, Claim(VERDICTS[word])),))
            for word in _WORDS
        }
        return self._labels.strongest(expected, words)
