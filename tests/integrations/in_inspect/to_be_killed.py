"""Opens sandboxes, starts what would run for ever, prints all their processes, and waits.

Run by a Python that has inspect_ai and proctor, see ../test_inspect_ai.py.
"""

import json

import anyio

from proctor.integrations.inspect_ai import ProctorSandboxEnvironment, pools


async def main() -> None:
    for _ in range(2):
        sandbox = (await ProctorSandboxEnvironment.sample_init("t", None, {}))["default"]
        await sandbox.exec(["sh", "-c", "setsid sleep 100000 & sleep 100000 & echo $!"])
    (used,) = pools._pools.values()
    cells = used.pool._live.values()
    running = sum(len(cell.job_pids()) for cell in cells)
    print(json.dumps([running, [pid for cell in cells for pid in cell._all_pids()]]), flush=True)
    await anyio.sleep_forever()


anyio.run(main)
