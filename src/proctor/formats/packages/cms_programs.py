"""Programs of a task for CMS, whichever loader of CMS its directory is made for."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from proctor.formats.packages.files import Tree, extension, join
from proctor.formats.packages.programs import with_files
from proctor.grading import Checker, Convention
from proctor.problem import Batch, Stub, Test
from proctor.program import Program

EVAL = ("-DEVAL",)
"""Compiler arguments that CMS gives C and C++."""
HEADERS = {".h": ("c", "cpp"), ".hpp": ("cpp",), ".hh": ("cpp",)}
"""Families of languages that a header is for."""

_SECOND_ARGUMENT = re.compile(r"\b(ans|ouf)\s*\.\s*init\s*\(\s*(?:argv|args)\s*\[\s*2\s*\]")
_ENDINGS = {"c": ".c", "cpp": ".cpp", "java": ".java", "python": ".py", "pascal": ".pas"}


def judging_program(tree: Tree, main: str) -> Program:
    """A checker or manager, with the headers in its directory; without an ending it is a script.

    Raises InputError.
    """
    directory = main.rpartition("/")[0]
    names = [join(directory, name) for name in tree.entries(directory)]
    script = "" if extension(main) else "python"
    kinds = {*HEADERS, ".py"} if script or extension(main) == ".py" else set(HEADERS)
    beside = [name for name in names if extension(name) in kinds and tree.is_file(name)]
    return with_files(tree, main, beside, script or None)


def cms_checker(checker: Program) -> Checker:
    """Grading by a checker, called in the way that it is made for.

    CMS calls it with input, answer, output and reads a score from its stdout; IOI's edition of
    testlib.h is made for that. A package that carries the plain testlib.h has checkers with the
    order input, output, answer, and an exit code. The header tells which one it is by
    what it opens as its second argument.
    """
    header = checker.files.get("testlib.h", b"").decode("utf-8", "replace")
    if "testlib.h" not in checker.source or not (match := _SECOND_ARGUMENT.search(header)):
        return Checker(checker, Convention.SCORE)
    return Checker(checker, Convention.SCORE if match[1] == "ans" else Convention.TESTLIB)


def told_kind(tests: Sequence[Test], how: Batch) -> tuple[Test, ...]:
    """Return the tests with CMS's further argument for the checker, if outputs may be handed in."""
    if not how.outputs:
        return tuple(tests)
    return tuple(
        replace(each, flags=("outputonly" if each.name in how.outputs_only else "batch",))
        for each in tests
    )


def stub(files: Mapping[str, bytes], family: str, code: str = "") -> Stub:
    """Files compiled with submissions of a family of languages, which are named for the task.

    Without `code` a submission keeps its name.
    """
    ending = _ENDINGS.get(family)
    name = code + ending if code and ending else ""
    return Stub(files, name=name, flags=EVAL if family in {"c", "cpp"} else ())
