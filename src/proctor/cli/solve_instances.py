"""`proctor solve --instances`: one program on many instances, its score, and a file of results."""

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from rich.table import Table

from proctor.cli import terminal
from proctor.cli.screen import Screen, coloured
from proctor.cli.stopping import stop_by_signals
from proctor.errors import Cancelled, InputError
from proctor.formats.results import ResultsFile, read_results
from proctor.sandbox.pool import available_cpus
from proctor.solver import solve_instances as many
from proctor.solver.host import SolverHost
from proctor.solver.instances import InstanceResult, ProgramScore, SolverInstance, read_instances
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest

_FAULT = 125
_WIDEST_REASON = 120


def solve_instances(
    host: SolverHost,
    request: SolveRequest,
    instances: str,
    *,
    stop_below: float | None,
    results: str | None,
    trust_rows: bool,
    as_json: bool,
    stream: bool,
) -> int:
    """Run a program on the instances of a file, print its score, return the exit code.

    `request` has everything but the input. Instances that the file `results` has are not run again;
    `trust_rows` counts them if another user began it.
    """
    listed = read_instances(Path(instances))
    with _kept(results, request, listed, trust_rows) as kept:
        screen = Screen(stderr=True)

        def on_result(result: InstanceResult) -> None:
            kept.keep(result)
            if stream:
                terminal.write_json({"event": "instance", "instance": result})
            elif not as_json and screen.is_terminal:
                screen.print(f"{result.id}: {_figure(result.score)}")

        try:
            with stop_by_signals() as stop:
                score = many.solve_instances(
                    request.code, listed, request.profile, timeout=request.timeout,
                    workers=request.workers or 1, stop_below=stop_below, host=host,
                    on_result=on_result, known=kept.known, stop=stop, seed=request.seed,
                    deterministic=request.deterministic, roundtrip=request.roundtrip,
                )  # fmt: skip
        except Cancelled as error:
            raise KeyboardInterrupt from error
    if stream:
        terminal.write_json({"event": "result", "result": score})
    elif as_json:
        terminal.write_json(score)
    else:
        _show(score, Screen(wide=True))
    return _code(score)


def cells(workers: int | None) -> int:
    """Return how many programs of `workers` threads each (1 if None) are to run at once."""
    return max(1, available_cpus() // (workers or 1))


def _code(score: ProgramScore) -> int:
    envelopes = [each.envelope for each in score.instances if each.envelope is not None]
    if any(each.fault is not None for each in envelopes):
        return _FAULT
    if score.score is None:
        return InputError.exit_code
    return 0 if score.accepted == len(score.instances) else 1


class _KeptResults:
    """Results kept in a file, or not kept if there is none."""

    def __init__(self, file: ResultsFile | None, request: SolveRequest) -> None:
        self._file, self._request = file, request
        self._digests: dict[str, str] = {}
        self.known: dict[str, InstanceResult] = {}

    def find(self, instances: list[SolverInstance]) -> None:
        """Read the kept results. Raises SettingsError if they are of another program or input."""
        assert self._file is not None
        rows = {row["row"]: row for row in read_results(self._file.path)}
        for each in instances:
            self._digests[each.id] = digest = _digest(self._request, each)
            if self._file.is_finished(each.id, digest):
                self.known[each.id] = msgspec.convert(rows[each.id]["result"], InstanceResult)

    def keep(self, result: InstanceResult) -> None:
        """Write a result to the file, unless it has no score: that instance is run again."""
        if self._file is not None and result.score is not None:
            plain = msgspec.to_builtins(result)
            self._file.append(
                {"row": result.id, "digest": self._digests[result.id], "result": plain}
            )


@contextlib.contextmanager
def _kept(
    path: str | None, request: SolveRequest, instances: list[SolverInstance], trust_rows: bool
) -> Iterator[_KeptResults]:
    if path is None:
        yield _KeptResults(None, request)
        return
    with ResultsFile(Path(path), _settings(request), trust_rows=trust_rows) as file:
        kept = _KeptResults(file, request)
        kept.find(instances)
        yield kept


def _settings(request: SolveRequest) -> dict[str, Any]:
    """Return all that a score depends on besides program and instance, for the file of results."""
    profile = msgspec.to_builtins(msgspec.structs.replace(request.profile, directory=""))
    return {
        "profile": profile, "files": _files(request.profile), "timeout": request.timeout,
        "workers": request.workers or 1, "seed": request.seed,
        "deterministic": request.deterministic, "roundtrip": request.roundtrip,
    }  # fmt: skip


def _files(profile: Profile) -> dict[str, str]:
    """Return digests of the files that a profile names; modules beside them are not among them."""
    functions = (profile.validator.function, profile.input.check)
    named = [each.partition(":")[0] for each in functions]
    files = [each for each in named if each.endswith(".py")]
    files += filter(None, (profile.input.schema, profile.result.schema))
    return {each: hashlib.sha256(profile.path(each).read_bytes()).hexdigest() for each in files}


def _digest(request: SolveRequest, instance: SolverInstance) -> str:
    code = request.code if isinstance(request.code, bytes) else request.code.encode()
    described = msgspec.json.encode([instance.best, instance.stage, instance.reference is None])
    state = hashlib.sha256()
    for part in (code, instance.given, instance.reference or b"", described):
        state.update(hashlib.sha256(part).digest())
    return state.hexdigest()


def _show(score: ProgramScore, screen: Screen) -> None:
    table = Table(box=None, pad_edge=False)
    for title in ("instance", "score", "objective", "best known", "ended"):
        table.add_column(title)
    for each in score.instances:
        ended = each.envelope.status if each.envelope is not None else "not run"
        table.add_row(
            each.id, _figure(each.score), _figure(each.objective), _figure(each.best), ended
        )
    screen.print(table)
    for each in score.instances:
        if each.why and each.envelope is not None:
            screen.print(f"{each.id}: {each.why.splitlines()[0][:_WIDEST_REASON]}")
    if score.stopped_after is not None:
        screen.print(f"stage {score.stopped_after} scored too little: later stages were not run")
    told = "no score" if score.score is None else f"score {score.score:.4f}"
    of = f"{score.accepted} of {len(score.instances)} accepted"
    complete = score.accepted == len(score.instances)
    screen.print(coloured(f"{told}, {of}", "green" if complete else "red"))


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"
