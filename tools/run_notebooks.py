"""Runs the tutorials that are notebooks, and writes what came of their cells into them.

`python tools/run_notebooks.py [FILE...]` runs docs/tutorial/*.ipynb, or the files that are named,
each in a fresh kernel and an empty directory. A cell that raises ends it with exit code 1.
"""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 240
"""Seconds that a cell may take on a busy machine: a bound for what hangs."""


def executed(path: Path, directory: str) -> nbformat.NotebookNode:
    """Return a notebook with the outputs of its cells, run in a directory.

    Raises CellExecutionError for a cell that raises.
    """
    notebook = nbformat.read(path, as_version=4)
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # or each kernel warns on stderr
    client = NotebookClient(
        notebook, timeout=PATIENCE, kernel_name="python3", record_timing=False,
        resources={"metadata": {"path": directory}},
    )  # fmt: skip
    client.execute()
    notebook.metadata.language_info = {"name": "python"}  # not the version that happens to be here
    return notebook


def main(names: list[str]) -> int:
    """Run them; return the exit code."""
    for path in map(Path, names or sorted((ROOT / "docs" / "tutorial").glob("*.ipynb"))):
        with tempfile.TemporaryDirectory() as directory:
            try:
                notebook = executed(path, directory)
            except CellExecutionError as error:
                print(f"{path}: {error}", file=sys.stderr)
                return 1
        nbformat.write(notebook, path)
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
