"""Several proctors in one control group, one of them killed; prints how the group looks after."""

import json
import subprocess
import sys
from pathlib import Path

from proctor.sandbox.machine.cgroup import own_groups

PROGRAM = """
import sys
from proctor import open_pool, run
with open_pool(cells=1) as pool:
    print(run("print(1)", pool=pool).stdout, flush=True)
    sys.stdin.readline()
    done = run("print(2)", pool=pool)
    how = done.isolation.guarantees["memory"].how
    print(done.stdout, how, flush=True)
"""


def start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-B", "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def finish(proctor: subprocess.Popen[str]) -> str:
    return proctor.communicate("\n")[0].strip()


def look() -> dict[str, object]:
    return {
        "ours": own_groups()[""].name,
        "groups": sorted(path.name.rpartition("-")[0] for path in home.glob("proctor-*")),
        "passed": (home / "cgroup.subtree_control").read_text().split(),
    }


home: Path = own_groups()[""]
before = look()
both = [start(), start()]
said = [proctor.stdout.readline().strip() for proctor in both if proctor.stdout]
during = look()
both[0].kill()
both[0].communicate()
said.append(finish(both[1]))
after_kill = look()
said.append(finish(start()))
print(json.dumps({
    "said": said, "before": before, "during": during, "after kill": after_kill, "end": look(),
}))  # fmt: skip
