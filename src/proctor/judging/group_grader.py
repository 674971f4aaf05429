"""Groups that a program grades: legacy Kattis packages with `grading: custom`.

Contract: problemtools. A grader reads a line `VERDICT SCORE` for each member of the group, its
arguments are the group's `grader_flags`, and it prints one such line, which is the group's. Groups
without `custom` are graded here as Kattis's default grader does it.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from proctor.errors import InputError
from proctor.grading import GradedGroup, GroupGrading
from proctor.judgement import SubtaskResult, TestResult, deciding
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.grader import LIMITS
from proctor.judging.points import Plan, overall, rounded, total
from proctor.problem import Problem
from proctor.verdict import Verdict

_Line = tuple[str, float]
"""Verdict, in Kattis's words, and score."""
_Results = Mapping[str, TestResult]

_WORDS = {
    Verdict.AC: "AC", Verdict.PA: "AC", Verdict.WA: "WA", Verdict.PE: "WA", Verdict.TLE: "TLE",
    Verdict.ILE: "TLE", Verdict.RE: "RTE", Verdict.MLE: "MLE", Verdict.OLE: "OLE",
}  # fmt: skip
_VERDICTS = {
    "WA": Verdict.WA, "PE": Verdict.PE, "TLE": Verdict.TLE, "RTE": Verdict.RE, "MLE": Verdict.MLE,
    "OLE": Verdict.OLE,
}  # fmt: skip
_FAULT = "JE"
_WORST = ("JE", "RTE", "MLE", "TLE", "OLE", "WA", "PE")
_PRINTED = re.compile(r"\s*(AC|WA|PE|TLE|RTE|MLE|OLE|JE)\s+(-?[0-9]{0,15}(?:\.[0-9]{0,20})?)\s*")
_SCORES: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": sum, "min": min, "max": max, "avg": lambda scores: sum(scores) / len(scores),
}  # fmt: skip


def scored(
    problem: Problem,
    results: _Results,
    names: Sequence[str] | None,
    environment: JudgingEnvironment,
) -> tuple[tuple[SubtaskResult, ...], Verdict, float | None, str]:
    """Return the subtasks' results, the verdict, the points (None for a fault), and the fault.

    All subtasks count, or only those in `names`. The fault is a message, empty if there is none.
    Raises InfraFault.
    """
    if problem.group_grading is not None:
        return _graded(problem, problem.group_grading, results, names, environment)
    subtasks = Plan(problem, names).score(results)
    return subtasks, overall(subtasks), total(subtasks, problem.precision), ""


def _graded(
    problem: Problem,
    how: GroupGrading,
    results: _Results,
    names: Sequence[str] | None,
    environment: JudgingEnvironment,
) -> tuple[tuple[SubtaskResult, ...], Verdict, float | None, str]:
    fault = next((each for each in results.values() if each.verdict.is_fault), None)
    decided = deciding(results.values())
    failed = None if fault is None or decided is None else decided.verdict
    message = "" if decided is None or failed is None else decided.message
    grading = _Grading(problem, how, results, environment)
    whole: _Line = ("AC", 0.0)
    if failed is None:
        try:
            whole = grading.line(how.groups[0]) or whole
        except InputError as error:
            failed, message = Verdict.TASK_FAULT, str(error)
    subtasks = []
    for subtask in problem.subtasks:
        if names is not None and subtask.name not in names:
            continue
        ran = tuple(name for name in subtask.tests if name in results)
        found = grading.lines.get(subtask.name, ("WA", 0.0))
        verdict, points = _ended(found, subtask.points, problem.precision)
        if failed is not None:
            own = None if fault is None else deciding(results[name] for name in ran)
            why = failed if own is None else own.verdict
            one = SubtaskResult(subtask.name, why, None, None, subtask.points, ran)
        else:
            share = points / subtask.points if subtask.points else float(verdict is Verdict.AC)
            one = SubtaskResult(subtask.name, verdict, share, points, subtask.points, ran)
        subtasks.append(one)
    if failed is not None:
        return tuple(subtasks), failed, None, message
    most = how.points if names is None else min(how.points, sum(each.of for each in subtasks))
    return tuple(subtasks), *_ended(whole, most, problem.precision), ""


