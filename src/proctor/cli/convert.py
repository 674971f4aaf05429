"""`proctor convert SOURCE DESTINATION --to FORMAT`."""

from pathlib import Path

from proctor.cli import terminal
from proctor.formats.conversion.convert import convert_package, read_source


def convert(
    source: str,
    destination: str,
    to: str,
    problem_id: str | None,
    tests: list[str],
    drop: list[str],
    *,
    as_json: bool,
) -> int:
    """Write a package in another format and report its contents; returns the exit code."""
    package = read_source(source, problem_id, [Path(each) for each in tests])
    converted = convert_package(package, destination, to, drop=drop)
    problem = converted.package.problem
    counts = {
        "tests": len(problem.tests),
        "subtasks": len(problem.subtasks),
        "submissions": len(converted.package.submissions),
    }
    if as_json:
        row = {"destination": destination, "format": to, "problem": problem.id, **counts}
        terminal.write_json({**row, "notes": converted.notes})
        return 0
    for note in converted.notes:
        terminal.write(f"note: {note}", end="\n")
    told = ", ".join(f"{number} {name}" for name, number in counts.items())
    terminal.write(f"{destination}: {told}", end="\n")
    return 0
