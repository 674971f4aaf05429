"""What a solve costs above its own solving: warm cells against starting Python and the library.

    .venv/bin/python benchmarks/solve.py [--rounds 30] [--isolation LEVEL]

A small CP-SAT job. Shown per job: wall time above the program's own, modelling and solving, as it
measured that itself after its imports; a process that is started anew, with no isolation, beside
it. Interleaved.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import proctor
from proctor.solver.host import SolverHost

GIVEN = {"capacity": 10, "items": [{"id": str(n), "size": 1 + n % 7} for n in range(8)]}
PROGRAM = """
import json, os, time
from ortools.sat.python import cp_model
began = time.perf_counter()
given = json.load(open("input.json"))
sizes = {item["id"]: item["size"] for item in given["items"]}
model = cp_model.CpModel()
bins = range(len(sizes))
put = {(item, bin): model.new_bool_var("") for item in sizes for bin in bins}
used = [model.new_bool_var("") for _ in bins]
for item in sizes:
    model.add_exactly_one(put[item, bin] for bin in bins)
for bin in bins:
    load = sum(size * put[item, bin] for item, size in sizes.items())
    model.add(load <= given["capacity"] * used[bin])
model.minimize(sum(used))
solver = cp_model.CpSolver()
solver.parameters.num_workers = 1
status = solver.solve(model)
packed = [[item for item in sizes if solver.value(put[item, bin])] for bin in bins]
packed = [each for each in packed if each]
with open("draft", "w") as file:
    json.dump({"status": solver.status_name(status), "bins": packed, "objective": len(packed),
               "bound": solver.best_objective_bound, "took": time.perf_counter() - began}, file)
os.rename("draft", "result.json")
"""


def warm(host: SolverHost) -> float:
    """Milliseconds above solving of one job: gate, run, result, validation."""
    began = time.perf_counter()
    envelope = proctor.solve(PROGRAM, GIVEN, "packing", host=host, timeout=30)
    took = time.perf_counter() - began
    assert envelope.accepted, envelope
    return (took - float(envelope.solution["took"])) * 1000


def cold() -> float:
    """The same of a process of its own, which nothing holds and nobody checks."""
    with tempfile.TemporaryDirectory() as place:
        Path(place, "program.py").write_text(PROGRAM)
        Path(place, "input.json").write_text(json.dumps(GIVEN))
        began = time.perf_counter()
        subprocess.run([sys.executable, "program.py"], cwd=place, check=True)
        took = time.perf_counter() - began
        return (took - float(json.loads(Path(place, "result.json").read_text())["took"])) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--isolation", default="namespaces")
    options = parser.parse_args()
    with SolverHost(isolation=options.isolation, cells=1) as host:
        for _ in range(3):
            warm(host)
            cold()
        both = [(warm(host), cold()) for _ in range(options.rounds)]
    columns = {"proctor solve, warm": [a for a, _ in both], "a process": [b for _, b in both]}
    for name, figures in columns.items():
        middle, late = statistics.median(figures), statistics.quantiles(figures, n=10)[-1]
        print(f"{name:20} p50 {middle:7.1f} ms  p90 {late:7.1f} ms above solving")
    print(f"ratio {statistics.median(b / a for a, b in both):.1f}")


if __name__ == "__main__":
    main()
