"""Run a command in a new control group whose directory belongs to the ordinary user."""

import os
import sys
from pathlib import Path

group = Path("/sys/fs/cgroup/given")
group.mkdir(exist_ok=True)
for name in ("", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
    os.chown(group / name, 1000, 1000)
(group / "cgroup.procs").write_text("0")
os.execvp(sys.argv[1], sys.argv[1:])
