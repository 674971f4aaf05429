"""inspect_ai's own checks of a sandbox provider, all in one sandbox; prints what became of each.

Run by a Python that has inspect_ai and proctor, see ../test_inspect_ai.py.
"""

import json
import traceback

import anyio
from inspect_ai._util.entrypoints import ensure_entry_points
from inspect_ai.util._sandbox import self_check
from inspect_ai.util._sandbox.registry import registry_find_sandboxenv


async def main() -> None:
    ensure_entry_points()
    provider = registry_find_sandboxenv("proctor")
    await provider.task_init("checks", None)
    environments = await provider.sample_init("checks", None, {})
    outcomes = {}
    for name in self_check.__all__:
        try:
            await getattr(self_check, name)(environments["default"])
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            outcomes[name] = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
        else:
            outcomes[name] = "passed"
    await provider.sample_cleanup("checks", None, environments, False)
    await provider.task_cleanup("checks", None, True)
    print(json.dumps(outcomes))


anyio.run(main)
