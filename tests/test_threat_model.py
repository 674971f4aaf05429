"""The threat model names the test of each claim, and the test is there."""

import re
from pathlib import Path

from proctor.selftest.attack import load

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/explanation/threat-model.md"
GROUP = re.compile(r"proctor selftest --group (\w+)")


def test_each_thing_from_outside_has_a_test() -> None:
    table = PAGE.read_text("utf-8").partition("## What comes from outside")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ")]
    attacks = {attack.name for attack in load()} | {attack.group for attack in load()}
    assert len(rows) > 20
    for _, what, most, shown, _ in rows[1:]:
        named = re.findall(r"`([^`]+)`", shown)
        assert most.strip(), what
        assert named, what
        for each in named:
            group = GROUP.fullmatch(each)
            there = (ROOT / each).exists() or each in attacks or each == "proctor selftest"
            assert there or (group and group[1] in attacks), each
