"""Recorded judgements by the names that people give them."""

from pathlib import Path

from proctor.errors import InputError
from proctor.evals.ioi.scoring import RESULTS
from proctor.evals.replaying.bundles import is_bundle, of_bundle
from proctor.evals.replaying.recorded import InputFiles, RecordedJudgement
from proctor.evals.replaying.results_files import of_results
from proctor.evals.replaying.runs import of_run
from proctor.evals.store_file import FILE


def find(name: str, given: InputFiles) -> RecordedJudgement:
    """Find the judgement that is named.

    FILE#ROW is a row of results of `proctor judge` or `proctor ioi score`, DIR#ROW one of `proctor
    ioi score --out DIR`, RUN#PROBLEM:SAMPLE[:MODE] a sample of a run of `proctor eval`; a bundle is
    named alone. Raises InputError, SettingsError, InfraFault.
    """
    place, wanted = _split(name)
    if is_bundle(place):
        if wanted:
            raise InputError("is a bundle, which holds one judgement: name it alone", file=name)
        given.check("a bundle")
        return of_bundle(place)
    if (place / FILE).is_file():
        return of_run(place, wanted, given)
    if place.is_dir():
        if not (place / RESULTS).is_file():
            raise InputError(
                f"is neither a run nor a bundle, and has no {RESULTS}; name a results file",
                file=str(place),
            )
        place /= RESULTS
    return of_results(place, wanted, given)


def _split(name: str) -> tuple[Path, str]:
    """Split at the first # before which there is a file or directory. Raises InputError."""
    parts = name.split("#")
    for at in range(1, len(parts) + 1):
        place = Path("#".join(parts[:at]))
        if place.exists():
            return place, "#".join(parts[at:])
    raise InputError("there is no such file, run or bundle", file=parts[0])
