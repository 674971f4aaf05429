"""The page about Ray: its commands and its Python are run on a cluster."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import clusters
import pytest

from waiting import PATIENCE

pytestmark = pytest.mark.ray

PAGE = Path(__file__).parents[3] / "docs/how-to/judge-on-ray.md"
BLOCK = re.compile(r"^```(\w+) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_it_works_as_shown(tmp_path: Path) -> None:
    scripts = sysconfig.get_path("scripts")
    ran = []
    with clusters.started(1, 1) as cluster:
        env = os.environ | {
            "RAY_ADDRESS": cluster.address, "PATH": f"{scripts}:{os.environ['PATH']}",
        }  # fmt: skip
        for language, mark, text in BLOCK.findall(PAGE.read_text("utf-8")):
            name = mark.removeprefix("file=")
            if name != mark:
                (tmp_path / name).write_text(text)
            elif mark == "cluster":
                shell = ["sh", "-ec"] if language == "sh" else [sys.executable, "-c"]
                subprocess.run([*shell, text], env=env, cwd=tmp_path, check=True, timeout=PATIENCE)
                ran.append(language)
    assert ran == ["sh", "sh", "python"]
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 2
