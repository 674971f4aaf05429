"""Hostile and clumsy commands in a sandbox; prints what came of them.

Run by a Python that has inspect_ai and proctor, see ../test_inspect_ai.py.
"""

import json
import os
import sys

import anyio
from inspect_ai.util import OutputLimitExceededError, SandboxUnavailableError
from inspect_ai.util._sandbox.limits import override_max_exec_output_size

from proctor.integrations.inspect_ai import ProctorSandboxEnvironment, SandboxConfig

BOMB = """
import os
while True:
    try: os.fork()
    except OSError: pass
"""
HIDING = "setsid sh -c 'sleep 1000 & sleep 1000' & setsid sleep 1000 & sleep 1000; :"
LIVING = "import os\nprint(sum(name.isdigit() for name in os.listdir('/proc')))"
CONFIG = SandboxConfig(memory="256M", disk="16M", processes=40, output="1M")


async def error_of(call) -> str:
    try:
        await call
    except (OSError, OutputLimitExceededError, SandboxUnavailableError) as error:
        return type(error).__name__
    return "none"


async def main(secret: str) -> dict:
    provider = ProctorSandboxEnvironment
    await provider.task_init("t", CONFIG)
    one, other = [(await provider.sample_init("t", CONFIG, {}))["default"] for _ in range(2)]
    seen = {}

    async def alive() -> bool:
        return (await one.exec(["echo", "alive"])).stdout == "alive\n"

    async def living() -> int:
        return int((await one.exec(["python3", "-c", LIVING])).stdout)

    quiet = await living()
    seen["bomb"] = await error_of(one.exec(["python3", "-c", BOMB], timeout=1))
    seen["after the bomb"] = [await alive(), await living() - quiet]
    seen["hiding"] = await error_of(one.exec(["sh", "-c", HIDING], timeout=1))
    seen["after hiding"] = [await alive(), await living() - quiet]
    with anyio.move_on_after(0.5) as scope:
        await one.exec(["sh", "-c", HIDING])
    seen["broken off"] = [scope.cancelled_caught, await alive(), await living() - quiet]

    hog = await one.exec(["python3", "-c", "x = bytearray(1 << 30); print('got it')"])
    seen["hog"] = [hog.success, "memory" in hog.stderr.lower(), await alive()]
    seen["flood"] = await error_of(one.exec(["python3", "-c", "while 1: print('x' * 10000)"]))
    with override_max_exec_output_size(10):
        tail = await one.exec(["sh", "-c", "seq 1000; seq 2000 >&2"])
    seen["tail"] = [tail.stdout, tail.stderr]
    seen["full"] = await error_of(one.write_file("big", bytes(17 << 20)))
    await one.exec(["rm", "-f", "big"])

    for path in ("/etc/shadow", secret, os.path.expanduser("~/.bashrc"), "/proc/1/environ"):
        read = await one.exec(["cat", path])
        seen.setdefault("cat", []).append(read.success)
        seen.setdefault("read", []).append(await error_of(one.read_file(path)))
    seen["overwrite"] = [await error_of(one.write_file(p, "x")) for p in (secret, "/usr/x")]
    network = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    seen["network"] = (await one.exec(["python3", "-c", network])).success
    seen["environment"] = (await one.exec(["env"])).stdout

    await one.write_file("mine", "of one")
    seen["another's"] = [await error_of(other.read_file("mine")), (await other.exec(["ls"])).stdout]
    seen["crlf"] = await round_trip(one)
    seen["user"] = [(await one.exec(["whoami"], user="cell")).stdout]
    uid = (await one.exec(["id", "-u"])).stdout.strip()
    seen["user"].append((await one.exec(["whoami"], user=uid)).stdout)
    absent = await one.exec(["no-such-program"])
    seen["absent"] = [absent.success, absent.returncode, absent.stderr]
    lost = await one.exec(["ls"], cwd="no-such-place")
    seen["no such place"] = [lost.success, lost.returncode, lost.stderr]
    async with anyio.create_task_group() as group:  # two commands that wait for one another
        group.start_soon(one.exec, ["sh", "-c", "mkfifo pipe; echo through > pipe"])
        waiting = "while [ ! -p pipe ]; do sleep 0.01; done; cat pipe"
        seen["together"] = (await one.exec(["sh", "-c", waiting], timeout=60)).stdout

    await error_of(one.exec(["sh", "-c", "kill -9 $PPID"]))
    seen["ended"] = await error_of(one.exec(["true"]))
    seen["the other goes on"] = (await other.exec(["echo", "on"])).stdout
    environments = {"default": one, "other": other}
    await provider.sample_cleanup("t", CONFIG, environments, True)
    seen["over"] = await error_of(other.exec(["true"]))
    await provider.task_cleanup("t", CONFIG, True)
    return seen


async def round_trip(sandbox) -> bool:
    await sandbox.write_file("text", "a\r\nb\n\r")
    return await sandbox.read_file("text") == "a\r\nb\n\r"


print(json.dumps(anyio.run(main, sys.argv[1])))
