"""Level container without an engine: the commands it would give."""

from pathlib import Path

import pytest
from children import script

from proctor import Limits
from proctor.errors import CellStartFailed, NoIsolation, SettingsError
from proctor.limits import MIB
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.container import crossing, engine, images, owners
from proctor.sandbox.container.engine import ContainerEngine
from proctor.sandbox.container.level import Container
from proctor.sandbox.container.size import HEADROOM, Size, size_for
from proctor.sandbox.machine.interpreter import in_image
from proctor.version import __version__

pytestmark = pytest.mark.usefixtures("nothing_selected")
SETUP = CellSetup(in_image(None))


def command(kind: str, setup: CellSetup = SETUP, disk: int = 0, **more: str) -> list[str]:
    backend = Container(ContainerEngine(kind, f"/bin/{kind}"), **more)
    return backend.command("it", setup, Size(1 << 30, 80, disk))


def expected(*before: str, after: tuple[str, ...] = (), user: int) -> list[str]:
    return [
        *before, "--rm", "--interactive", "--pull", "never", "--name", "it", *owners.labels(),
        "--sig-proxy=false", "--log-driver", "none",
        "--network", "none", "--hostname", "cell", "--workdir", "/",
        "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
        "--ipc", "none", "--user", f"{user}:{user}",
        "--memory", "1073741824", "--memory-swap", "1073741824", "--pids-limit", "80",
        "--cpus", "1", "--ulimit", "core=0:0", "--ulimit", "nofile=1024:1024",
        "--ulimit", "nproc=4096:4096", *after, "--entrypoint", "python3",
        f"localhost/proctor:{__version__}", "-P", "-m", "proctor.sandbox.container.inner",
    ]  # fmt: skip


def user_of(given: list[str]) -> int:
    user, group = given[given.index("--user") + 1].split(":")
    assert user == group
    assert 10_000 <= int(user) < 60_000
    return int(user)


def test_what_docker_is_told() -> None:
    given = command("docker")
    assert given == expected("/bin/docker", "run", user=user_of(given))


def test_what_podman_is_told() -> None:
    given = command("podman")
    more = ("--http-proxy=false", "--read-only-tmpfs=false")
    assert given == expected("/bin/podman", "run", after=more, user=user_of(given))


def test_the_runtime_stands_where_each_engine_wants_it() -> None:
    assert command("docker", runtime="runsc")[:4] == ["/bin/docker", "run", "--runtime", "runsc"]
    assert command("podman", runtime="runsc")[:4] == ["/bin/podman", "--runtime", "runsc", "run"]


def test_disk_is_a_file_system_in_memory() -> None:
    given = command("docker", disk=5000)
    at = given.index("--tmpfs")
    options = "/box/work:rw,nosuid,nodev,noexec,size=5000,mode=1777"
    assert given[at + 1] == f"{options},nr_inodes=65"
    assert options in command("podman", disk=5000)
    assert "--tmpfs" not in command("docker")


def test_packages_are_mounted_read_only_whatever_they_are_called() -> None:
    given = command("docker", CellSetup(in_image(None), ("/a b", '/c,"d')))
    mounts = [given[at + 1] for at, word in enumerate(given) if word == "--mount"]
    assert mounts == [
        "type=bind,source=/a b,target=/packages/0,readonly",
        'type=bind,"source=/c,""d",target=/packages/1,readonly',
    ]


def test_variables_and_configuration_select(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "proctor").mkdir()
    (tmp_path / "proctor/config.toml").write_text('[container]\nimage = "c"\nruntime = "r"\n')
    assert command("docker")[-4] == "c"
    assert command("docker")[3] == "r"
    monkeypatch.setenv("PROCTOR_CONTAINER_IMAGE", "i")
    monkeypatch.setenv("PROCTOR_CONTAINER_RUNTIME", "kata")
    assert command("docker")[-4] == "i"
    assert command("docker")[3] == "kata"
    assert command("docker", image="mine", runtime="own")[-4] == "mine"


def test_cells_have_users_of_their_own() -> None:
    assert len({user_of(command("docker")) for _ in range(20)}) > 15


