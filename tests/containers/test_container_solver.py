"""Generated solvers in containers: the same envelopes as at the other levels."""

import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from engines import BASE, Engine

import solver_corpus
from proctor.solver import profile as profiles
from proctor.solver.host import SolverHost
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest
from solver_corpus import CORPUS, GIVEN, SECRET, Expected

GOOD = Path(__file__).parent.parent.joinpath("solver/corpus/good.py").read_text()


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return solver_corpus.marked(tmp_path_factory.mktemp("profiles") / "marked")


@pytest.fixture(scope="module")
def host(engine: Engine) -> Iterator[SolverHost]:
    with engine.selected(), SolverHost(isolation="container", cells=1) as opened:
        yield opened


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_envelope_in_a_container(
    host: SolverHost, marked: Profile, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_TEST_SECRET", SECRET)
    expected = Expected.of(path.read_text("latin-1"))
    envelope = solver_corpus.solved(host, path, expected, marked)
    solver_corpus.compare(envelope, expected)
    assert envelope.isolation in {"container", None}


def test_a_cancelled_run_keeps_what_it_found(host: SolverHost, marked: Profile) -> None:
    source = (Path(__file__).parent.parent / "solver/corpus/incumbents_then_no_end.py").read_bytes()
    profile = solver_corpus.smaller(profiles.load("packing"), None)
    for patience in (0.2, 1.0, 5.0, 20.0):  # nothing is heard of it before its end
        run = host.start(SolveRequest(source, GIVEN, profile, 60.0))
        threading.Event().wait(patience)
        run.cancel()
        envelope = run.result()
        assert envelope.status == "cancelled"
        if envelope.partial.valid:
            return
    raise AssertionError(envelope)


def test_an_image_with_packages(engine: Engine, tmp_path: Path) -> None:
    wheel = tmp_path / "brought-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("brought.py", "VALUE = 42\n")
        about = "brought-1.0.dist-info"
        archive.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: brought\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", "")
    tag = "localhost/proctor-with-packages"
    built = engine.proctor("image", "build", "--base", BASE, "--tag", tag, "--install", str(wheel))
    assert built.returncode == 0, built.stderr
    profile = msgspec.structs.replace(profiles.load("packing"), warm=("brought",))
    source = "import brought\nassert brought.VALUE == 42\n" + GOOD
    with (
        engine.selected(PROCTOR_CONTAINER_IMAGE=tag),
        SolverHost(isolation="container", cells=1) as host,
    ):
        envelope = host.solve(SolveRequest(source, GIVEN, profile, 30))
    assert (envelope.status, envelope.accepted) == ("optimal", True), envelope
    of_profile = tmp_path / "profile.toml"
    of_profile.write_text(f'id = "own"\nwarm = ["brought"]\ninstall = "{wheel}"\n')
    own = ("solve", "--isolation", "container", "--profile", str(of_profile), "--syntax-check")
    program = tmp_path / "program.py"
    program.write_text("import brought\n")
    lacking = engine.proctor(*own, str(program))
    assert lacking.returncode == 125, lacking
    assert "If the image lacks brought: proctor image build --profile FILE.toml" in lacking.stderr
    tag += "-of-profile"
    words = ("image", "build", "--base", BASE, "--tag", tag, "--profile", str(of_profile))
    assert engine.proctor(*words).returncode == 0
    there = engine.proctor(*own, str(program), PROCTOR_CONTAINER_IMAGE=tag)
    assert (there.returncode, there.stdout) == (0, '{"ok":true,"error":null}\n'), there
    refused = engine.proctor("image", "build", "--install", "--index-url=http://evil")
    assert refused.returncode == 2
