"""A server as a process: `started_stub.py DIRECTORY WHAT PORT MODEL`.

It leaves its process id in the directory. WHAT is `now`; `late`: it refuses the first three
requests with 503; `kill`: it kills the process that started it when it is asked for a reply;
`end`: it ends after its first reply;
`Bearer KEY`: it takes that key only.
"""

import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from answers import right_reply
from stub import Call, Stub


def main(directory: str, what: str, port: str, model: str) -> None:
    Path(directory, str(os.getpid())).touch()
    refused = [503] * (3 if what == "late" else 0)
    parent = os.getppid()

    def listing(call: Call) -> None:
        if refused:
            call.send(b'{"error":{"message":"loading"}}', refused.pop())
        else:
            call.send(json.dumps({"object": "list", "data": [{"id": model}]}).encode())

    def answer(call: Call) -> None:
        assert call.body["model"] == model
        if what == "kill":
            os.kill(parent, signal.SIGKILL)
        if what.startswith("Bearer") and call.headers["authorization"] != what:
            call.send(b"no such key", 401)
            return
        call.reply(right_reply(call.body["messages"][-1]["content"]))
        if what == "end":
            os._exit(3)

    with Stub(answer, int(port)) as stub:
        stub.listing = listing
        signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
