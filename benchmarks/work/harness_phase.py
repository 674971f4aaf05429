"""One phase of a run's life, alone in a process. Usage: ... DIRECTORY SAMPLES PHASE.

Its one job returns the peak of this process's memory in bytes.
Replies are made up: 2 KB of prose and a program, every third a repetition of another.
"""

import asyncio
import json
import sys
from contextlib import ExitStack
from pathlib import Path

import loop

from proctor.evals.details import read_store
from proctor.evals.export.formats import export_file
from proctor.evals.figures import figures
from proctor.evals.models.model import ModelReply, ModelRequest, TokenUsage
from proctor.evals.models.scripted import ScriptedModel
from proctor.evals.records import records, settings_of
from proctor.evals.registry import benchmark_named
from proctor.evals.rounds import judges_to_use
from proctor.evals.run import RunPlan, evaluate
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.evals.stored import ProblemInfo, SampleJudgement
from proctor.problem import Problem, Test

LIVECODEBENCH = benchmark_named("livecodebench")
PROBLEMS = 200
PROSE = "The idea is to read the numbers, to add what is asked for, and to print it. " * 26
TESTS = json.dumps(
    [{"verdict": "AC", "cpu": 0.01, "wall": 0.01, "memory": 9_000_000, "message": ""}] * 12
)


def problems():
    for n in range(PROBLEMS):
        test = Test(f"{n}\n", f"{n + 1}\n", public=True)
        yield Problem(f"p{n:04}", (test,), title=f"Problem {n}", statement="Add one. " * 40)


def reply(request: ModelRequest) -> ModelReply:
    number = request.sample - request.sample % 3
    code = f"n = int(input())\nprint(n + 1)  # {number}"
    return ModelReply(
        f"{PROSE}\n```python\n{code}\n```", usage=TokenUsage(900, 600), finish_reason="stop"
    )


def plan(settings, judges=None, grader=None):
    return RunPlan(LIVECODEBENCH, settings, ScriptedModel(reply), grader, judges or {})


def create(directory, samples, **settings):
    store = RunStore.create(directory, {"model": "scripted", **settings})
    share = -(-samples // PROBLEMS)
    store.plan(
        (
            ProblemInfo(
                each.id, each.title, each.statement, ("atcoder", "leetcode")[n % 2],
                ("easy", "medium", "hard")[n % 3], contest=f"c{n // 4}",
            ),
            share,
        )
        for n, each in enumerate(problems())
    )  # fmt: skip
    return store


def generate(directory, samples):
    with create(directory, samples) as store:
        asyncio.run(evaluate(store, problems(), plan(settings_of(store))))


def fill(directory, _samples):
    """Verdicts for all, as if judged: the store is then as large as a real one."""
    with RunStore.open(directory, write=True) as store:
        judges = judges_to_use(store, settings_of(store))
        rows = []
        for sample in store.samples(texts=False):
            passed = (sample.number * 7 + len(sample.problem_id)) % 5 < 3
            for mode, key in judges.items():
                upstream = '{"metadata":{}}' if mode == "official" else ""
                verdict = "AC" if passed else "WA"
                rows.append(
                    SampleJudgement(
                        sample.problem_id, sample.number, mode, key, verdict, float(passed),
                        "" if passed else "Wrong Answer", 0.12, 0.05, "namespaces", TESTS, upstream,
                    )
                )  # fmt: skip
            if len(rows) >= 5000:
                store.write(rows)
                rows = []
        store.write(rows)


def judged(directory, samples):
    with create(directory, samples, mode="standard") as store:
        settings = settings_of(store)
        with LIVECODEBENCH.open_grader(settings) as grader:
            wanted = plan(settings, judges_to_use(store, settings), grader)
            asyncio.run(evaluate(store, problems(), wanted))


def judge_only(_directory, samples):
    """The same programs, judged as the run judges them, and nothing kept."""
    settings = Settings(model="scripted", mode="standard")
    made = list(problems())
    work = iter(range(samples))

    async def worker(grader):
        for n in work:
            code = f"n = int(input())\nprint(n + 1)  # {n // PROBLEMS}"
            await grader.grade(made[n % PROBLEMS], code, "standard")

    async def all_of_them(grader):
        await asyncio.gather(*(worker(grader) for _ in range(16)))

    with LIVECODEBENCH.open_grader(settings) as grader:
        asyncio.run(all_of_them(grader))


def resume(directory, _samples):
    with RunStore.open(directory, write=True) as store:
        settings = settings_of(store)
        wanted = plan(settings, judges_to_use(store, settings))
        asyncio.run(evaluate(store, problems(), wanted))


def add_up(directory, _samples):
    with RunStore.open(directory) as store:
        figures(records(store), ("official", "standard"), (1, 5, 10))


def report(directory, _samples):
    from proctor.reports.figures import figures as report_figures
    from proctor.reports.html.page import render
    from proctor.reports.tallies import Mode
    from proctor.whole_file import whole_file

    with ExitStack() as opened:
        run = read_store(directory, opened)
        page = render([report_figures(run, Mode.OFFICIAL)])
        with whole_file(directory.with_suffix(".html")) as file:
            for piece in page:
                file.write(piece.encode())


def exported(directory, format_):
    with RunStore.open(directory) as store:
        export_file(store, format_, directory.with_suffix(f".{format_}"))


def peak() -> int:
    """Most bytes resident at once; unlike ru_maxrss not that of whoever started this process."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def job():
    directory, samples, phase = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    if phase.startswith("export "):
        exported(directory, phase.partition(" ")[2])
    else:
        PHASES[phase](directory, samples)
    return peak()


PHASES = {
    "generate": generate, "fill": fill, "judged": judged, "judge only": judge_only,
    "resume": resume, "figures": add_up, "report": report,
}  # fmt: skip

if __name__ == "__main__":
    loop.serve(job)
