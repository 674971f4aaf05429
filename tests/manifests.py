"""Manifests for Kubernetes: built by kustomize, checked by schema and against proctor itself."""

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from typer.main import get_command

from proctor.cli.main import app
from proctor.cli.serve_commands import serve_command
from waiting import PATIENCE

ROOT = Path(__file__).resolve().parent.parent
KUBERNETES = ROOT / "deploy" / "kubernetes"
VERSIONS: tuple[str, ...] = ("1.33",)
with contextlib.suppress(ModuleNotFoundError):  # tests that take these are marked
    import kubernetes_validate
    from cloudcoil.models.prometheus_operator.v1 import PodMonitor
    from kubernetes_validate.utils import SchemaNotFoundError

    VERSIONS += (kubernetes_validate.latest_version(),)
"""Of Kubernetes: the oldest that the overlays name, and the newest whose schemas are here."""
OVERLAYS = ("landlock", "landlock-root", "namespaces")
GRACE = int(re.findall(r"have (\d+) seconds to end", serve_command.__doc__ or "")[0])
"""Seconds that a server takes to stop."""
KUBECTL = Path(sys.executable).with_name("kubectl")

Document = dict[str, Any]


@dataclass(frozen=True)
class Answers:
    """What a real server answers, without a token."""

    statuses: Mapping[str, int]
    """By path."""
    figures: frozenset[str]
    """Names of the gauges at /metrics."""


def build(directory: Path) -> list[Document]:
    """Build what `kubectl apply -k` would apply."""
    built = subprocess.run(
        [KUBECTL, "kustomize", directory], capture_output=True, text=True, timeout=PATIENCE
    )
    if built.returncode:
        raise ValueError(built.stderr)
    return [each for each in yaml.safe_load_all(built.stdout) if each]


def overlay(place: Path, level: str, *, scaled: bool = False) -> list[Document]:
    """Build an overlay of the copy of deploy/kubernetes at `place`, with the autoscaler or without."""
    directory = place / "overlays" / level
    if scaled:
        directory = place / "overlays" / f"{level}-scaled"
        directory.mkdir()
        written = {"resources": [f"../{level}"], "components": ["../../autoscaling"]}
        (directory / "kustomization.yaml").write_text(yaml.safe_dump(written))
    return build(directory)


def read(path: Path) -> list[Document]:
    return [each for each in yaml.safe_load_all(path.read_text("utf-8")) if each]


def faults(
    documents: list[Document], answers: Answers, versions: tuple[str, ...] = VERSIONS
) -> list[str]:
    """List all that is wrong with manifests that are applied together."""
    found = [
        f"{each['kind']}: {fault}"
        for each in documents
        for version in versions
        for fault in schema_faults(each, version)
    ]
    pods = {each["kind"]: each["spec"]["template"] for each in documents if each["kind"] in PODS}
    allowed = next(
        (each["metadata"]["labels"][ENFORCED] for each in documents if each["kind"] == "Namespace"),
        "restricted",
    )
    for kind, pod in pods.items():
        found += [f"{kind}: {fault}" for fault in pod_faults(pod["spec"], answers)]
        if security(pod["spec"]) != allowed:
            found.append(f"{kind}: Pod Security {security(pod['spec'])}, but {allowed} is enforced")
    if "StatefulSet" in pods:
        found += selection_faults(documents, pods["StatefulSet"])
    return [*found, *scaling_faults(documents, answers)]


PODS = ("StatefulSet", "Job")
ENFORCED = "pod-security.kubernetes.io/enforce"


def schema_faults(document: Document, version: str) -> Iterator[str]:
    """Check a document against the schema of its kind, in which no other fields are allowed."""
    try:
        if document["kind"] == "PodMonitor":
            model = PodMonitor.model_validate(document)
            if model.model_dump(by_alias=True, exclude_unset=True, mode="json") != document:
                yield f"a field that its schema has not: {model!r}"
        elif document["kind"] == "RayCluster":
            yield from ray_faults(document, version)
        else:
            kubernetes_validate.validate(document, version, strict=True)
    except SchemaNotFoundError as error:
        yield error.message
    except kubernetes_validate.ValidationError as error:
        yield f"{'.'.join(map(str, error.path))}: {error.message}"
    except ValidationError as error:
        yield str(error)


def ray_faults(document: Document, version: str) -> Iterator[str]:
    """Check the pods of a RayCluster; KubeRay's own schema comes in no package."""
    spec = document["spec"]
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, **group["template"]}
        kubernetes_validate.validate(pod, version, strict=True)
        if security(pod["spec"]) != "restricted":
            yield "its pods are not as Pod Security `restricted` wants them"


