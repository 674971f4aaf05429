"""Somebody's evaluate_generations on LiveCodeBench rows. Usage: ... PROBLEMS PROGRAMS PACKAGE.

The package is `livecodebench` (nvidia's port) or `lcb_runner` (upstream). Only its evaluation is
imported. Rows are turned into samples here, word for word as
its benchmarks/code_generation.py does (which would import `datasets`).
"""

import base64
import contextlib
import importlib
import json
import os
import pickle
import sys
import zlib
from pathlib import Path

import loop

evaluation = importlib.import_module(f"{sys.argv[3]}.evaluation.compute_code_generation_metrics")
PROBLEMS, PROGRAMS = Path(sys.argv[1]), Path(sys.argv[2])
PROCESSES = len(os.sched_getaffinity(0))
rows = [json.loads(line) for line in PROGRAMS.read_text("utf-8").splitlines()]
samples = {}


def sample(row):
    public = json.loads(row["public_test_cases"])
    try:
        private = json.loads(row["private_test_cases"])
    except ValueError:
        packed = zlib.decompress(base64.b64decode(row["private_test_cases"].encode()))
        private = json.loads(pickle.loads(packed))
    tests = public + private
    function = json.loads(row["metadata"]).get("func_name")
    document = {
        "inputs": [test["input"] for test in tests],
        "outputs": [test["output"] for test in tests],
        "fn_name": function,
    }
    return {"input_output": json.dumps(document)}


def job(numbers):
    if numbers is None:
        with PROBLEMS.open(encoding="utf-8") as lines:
            samples.update((row["question_id"], sample(row)) for row in map(json.loads, lines))
        return None
    with Path(os.devnull).open("w") as null, contextlib.redirect_stderr(null):
        results, metadata = evaluation.evaluate_generations(
            [samples[rows[n]["question_id"]] for n in numbers],
            [[rows[n]["code"]] for n in numbers],
            num_process_evaluate=PROCESSES,
            timeout=6,
        )
    return [
        (results[i][0], metadata[i][0].get("error_code"), metadata[i][0].get("error_message"), 0)
        for i in range(len(numbers))
    ]


loop.serve(job)
