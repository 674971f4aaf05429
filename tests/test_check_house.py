"""tools/check_house.py finds what it is for, and nothing else."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "check_house.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_house", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_house"] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return tmp_path / "house"


def write(package: Path, **files: str) -> None:
    """Write modules; two underscores in a name stand for a folder."""
    for name, text in {"__init__": "", **files}.items():
        path = package / ("__init__.py" if name == "__init__" else name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def texts(tool: ModuleType, check: str, package: Path) -> list[str]:
    found = getattr(tool, check)(tool.read_modules(package))
    return [finding.text.replace(f"{package.parent}/", "") for finding in found]


def test_a_class_name_is_unique(tool: ModuleType, package: Path) -> None:
    write(
        package, a="class Job: ...\nclass Once: ...",
        b="def f():\n    class Job: ...", bundled__c="class Once: ...",
    )  # fmt: skip
    assert texts(tool, "shared_names", package) == [
        "class Job is defined in house/a.py:1, house/b.py:2"
    ]


def test_docstrings_stand_alone(tool: ModuleType, package: Path) -> None:
    write(
        package, a='"""What it is."""\nclass A:\n    x: int\n    """Whether it is."""\n',
        b='def f():\n    """\n    Who\'s there.\n    """\n', c='"""Whatever. What?"""\nx = "What"\n',
    )  # fmt: skip
    assert texts(tool, "riddles", package) == [
        "house/a.py:1: a docstring begins with 'What'",
        "house/a.py:4: a docstring begins with 'Whether'",
        "house/b.py:2: a docstring begins with 'Who'",
    ]


def test_all_circles_are_found(tool: ModuleType, package: Path) -> None:
    write(
        package, r__a="from house.r import b", r__b="def f():\n    import house.r.a",
        r__c="from .d import x", r__d="from . import e", r__e="from house.r.c import x",
    )  # fmt: skip
    assert texts(tool, "circles", package) == [
        "modules import one another: house.r.a (house/r/a.py:1) -> house.r.b (house/r/b.py:2) "
        "-> house.r.a",
        "modules import one another: house.r.c (house/r/c.py:1) -> house.r.d (house/r/d.py:1) "
        "-> house.r.e (house/r/e.py:1) -> house.r.c",
    ]


def test_folders_are_in_no_circle(tool: ModuleType, package: Path) -> None:
    write(package, up__a="import house.down.a", down__a="import os", down__b="import house.up.a")
    assert texts(tool, "circles", package) == [
        "folders import one another: house.down (house/down/b.py:1) -> house.up (house/up/a.py:1) "
        "-> house.down"
    ]


def test_each_import_of_a_knot_is_in_a_circle(tool: ModuleType) -> None:
    nodes = "abcd"
    whole = {one: {other: "" for other in nodes if other != one} for one in nodes}
    assert len(tool.shortest_circles(whole)) == 6
    ring = {"a": {"b": ""}, "b": {"c": ""}, "c": {"a": "", "d": ""}, "d": {}}
    assert tool.shortest_circles(ring) == [("a", "b", "c")]
    assert tool.shortest_circles({"a": {"b": ""}, "b": {}}) == []


@pytest.mark.slow
def test_a_line_without_a_fork_is_not_too_deep(tool: ModuleType) -> None:
    chain = {str(n): {str(n + 1): ""} for n in range(5000)} | {"5000": {"0": ""}}
    assert len(tool.shortest_circles({**chain})) == 1