def pod_faults(pod: Document, answers: Answers) -> Iterator[str]:
    """Check a pod's command, probes, files and time to end against proctor."""
    (container,) = pod["containers"]
    command = [*container.get("command", ["serve"]), *container["args"]]
    yield from flag_faults(command)
    mounted = {each["mountPath"]: each["name"] for each in container["volumeMounts"]}
    if "/tmp" not in mounted and container["securityContext"]["readOnlyRootFilesystem"]:
        yield "there is nowhere to write to"
    if "serve" not in command:
        return
    ports = {each["name"] for each in container["ports"]}
    for name in ("startupProbe", "readinessProbe", "livenessProbe"):
        probe = container[name]["httpGet"]
        if answers.statuses.get(probe["path"]) != 200:
            yield f"{name}: {probe['path']} answers {answers.statuses.get(probe['path'])}"
        if probe["port"] not in ports:
            yield f"{name}: no port {probe['port']}"
    (file,) = (Path(word.split("=")[1]) for word in command if word.startswith("--token-file="))
    volumes = {each["name"]: each for each in pod["volumes"]}
    secret = volumes[mounted[str(file.parent)]]["secret"]
    if file.name not in {each["path"] for each in secret["items"]}:
        yield f"no file {file}"
    if secret["defaultMode"] & 0o007:
        yield "others may read the tokens"
    if container["resources"]["requests"] != container["resources"]["limits"]:
        yield "what is requested is not what is the limit"
    before = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    if pod["terminationGracePeriodSeconds"] < before + GRACE + 5:
        yield "the server has no time to let what runs end"


def flag_faults(command: list[str]) -> Iterator[str]:
    """Check that each option of a command line of proctor's is one, of some subcommand at least."""
    commands = get_command(app).commands  # type: ignore[attr-defined]
    name = next(word for word in command if word in commands)
    found = [commands[name]]
    for each in found:
        found += getattr(each, "commands", {}).values()
    parameters = [each for one in found for each in one.params]
    known = {opt for each in parameters for opt in (*each.opts, *each.secondary_opts)}
    for word in command[command.index(name) + 1 :]:
        flag = word.partition("=")[0]
        if flag.startswith("-") and flag not in known:
            yield f"proctor {name} has no {flag}"


def security(pod: Document) -> str:
    """Return the strictest of Pod Security's levels that permits a pod, by the fields used here."""
    whole = pod["securityContext"]
    for container in pod["containers"]:
        own = container["securityContext"]
        seccomp = own.get("seccompProfile", whole.get("seccompProfile", {})).get("type")
        armor = whole.get("appArmorProfile", {}).get("type")
        if "Unconfined" in (seccomp, armor) or own.get("procMount", "Default") != "Default":
            return "privileged"
        added = own["capabilities"].get("add", [])
        if not whole.get("runAsNonRoot") or whole["runAsUser"] == 0 or added:
            return "baseline"
        if own.get("allowPrivilegeEscalation") is not False or seccomp != "RuntimeDefault":
            return "baseline"
        if own["capabilities"]["drop"] != ["ALL"]:
            return "baseline"
    return "restricted"


def selection_faults(documents: list[Document], pod: Document) -> Iterator[str]:
    """Check that whatever selects pods selects those of the servers, and their port."""
    labels = pod["metadata"]["labels"]
    ports = {each["name"] for each in pod["spec"]["containers"][0]["ports"]}
    named = {each["metadata"]["name"] for each in documents if each["kind"] == "Service"}
    for each in documents:
        spec = each.get("spec", {})
        selector = spec.get("podSelector", spec.get("selector"))
        if selector is not None and selector.get("matchLabels", selector) != labels:
            yield f"{each['kind']} {each['metadata']['name']} does not select the servers"
        ends = [port.get("targetPort") for port in spec.get("ports", ())]
        ends += [end["port"] for end in spec.get("podMetricsEndpoints", ())]
        if not ports.issuperset(ends):
            yield f"{each['kind']} {each['metadata']['name']}: no such port"
        if each["kind"] == "StatefulSet" and spec["serviceName"] not in named:
            yield f"no service {spec['serviceName']}"


def scaling_faults(documents: list[Document], answers: Answers) -> Iterator[str]:
    """Check that what is scaled is there, and by figures that servers have."""
    by_kind = {(each["kind"], each["metadata"]["name"]): each for each in documents}
    for each in documents:
        if each["kind"] == "HorizontalPodAutoscaler":
            target = each["spec"]["scaleTargetRef"]
            scaled = by_kind.get((target["kind"], target["name"]))
            if scaled is None or "replicas" in scaled["spec"]:
                yield "what is to be scaled is not there, or says itself how many there are"
            for name in (metric["pods"]["metric"]["name"] for metric in each["spec"]["metrics"]):
                if name not in answers.figures:
                    yield f"/metrics has no {name}"
        for end in each.get("spec", {}).get("podMetricsEndpoints", ()):
            if end["path"] not in answers.statuses:
                yield f"no {end['path']}"


def rule_matches(rule: Document, name: str) -> bool:
    """Return whether a rule of prometheus-adapter is for a figure of this name."""
    found = re.search(r'__name__=~"([^"]+)"', rule["seriesQuery"])
    return found is not None and re.fullmatch(found[1], name) is not None
