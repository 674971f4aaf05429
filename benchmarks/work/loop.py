"""The part every measured process shares: wait for a count, do that many jobs, tell how it went.

Standard library only, and old Python will do: it also runs inside the peers' environments.
"""

import gc
import json
import os
import resource
import time


def serve(job, jobs_a_call=1):
    """Obey requests on stdin until it closes. `job` is called without arguments, or with the
    request's "argument" if it has one; it counts as `jobs_a_call` jobs.

    Each answer is one JSON line: wall seconds per job, CPU seconds of this process and of the
    children it waited for, and what the last call returned.
    """  # noqa: D205
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1):  # peers print, and their programs read
        os.dup2(null, fd)
    gc.collect()
    gc.freeze()
    print("ready", file=answers, flush=True)
    for line in requests:
        request = json.loads(line)
        walls = []
        result = None
        before = _cpu()
        for _ in range(request["calls"]):
            start = time.perf_counter()
            result = job(request["argument"]) if "argument" in request else job()
            walls.append((time.perf_counter() - start) / jobs_a_call)
        answer = {"walls": walls, "cpu": _cpu() - before, "result": result}
        print(json.dumps(answer), file=answers, flush=True)


def _cpu():
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total
