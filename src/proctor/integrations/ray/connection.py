"""Ray itself: connecting to a cluster, its nodes, and an actor on each."""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from proctor.errors import UsageError
from proctor.integrations.ray.node import NodeActor

_PORT = re.compile(r"[0-9]{1,5}")
_CONNECT_TIMEOUT = 10.0
"""Seconds."""
NAMESPACE = "proctor"
"""Ray's namespace of actors that are shared by name."""
Broken = RayError
"""Base of the errors that calls of an actor raise when it, or its node, is gone."""
Raised = RayTaskError
"""Error of a call that itself raised an error; a subclass of Broken."""
_TO_GO = frozenset({1, 3, 4})
"""NodeDeathInfo.reason (gcs.proto) of nodes that ended as told, were preempted, or were idle."""


@dataclass(frozen=True, slots=True)
class RayNode:
    """A node that is alive."""

    id: str
    address: str
    cpus: int


def connect(address: str | None) -> bool:
    """Connect this process to a cluster; True if it was not connected yet.

    `address` is as for ray.init; None: RAY_ADDRESS, or the cluster that runs on this machine.
    Raises UsageError if there is none.
    """
    if ray.is_initialized():
        return False
    wanted = address or os.environ.get("RAY_ADDRESS") or "auto"
    try:
        _knock(wanted)
        ray.init(address=wanted, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError, OverflowError) as error:
        said = str(error).strip().partition("\n")[0]
        raise UsageError(
            f"no Ray cluster answers at {wanted!r}: {said} (`ray start --head` starts one here)"
        ) from error
    return True


def _knock(address: str) -> None:
    """Raise OSError if nobody listens there; Ray itself would wait for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and _PORT.fullmatch(port):
        socket.create_connection((host, int(port)), _CONNECT_TIMEOUT).close()


def disconnect() -> None:
    """Leave the cluster."""
    ray.shutdown()


def session() -> str:
    """Return a name of this process's connection to a cluster."""
    here = ray.get_runtime_context()
    return f"{here.gcs_address} {here.get_job_id()}"


def alive_nodes() -> dict[str, RayNode]:
    """Return the nodes that have CPUs and live, by id."""
    nodes = {}
    for each in ray.nodes():
        cpus = int(each.get("Resources", {}).get("CPU", 0))
        if each["Alive"] and cpus:
            nodes[each["NodeID"]] = RayNode(each["NodeID"], each["NodeManagerAddress"], cpus)
    return nodes


def lives(node: RayNode) -> bool:
    """Return True as long as a node is not known to be gone."""
    return node.id in alive_nodes()


def was_to_go(node: str) -> bool:
    """Return True if a node was ended, preempted or idle: nothing that ran there is the cause."""
    return any(
        each["NodeID"] == node and not each["Alive"] and each.get("DeathReason") in _TO_GO
        for each in ray.nodes()
    )


def start_actor(node: RayNode | None, cpus: int, pool: Mapping[str, Any], speed: str | None) -> Any:
    """Start a NodeActor that takes so many CPUs of a node, None for any that has them free."""
    there = NodeAffinitySchedulingStrategy(node.id, soft=False) if node is not None else "SPREAD"
    kind = ray.remote(NodeActor).options(
        num_cpus=cpus,
        max_restarts=0,
        max_task_retries=0,
        max_concurrency=1000,
        scheduling_strategy=there,
    )
    return kind.remote(cpus, dict(pool), speed)


def named_actor(kind: type, name: str, *arguments: Any, detached: bool) -> Any:
    """Return the actor of this name, which is started if there is none; it takes no CPU.

    It has an event loop, and is started again if it is lost. It ends with the job that started it,
    unless it is `detached`. Jobs of all namespaces share it.
    """
    made: Any = ray.remote(kind).options(
        name=name,
        namespace=NAMESPACE,
        get_if_exists=True,
        lifetime="detached" if detached else None,
        num_cpus=0,
        max_restarts=-1,
        max_task_retries=2,
        max_concurrency=10_000,
    )
    return made.remote(*arguments)


def kill_named_actor(name: str) -> None:
    """End the actor of this name, with those that it has started, if there is one."""
    with suppress(ValueError):
        kill_actor(ray.get_actor(name, NAMESPACE))


def kill_actor(actor: Any) -> None:
    """End an actor at once, with its cells and the actors that it has started."""
    ray.kill(actor)


def put(data: bytes) -> Any:
    """Put bytes into the cluster's object store; returns the reference that keeps them there."""
    return ray.put(data)
