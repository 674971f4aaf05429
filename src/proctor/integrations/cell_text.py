"""Outcomes of cells in words for language models."""

from proctor.sandbox.notebook import CellResult


def failure(result: CellResult) -> str:
    """Return what went wrong in a cell that is not `ok`: its traceback, or the limit it overran."""
    if result.ended is not None:
        hit = f"it overran its {result.limit} limit" if result.limit else "the code ended it"
        return f"The Python interpreter has ended: {hit}. All variables are lost."
    if result.limit is not None:
        return f"The code overran its {result.limit} limit and was interrupted."
    assert result.error is not None
    return "".join(result.error.traceback) or f"{result.error.name}: {result.error.value}"


def printed(result: CellResult) -> str:
    """Return what a cell wrote, to stdout and then to stderr."""
    return (result.stdout + result.stderr).decode("utf-8", "replace")
