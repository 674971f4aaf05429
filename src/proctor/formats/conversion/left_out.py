"""Files of a package that its conversion leaves out, so that none of them is lost unnoticed."""

from pathlib import Path

from proctor.formats.conversion.draft import Draft
from proctor.formats.conversion.same import Difference
from proctor.formats.packages.files import LARGEST_SOURCE, Tree
from proctor.formats.packages.model import Package
from proctor.formats.packages.package import is_main_file
from proctor.problem import content_bytes

_SETTINGS = frozenset({
    "domjudge-problem.ini", "testdata.yaml", "test_group.yaml", "submissions.yaml",
    "solutions.json", "subtasks.json", "mapping", "test.yml",
})  # fmt: skip
"""Settings files that are read beside a package's main file."""
_SHOWN = 8


def files_left_out(source: Package, draft: Draft) -> list[Difference]:
    """A note on the files that are nowhere in the draft unchanged, if there are any.

    Settings do not count, nor do submissions, which have notes of their own.
    """
    if not source.path.is_dir():
        return []
    tree = Tree.at(source.path)
    contents = {content_bytes(each) for each in draft.files.values() if not isinstance(each, Path)}
    submissions = {each.name for each in source.submissions}
    tests = {
        str(content)
        for test in source.problem.tests
        for content in (test.input, test.output, *(test.files or {}).values())
        if isinstance(content, Path)
    }
    names = []
    for name in tree.walk("", lenient=True):
        path = tree.resolved(name)
        above = {str(each) for each in (Path(name), *Path(name).parents)}
        if str(path) in tests or above & submissions or _is_read(name):
            continue
        small = path.is_file() and path.stat().st_size <= LARGEST_SOURCE
        if small and tree.content(name) in contents:
            continue
        names.append(name)
    if not names:
        return []
    more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    text = f"not there as they were: {', '.join(names[:_SHOWN])}{more}"
    return [Difference("files", text, True)]


def _is_read(name: str) -> bool:
    """Return True for a file that is read as settings, such as a main file."""
    head, _, base = name.rpartition("/")
    of_data = name.startswith("data/") and base.endswith((".yaml", ".zip"))
    return (
        (not head and is_main_file(base))
        or base in _SETTINGS
        or of_data
        or (head == "subtasks" and base.endswith(".json"))
    )
