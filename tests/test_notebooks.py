"""The tutorials that are notebooks: run in a real kernel, they show what they say they show."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "tutorial").glob("*.ipynb"))
LINK = re.compile(r"\]\(([^)#\s]+)")
VARIES = "varies"
"""Tag of a cell whose output depends on the machine."""


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_notebooks", ROOT / "tools/run_notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def shown(cell: Any) -> dict[str, str]:
    """What a cell shows, by kind; any number may be another one."""
    found: dict[str, str] = {}
    for output in cell["outputs"]:
        texts = {output["name"]: output["text"]} if "name" in output else output.get("data", {})
        for kind, text in texts.items():
            whole = text if isinstance(text, str) else "".join(text)
            found[kind] = found.get(kind, "") + re.sub(r"\d+(?:\.\d+)?", "N", whole)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_cell_does_what_the_page_shows(path: Path, tool: ModuleType, tmp_path: Path) -> None:
    again = tool.executed(path, str(tmp_path))  # a cell that raises ends it
    for before, after in zip(read(path)["cells"], again.cells, strict=True):
        if before["cell_type"] == "code" and VARIES not in before["metadata"].get("tags", ()):
            assert shown(after) == shown(before), "".join(before["source"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_is_short_and_was_run_in_order(path: Path) -> None:
    cells = read(path)["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert 8 <= len(cells) <= 15
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert any(cell["outputs"] for cell in code)
    for name in LINK.findall("".join(map("".join, (cell["source"] for cell in cells)))):
        if not name.startswith("http"):
            assert (path.parent / name).is_file(), name