@pytest.mark.parametrize(
    ("limits", "payload", "size"),
    [
        (Limits(), 0, Size((1 << 30) + HEADROOM, 80)),
        (Limits(memory=64 * MIB), 0, Size(256 * MIB + HEADROOM, 80)),  # 4 x 64 MiB of output
        (Limits(memory=1 << 32, processes=200), 0, Size((1 << 32) + HEADROOM, 216)),
        (Limits(disk=10 * MIB), 0, Size((1 << 30) + HEADROOM + 10 * MIB, 80, 10 * MIB)),
        (Limits(), 64 * MIB, Size((1 << 30) + HEADROOM, 80)),
        (Limits(), 100 * MIB, Size((1 << 30) + HEADROOM + 256 * MIB, 80)),
    ],
)
def test_sizes(limits: Limits, payload: int, size: Size) -> None:
    assert size_for(limits, payload) == size


def test_containers_grow_and_have_the_disk_that_was_asked_for() -> None:
    backend = Container(ContainerEngine("docker", "/bin/docker"))
    small = backend.size()
    assert backend.size(Size(1, 500)) == Size(small.memory, 500)
    assert backend.size(Size(1 << 40, 1, 7)) == Size(1 << 40, 500, 7)
    assert backend.size(Size(1, 1)) == Size(1 << 40, 500)
    assert Size(5, 5, 7).holds(Size(4, 5, 7))
    assert not Size(5, 5, 7).holds(Size(4, 5))
    assert not Size(5, 5).holds(Size(6, 5))
    assert not Size(5, 5).holds(Size(5, 6))


COMPLAINTS = {
    "permission denied while trying to connect to the Docker daemon socket": "group docker",
    'Got permission denied: Get "http://x": dial unix /var/run/docker.sock: connect: permission'
    " denied": "group docker",
    "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?": "start it",
    "Cannot connect to Podman. Please verify your connection": "podman machine start",
    "docker: Error response from daemon: No such image: localhost/proctor:1": "image build",
    "Error: localhost/proctor:1: image not known": "image build",
    "docker: Error response from daemon: unknown or invalid runtime name: x.": "register it",
    "Error: cannot set up namespace using newuidmap": "/etc/subuid",
}


@pytest.mark.parametrize("said", COMPLAINTS)
def test_what_engines_complain_of_comes_with_a_remedy(said: str) -> None:
    error = engine.failure(
        ContainerEngine("docker", "docker"), "img", f"{said}\nSee 'docker run --help'.", 125
    )
    assert isinstance(error, NoIsolation)
    assert COMPLAINTS[said] in str(error)
    assert said in str(error)


@pytest.mark.parametrize(
    ("said", "status", "kind", "part"),
    [
        ("something new", 125, NoIsolation, "docker did not start a container: something new"),
        ('exec: "python3": executable file not found in $PATH', 127, NoIsolation, "no python3"),
        ("/usr/bin/python3: No module named proctor", 1, NoIsolation, "holds no proctor"),
        ("Traceback\nValueError: x", 1, CellStartFailed, "ended while starting: Traceback"),
        ("", None, CellStartFailed, "it said nothing"),
    ],
)
def test_other_failures(said: str, status: int | None, kind: type, part: str) -> None:
    error = engine.failure(ContainerEngine("docker", "docker"), "img", said, status)
    assert type(error) is kind
    assert part in str(error)


def test_engines_are_found_by_name_path_or_first_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script(tmp_path, "docker", "sys.exit('Cannot connect to the Docker daemon at x.')")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoIsolation, match="the docker daemon does not answer: start it"):
        engine.find()
    podman = script(tmp_path, "podman", "print('4.3.1')")
    assert engine.find() == ContainerEngine("podman", str(podman))
    assert engine.find("docker").kind == "docker"
    other = script(tmp_path, "my-podman-4", "")
    assert engine.find(str(other)) == ContainerEngine("podman", str(other))
    monkeypatch.setenv("PROCTOR_CONTAINER_ENGINE", "podman")
    assert engine.find().kind == "podman"
    with pytest.raises(SettingsError, match="'lxc' is not known: name docker or podman"):
        engine.find("lxc")
    with pytest.raises(NoIsolation, match="no such command"):
        engine.find("/nowhere/docker")
    monkeypatch.delenv("PROCTOR_CONTAINER_ENGINE")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoIsolation, match="needs docker or podman, and neither is on PATH"):
        engine.find()


def test_the_build_command() -> None:
    podman = ContainerEngine("podman", "/bin/podman")
    assert images.build_command(podman, "/context", "my:base", "my:tag") == [
        "/bin/podman", "build", "--tag", "my:tag",
        "--label", f"proctor.version={__version__}",
        "--label", f"proctor.digest={crossing.digest()}",
        "--build-arg", "BASE=my:base", "/context",
    ]  # fmt: skip
    assert "--build-arg" not in images.build_command(podman, "/context", None, "my:tag")


# A container that says what it is told to: the engine is a script that plays it.
