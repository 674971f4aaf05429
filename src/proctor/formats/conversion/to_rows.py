"""Problems as a row of the shape of open-r1/codeforces; its submissions have no place there."""

import json

from proctor.formats.codeforces_rows import INPUT, OUTPUT
from proctor.formats.conversion.draft import Draft
from proctor.formats.packages.model import Package
from proctor.grading import Checker, Convention, Match
from proctor.limits import MIB
from proctor.problem import Aggregate, Batch, Content, Problem, content_bytes

FILE = "problems.jsonl"


def write(package: Package, draft: Draft) -> None:
    """Draft the table of one row."""
    problem = package.problem
    limits = problem.test_limits
    row = {
        "id": problem.id,
        "title": problem.title,
        "description": problem.statement,
        "time_limit": limits.cpu,
        "memory_limit": limits.memory / MIB,
        "input_mode": _mode(draft, problem),
        "generated_checker": _checker(draft, problem),
        "official_tests": [
            {
                "input": _text(draft, f"tests[{name}].input", test.input),
                "output": _text(draft, f"tests[{name}].output", test.output or b""),
            }
            for name, test in problem.tests_by_name().items()
        ],
    }
    only = problem.subtasks[0]
    if len(problem.subtasks) > 1 or (only.aggregate is Aggregate.SUM and len(only.tests) > 1):
        draft.refuse("subtasks", "a row has none; all its tests must be passed, for one point")
    if problem.stubs:
        draft.refuse("stubs", "nothing is compiled with submissions there")
    for submission in package.submissions:
        draft.leave_out(submission, "a row has none")
    draft.add(FILE, json.dumps(row, ensure_ascii=True) + "\n")


def _text(draft: Draft, field: str, content: Content) -> str:
    """A test's content; rows are text."""
    try:
        return content_bytes(content).decode()
    except UnicodeDecodeError as error:
        draft.refuse(field, f"is not UTF-8, as a row has to be: {error}")
        return ""


def _mode(draft: Draft, problem: Problem) -> str:
    if isinstance(problem.running, Batch):
        named = (problem.running.input_file, problem.running.output_file)
        if named in ((None, None), (INPUT, OUTPUT)):
            return "file" if named[0] else "stdio"
        draft.refuse("running", f"files are named {INPUT} and {OUTPUT} there, or both none")
    else:
        kind = type(problem.running).__name__
        draft.refuse("running", f"{kind} problems have no counterpart there")
    return "stdio"


def _checker(draft: Draft, problem: Problem) -> str | None:
    grading = problem.grading
    if not isinstance(grading, Checker):
        if grading.match not in (Match.TOKENS, Match.YES_NO):
            what = f"outputs are compared as {grading.match} here, only as tokens there"
            draft.refuse("grading.match", what)
        return None
    program = grading.program
    if grading.convention is not Convention.PRINTED or program.files:
        draft.refuse("grading.program", "checkers there are one file that prints 1 or 100, or 0")
    if program.language != "python":
        draft.refuse("grading.program.language", f"{program.language} here, Python there")
    return program.source