def _ended(line: _Line, most: float, precision: int) -> tuple[Verdict, float]:
    """Return the verdict and the points that a line comes to: full marks, a part, or none."""
    word, score = line
    if word != "AC":
        return _VERDICTS[word], 0.0
    points = rounded(min(max(score, 0.0), most), precision)
    if points >= rounded(most, precision):
        return Verdict.AC, points
    return (Verdict.PA if points > 0 else Verdict.WA), points


class _Grading:
    """One submission's groups, graded from the innermost out."""

    def __init__(
        self,
        problem: Problem,
        how: GroupGrading,
        results: _Results,
        environment: JudgingEnvironment,
    ) -> None:
        self._problem, self._how, self._results = problem, how, results
        self._tests = problem.tests_by_name()
        self._groups = {group.name: group for group in how.groups}
        self._environment = environment
        self.lines: dict[str, _Line] = {}
        """By group."""

    def line(self, group: GradedGroup) -> _Line | None:
        """Return the line of a group; None if nothing of it was run. Raises InputError."""
        lines = []
        for name in group.members:
            inner = self._groups.get(name)
            found = self._of_test(group, name) if inner is None else self.line(inner)
            if found is None:
                continue
            lines.append(found)
            if found[0] != "AC" and group.breaks:
                break
        if not lines:
            return None
        made = self._settled(group, lines) if group.custom else _by_default(group.flags, lines)
        self.lines[group.name] = made
        return made

    def _of_test(self, group: GradedGroup, name: str) -> _Line | None:
        result = self._results.get(name)
        if result is None:
            return None
        if not result.verdict.passed and result.verdict is not Verdict.PA:
            return _WORDS[result.verdict], group.reject_score
        if self._how.by_validator:
            return "AC", result.score * self._tests[name].full
        return "AC", group.accept_score

    def _settled(self, group: GradedGroup, lines: Sequence[_Line]) -> _Line:
        """Return the grader's line; WA if it fails, but does not where all tests are accepted.

        Raises InputError if it fails there, too: then the submission is not to blame.
        """
        try:
            return self._asked(group, lines)
        except InputError:
            if all(result.score == 1 for result in self._results.values()):
                raise
            accepted = dict.fromkeys(self._tests, TestResult(Verdict.AC))
            _Grading(self._problem, self._how, accepted, self._environment).line(group)
            return "WA", 0.0

    def _asked(self, group: GradedGroup, lines: Sequence[_Line]) -> _Line:
        """Run the problem's own grader, in a cell that no submission is ever in.

        Raises InputError if it fails, or finds a judge error.
        """
        assert self._how.program is not None
        built = self._environment.compile_grader(self._how.program)
        command = built.command(group.flags, memory=LIMITS.memory)
        given = "".join(f"{word} {score:.9g}\n" for word, score in lines).encode()
        limits = built.limits(LIMITS, command)
        execution = self._environment.run_grader(command, given, limits).execution
        if not execution.ok:
            why = execution.limit or f"exit code {execution.exit_code}"
            raise InputError(f"the grader failed on the group {group.name!r}: {why}")
        text = execution.stdout[:200].decode("utf-8", "replace")
        found = _PRINTED.fullmatch(text)
        if found is not None and found[1] == _FAULT:
            raise InputError(f"the grader finds a judge error in the group {group.name!r}")
        try:
            if found is not None:
                return found[1], float(found[2])
        except ValueError:
            pass  # the score is a sign or a point alone
        what = f"the grader printed {text[:60]!r} of the group {group.name!r}, no verdict and score"
        raise InputError(what)


def _by_default(flags: Sequence[str], lines: Sequence[_Line]) -> _Line:
    """Return the line of the default grader; of conflicting flags the last one counts."""
    if "ignore_sample" in flags:
        lines = lines[-1:]
    score = _SCORES[next((flag for flag in reversed(flags) if flag in _SCORES), "sum")]
    scores = score([each for _, each in lines])
    words = [word for word, _ in lines]
    modes = ("worst_error", "no_errors", "first_error", "always_accept")
    mode = next((flag for flag in reversed(flags) if flag in modes), "worst_error")
    if mode == "always_accept" or ("accept_if_any_accepted" in flags and "AC" in words):
        return "AC", scores
    failed = [word for word in words if word != "AC"]
    if mode == "first_error":
        return next(iter(failed), "AC"), scores
    return min(failed, key=_WORST.index, default="AC"), scores
